/* SPDX-License-Identifier: Apache-2.0 */
/* Every function with every pointer null: an invalid_argument, or the nothing that the header promises. */
#include <string.h>

#include "check.h"

static void without_an_allocator_nothing_is_done(void) {
  int word = 0;
  arcalloc_block piece = {&word, &word};
  CHECK_REFUSED(arcalloc_deallocate(NULL, piece));
  CHECK_REFUSED(arcalloc_deallocate_on(NULL, piece, 1));
  CHECK_REFUSED(arcalloc_note_use(NULL, piece, 1));
  CHECK_REFUSED(arcalloc_deallocate_address(NULL, &word));
  CHECK_REFUSED(arcalloc_deallocate_address_sized(NULL, &word, 1));
  CHECK_REFUSED(arcalloc_deallocate_address_on(NULL, &word, 1));
  CHECK_REFUSED(arcalloc_note_use_address(NULL, &word, 1));
  CHECK_REFUSED(arcalloc_allocate(NULL, 1, 0, &piece));
  CHECK(piece.address == NULL && piece.record == NULL);
  CHECK_REFUSED(arcalloc_begin_phase(NULL, ARCALLOC_PHASE_DECODE));
  arcalloc_phase phase = ARCALLOC_PHASE_DECODE;
  CHECK_REFUSED(arcalloc_current_phase(NULL, &phase));
  CHECK_EQ(ARCALLOC_PHASE_MIXED, phase);
  CHECK_REFUSED(arcalloc_end_step(NULL));
  CHECK_REFUSED(arcalloc_trim(NULL, 0));
  CHECK_REFUSED(arcalloc_drain(NULL));
  CHECK_REFUSED(arcalloc_set_enabled(NULL, 1));
  CHECK_REFUSED(arcalloc_set_cached_bytes_max(NULL, ARCALLOC_BOUND_DERIVED, 0));
  CHECK_REFUSED(arcalloc_set_capacity_bytes(NULL, 0));
  CHECK_REFUSED(arcalloc_reset_peaks(NULL));
  arcalloc_counters counters = SIZED(arcalloc_counters);
  arcalloc_cap_arithmetic cap = SIZED(arcalloc_cap_arithmetic);
  arcalloc_failure failure = SIZED(arcalloc_failure);
  arcalloc_segment_extent extent = SIZED(arcalloc_segment_extent);
  arcalloc_memory_info info = SIZED(arcalloc_memory_info);
  CHECK_REFUSED(arcalloc_read_counters(NULL, &counters));
  CHECK_REFUSED(arcalloc_read_step_counters(NULL, &counters));
  CHECK_REFUSED(arcalloc_read_cap(NULL, &cap));
  CHECK_REFUSED(arcalloc_last_failure(NULL, &failure));
  CHECK_REFUSED(arcalloc_locate(NULL, &word, &extent));
  CHECK_REFUSED(arcalloc_device_query_memory(NULL, &info));
  CHECK(arcalloc_device_of(NULL) == NULL);
  CHECK_TEXT("", arcalloc_device_name(NULL));
  arcalloc_destroy(NULL);
  CHECK_OK(arcalloc_device_destroy(NULL));
}

static void without_an_output_nothing_is_done(void) {
  world at = open_world(NULL);
  CHECK_REFUSED(arcalloc_built_as(NULL));
  CHECK_REFUSED(arcalloc_host_device_create(1 << 20, NULL));
  const arcalloc_backend backend = SIZED(arcalloc_backend);
  CHECK_REFUSED(arcalloc_device_create(&backend, NULL));
  arcalloc_device* device = at.device;
  CHECK_REFUSED(arcalloc_device_create(NULL, &device));
  CHECK(device == NULL);
  CHECK_REFUSED(arcalloc_create(at.device, NULL, NULL));
  arcalloc_allocator* memory = at.memory;
  CHECK_REFUSED(arcalloc_create(NULL, NULL, &memory));
  CHECK(memory == NULL);
  CHECK_REFUSED(arcalloc_options_from_environment(NULL, NULL, NULL));
  CHECK_REFUSED(arcalloc_allocate(at.memory, 1000, 0, NULL));
  CHECK_REFUSED(arcalloc_current_phase(at.memory, NULL));
  CHECK_REFUSED(arcalloc_read_counters(at.memory, NULL));
  CHECK_REFUSED(arcalloc_read_step_counters(at.memory, NULL));
  CHECK_REFUSED(arcalloc_read_cap(at.memory, NULL));
  CHECK_REFUSED(arcalloc_last_failure(at.memory, NULL));
  CHECK_REFUSED(arcalloc_locate(at.memory, NULL, NULL));
  CHECK_REFUSED(arcalloc_device_query_memory(at.device, NULL));
  const arcalloc_counters counters = counters_of(at.memory);
  arcalloc_counters window = SIZED(arcalloc_counters);
  CHECK_REFUSED(arcalloc_counters_between(NULL, &counters, &window));
  CHECK_REFUSED(arcalloc_counters_between(&counters, NULL, &window));
  CHECK_REFUSED(arcalloc_counters_between(&counters, &counters, NULL));
  CHECK_EQ(0, counters.requests);
  close_world(&at);
}

static void texts_refuse_with_a_negative_status(void) {
  world at = open_world(NULL);
  const arcalloc_counters counters = counters_of(at.memory);
  arcalloc_failure failure = SIZED(arcalloc_failure);
  char text[8] = "before";
  CHECK(arcalloc_counters_json(NULL, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  CHECK(arcalloc_counters_json(&counters, NULL, 1) == -ARCALLOC_INVALID_ARGUMENT);
  const arcalloc_counters* const some[2] = {&counters, NULL};
  CHECK(arcalloc_metrics_text(NULL, NULL, 1, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  CHECK(arcalloc_metrics_text(some, NULL, 2, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  CHECK(arcalloc_metrics_text(some, NULL, 1, NULL, 1) == -ARCALLOC_INVALID_ARGUMENT);
  const char* const labels[1] = {"rank=0"};
  CHECK(arcalloc_metrics_text(some, labels, 1, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  CHECK(arcalloc_step_report_text(NULL, 1, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  CHECK(arcalloc_step_report_text(&counters, 1, NULL, 1) == -ARCALLOC_INVALID_ARGUMENT);
  CHECK(arcalloc_failure_text(NULL, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  CHECK(arcalloc_failure_text(&failure, NULL, 1) == -ARCALLOC_INVALID_ARGUMENT);
  failure.outcome = 11;
  CHECK(arcalloc_failure_text(&failure, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  failure.outcome = -1;
  CHECK(arcalloc_failure_text(&failure, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  arcalloc_counters other = counters;
  other.version = ARCALLOC_COUNTERS_VERSION + 1;
  CHECK(arcalloc_counters_json(&other, text, sizeof text) == -ARCALLOC_INVALID_ARGUMENT);
  CHECK_REFUSED(arcalloc_counters_between(&other, &counters, &other));
  CHECK_TEXT("before", text);
  close_world(&at);
}

static void a_null_block_is_nothing_to_do(void) {
  world at = open_world(NULL);
  const arcalloc_block none = {NULL, NULL};
  CHECK_OK(arcalloc_deallocate(at.memory, none));
  CHECK_OK(arcalloc_deallocate_on(at.memory, none, 3));
  CHECK_OK(arcalloc_note_use(at.memory, none, 3));
  CHECK_OK(arcalloc_deallocate_address(at.memory, NULL));
  CHECK_OK(arcalloc_deallocate_address_sized(at.memory, NULL, 0));
  CHECK_OK(arcalloc_deallocate_address_on(at.memory, NULL, 3));
  CHECK_OK(arcalloc_note_use_address(at.memory, NULL, 3));
  const arcalloc_counters now = counters_of(at.memory);
  CHECK_EQ(0, now.frees + now.refused_unknown_pointer + now.refused_invalid_argument);
  close_world(&at);
}

void null_cases(void) {
  without_an_allocator_nothing_is_done();
  without_an_output_nothing_is_done();
  texts_refuse_with_a_negative_status();
  a_null_block_is_nothing_to_do();
}
