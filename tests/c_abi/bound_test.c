/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds, phases, and memory given back. */
#include "check.h"

static const uint64_t mib = UINT64_C(1) << 20;

static void fill_and_free(arcalloc_allocator* memory, unsigned count, size_t bytes) {
  arcalloc_block pieces[16];
  for (unsigned i = 0; i < count; ++i) pieces[i] = must_allocate(memory, bytes, 0);
  for (unsigned i = 0; i < count; ++i) CHECK_OK(arcalloc_deallocate(memory, pieces[i]));
}

static void idle_memory_goes_back_when_asked(void) {
  world at = open_world(NULL);
  fill_and_free(at.memory, 4, 4 * mib);
  const uint64_t cached = counters_of(at.memory).cached_bytes;
  CHECK_EQ(16 * mib, cached);
  CHECK_OK(arcalloc_trim(at.memory, 9 * mib));
  CHECK_EQ(8 * mib, counters_of(at.memory).cached_bytes);
  CHECK_OK(arcalloc_trim(at.memory, UINT64_MAX));
  CHECK_EQ(8 * mib, counters_of(at.memory).cached_bytes);
  CHECK_OK(arcalloc_drain(at.memory));
  const arcalloc_counters now = counters_of(at.memory);
  CHECK_EQ(0, now.cached_bytes + now.reserved_bytes);
  CHECK_EQ(now.driver_allocs, now.driver_frees);
  close_world(&at);
}

static void the_cached_max_is_obeyed_when_set(void) {
  world at = open_world(NULL);
  fill_and_free(at.memory, 4, 4 * mib);
  CHECK_OK(arcalloc_set_cached_bytes_max(at.memory, ARCALLOC_BOUND_EXPLICIT, 8 * mib));
  CHECK_EQ(8 * mib, counters_of(at.memory).cached_bytes);
  CHECK_EQ(8 * mib, counters_of(at.memory).cached_bytes_max);
  CHECK_OK(arcalloc_set_cached_bytes_max(at.memory, ARCALLOC_BOUND_UNBOUNDED, 0));
  CHECK_EQ(ARCALLOC_NO_BOUND, counters_of(at.memory).cached_bytes_max);
  CHECK_EQ(ARCALLOC_CAP_UNBOUNDED, counters_of(at.memory).cap_source);
  CHECK_OK(arcalloc_set_cached_bytes_max(at.memory, ARCALLOC_BOUND_DERIVED, 1));
  CHECK_EQ(24 * mib, counters_of(at.memory).cached_bytes_max);
  CHECK_REFUSED(arcalloc_set_cached_bytes_max(at.memory, 3, 0));
  CHECK_REFUSED(arcalloc_set_cached_bytes_max(at.memory, -1, 0));
  CHECK_REFUSED(arcalloc_set_cached_bytes_max(at.memory, 256, 0));
  CHECK_EQ(24 * mib, counters_of(at.memory).cached_bytes_max);
  CHECK_OK(arcalloc_set_cached_bytes_max(at.memory, ARCALLOC_BOUND_EXPLICIT, 0));
  CHECK_EQ(0, counters_of(at.memory).cached_bytes);
  close_world(&at);
}

static void the_capacity_refuses_and_says_why(void) {
  world at = open_world(NULL);
  CHECK_OK(arcalloc_set_capacity_bytes(at.memory, 12 * mib));
  const arcalloc_block piece = must_allocate(at.memory, 8 * mib, 9);
  arcalloc_block refused = {NULL, NULL};
  CHECK_EQ(ARCALLOC_CAPACITY_EXCEEDED, arcalloc_allocate(at.memory, 5 * mib, 9, &refused));
  arcalloc_failure failure = SIZED(arcalloc_failure);
  CHECK_OK(arcalloc_last_failure(at.memory, &failure));
  CHECK_EQ(sizeof failure, failure.size);
  CHECK_EQ(ARCALLOC_CAPACITY_EXCEEDED, failure.outcome);
  CHECK_EQ(5 * mib, failure.requested_bytes);
  CHECK_EQ(9, failure.stream);
  CHECK_EQ(8 * mib, failure.allocated_bytes);
  CHECK_EQ(8 * mib, failure.reserved_bytes);
  CHECK_EQ(12 * mib, failure.capacity_bytes);
  CHECK_EQ(24 * mib, failure.cached_bytes_max);
  CHECK_EQ(ARCALLOC_CAPACITY_EXCEEDED, arcalloc_set_capacity_bytes(at.memory, 4 * mib));
  CHECK_EQ(12 * mib, counters_of(at.memory).capacity_bytes);
  CHECK_OK(arcalloc_set_capacity_bytes(at.memory, 0));
  CHECK_OK(arcalloc_deallocate(at.memory, must_allocate(at.memory, 5 * mib, 9)));
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  close_world(&at);
}

static void phases_are_entered_and_read(void) {
  world at = open_world(NULL);
  arcalloc_phase now = -1;
  CHECK_OK(arcalloc_current_phase(at.memory, &now));
  CHECK_EQ(ARCALLOC_PHASE_MIXED, now);
  fill_and_free(at.memory, 2, 4 * mib);
  CHECK_OK(arcalloc_begin_phase(at.memory, ARCALLOC_PHASE_PREFILL));
  CHECK_EQ(0, counters_of(at.memory).reserved_bytes);
  fill_and_free(at.memory, 2, 4 * mib);
  CHECK_EQ(2, counters_of(at.memory).bypassed_phase);
  CHECK_OK(arcalloc_begin_phase(at.memory, ARCALLOC_PHASE_DECODE));
  fill_and_free(at.memory, 2, 4 * mib);
  CHECK_EQ(8 * mib, counters_of(at.memory).cached_bytes);
  CHECK_REFUSED(arcalloc_begin_phase(at.memory, 3));
  CHECK_REFUSED(arcalloc_begin_phase(at.memory, -1));
  CHECK_REFUSED(arcalloc_begin_phase(at.memory, 256));
  CHECK_OK(arcalloc_current_phase(at.memory, &now));
  CHECK_EQ(ARCALLOC_PHASE_DECODE, now);
  close_world(&at);
}

static void the_cache_is_switched_off_with_a_drain_and_on(void) {
  world at = open_world(NULL);
  fill_and_free(at.memory, 2, 4 * mib);
  CHECK_OK(arcalloc_set_enabled(at.memory, 0));
  CHECK_EQ(0, counters_of(at.memory).reserved_bytes);
  fill_and_free(at.memory, 1, 4 * mib);
  CHECK_EQ(1, counters_of(at.memory).bypassed_disabled);
  CHECK_REFUSED(arcalloc_set_enabled(at.memory, 2));
  CHECK_REFUSED(arcalloc_set_enabled(at.memory, -1));
  CHECK_OK(arcalloc_set_enabled(at.memory, 1));
  fill_and_free(at.memory, 1, 4 * mib);
  CHECK_EQ(4 * mib, counters_of(at.memory).cached_bytes);
  close_world(&at);
}

void bound_cases(void) {
  idle_memory_goes_back_when_asked();
  the_cached_max_is_obeyed_when_set();
  the_capacity_refuses_and_says_why();
  phases_are_entered_and_read();
  the_cache_is_switched_off_with_a_drain_and_on();
}
