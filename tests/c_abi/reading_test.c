/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, steps and reports, the cap's arithmetic, and texts into the caller's buffer. */
#include <stdio.h>
#include <string.h>

#include "check.h"

typedef struct lines {
  unsigned count;
  char last[512];
} lines;

static void keep_line(void* context, const char* line) {
  lines* const kept = context;
  ++kept->count;
  snprintf(kept->last, sizeof kept->last, "%s", line);
}

static void one_step(arcalloc_allocator* memory) {
  CHECK_OK(arcalloc_deallocate(memory, must_allocate(memory, 3000, 0)));
  CHECK_OK(arcalloc_end_step(memory));
}

static void steps_are_windows_and_are_reported(void) {
  lines kept = {0, ""};
  arcalloc_options options = SIZED(arcalloc_options);
  options.stats_every_steps = 2;
  options.sink = keep_line;
  options.sink_context = &kept;
  world at = open_world(&options);
  one_step(at.memory);
  CHECK_EQ(0, kept.count);
  one_step(at.memory);
  CHECK_EQ(1, kept.count);
  CHECK(strncmp(kept.last, "arcalloc step 2: allocs/step 0.50 ", 34) == 0);
  arcalloc_counters step = SIZED(arcalloc_counters);
  CHECK_OK(arcalloc_read_step_counters(at.memory, &step));
  CHECK_EQ(1, step.requests);
  CHECK_EQ(1, step.hits);
  CHECK_EQ(0, step.driver_allocs);
  for (unsigned i = 0; i < 4; ++i) one_step(at.memory);
  CHECK_EQ(3, kept.count);
  close_world(&at);
}

static void the_window_between_two_readings_is_what_was_reported(void) {
  lines kept = {0, ""};
  arcalloc_options options = SIZED(arcalloc_options);
  options.stats_every_steps = 3;
  options.sink = keep_line;
  options.sink_context = &kept;
  world at = open_world(&options);
  const arcalloc_counters before = counters_of(at.memory);
  for (unsigned i = 0; i < 3; ++i) one_step(at.memory);
  const arcalloc_counters now = counters_of(at.memory);
  arcalloc_counters window = SIZED(arcalloc_counters);
  CHECK_OK(arcalloc_counters_between(&before, &now, &window));
  CHECK_EQ(3, window.steps);
  CHECK_EQ(3, window.requests);
  CHECK_EQ(now.cached_bytes, window.cached_bytes);
  char text[512];
  const int length = arcalloc_step_report_text(&window, 3, text, sizeof text);
  CHECK_EQ(strlen(text), length);
  CHECK_TEXT(kept.last, text);
  close_world(&at);
}

static void peaks_start_again_when_asked(void) {
  world at = open_world(NULL);
  one_step(at.memory);
  CHECK(counters_of(at.memory).requested_bytes_peak == 3000);
  CHECK_OK(arcalloc_reset_peaks(at.memory));
  const arcalloc_counters now = counters_of(at.memory);
  CHECK_EQ(0, now.requested_bytes_peak);
  CHECK_EQ(1, now.requests);
  CHECK_EQ(now.reserved_bytes, now.reserved_bytes_peak);
  close_world(&at);
}

static void the_cap_shows_its_arithmetic(void) {
  world at = open_world(NULL);
  arcalloc_cap_arithmetic cap = SIZED(arcalloc_cap_arithmetic);
  CHECK_OK(arcalloc_read_cap(at.memory, &cap));
  CHECK_EQ(sizeof cap, cap.size);
  CHECK_EQ(ARCALLOC_OK, cap.query);
  CHECK_EQ(ARCALLOC_CAP_DERIVED, cap.cap_source);
  CHECK_EQ(UINT64_C(64) << 20, cap.driver_free_bytes);
  CHECK_EQ(0, cap.own_cached_bytes);
  CHECK_EQ(UINT64_C(64) << 20, cap.free_bytes);
  CHECK_EQ(UINT64_C(16) << 20, cap.reserve_bytes);
  CHECK_EQ(UINT64_C(24) << 20, cap.cached_bytes_max);
  close_world(&at);
}

static void counters_as_json(void) {
  world at = open_world(NULL);
  one_step(at.memory);
  arcalloc_counters now = counters_of(at.memory);
  char text[8192];
  const int length = arcalloc_counters_json(&now, text, sizeof text);
  CHECK_EQ(strlen(text), length);
  CHECK(strncmp(text, "{\"steps\":1,\"requests\":1,\"hits\":0,\"misses\":1,\"bypassed\":0,", 56) == 0);
  CHECK(strstr(text, ",\"cached_bytes_max\":25165824,\"capacity_bytes\":null,\"cap_source\":\"derived\",") != NULL);
  CHECK(strstr(text, "\"thrash_evictions\":0}") != NULL);
  CHECK_EQ('}', text[length - 1]);

  now.size = 24; /* as an older caller may have it */
  CHECK_EQ(24, arcalloc_counters_json(&now, text, sizeof text));
  CHECK_TEXT("{\"steps\":1,\"requests\":1}", text);
  close_world(&at);
}

static void counters_as_metrics(void) {
  world at = open_world(NULL);
  arcalloc_counters now = counters_of(at.memory);
  now.size = 24; /* as an older caller may have it */
  now.requests = 7;
  arcalloc_counters other = now;
  other.size = 16; /* has its steps alone */
  const arcalloc_counters* const read[2] = {&now, &other};
  const char* const labels[2] = {"device=\"0\",rank=\"1\"", NULL};
  char text[1024];
  const int length = arcalloc_metrics_text(read, labels, 2, text, sizeof text);
  CHECK_EQ(strlen(text), length);
  CHECK_TEXT(
      "# HELP arcalloc_steps_total decode steps ended\n"
      "# TYPE arcalloc_steps_total counter\n"
      "arcalloc_steps_total{device=\"0\",rank=\"1\"} 0\n"
      "arcalloc_steps_total 0\n"
      "# HELP arcalloc_requests_total calls that asked for memory\n"
      "# TYPE arcalloc_requests_total counter\n"
      "arcalloc_requests_total{device=\"0\",rank=\"1\"} 7\n",
      text);
  CHECK_EQ(length, arcalloc_metrics_text(read, labels, 2, NULL, 0));
  CHECK_EQ(0, arcalloc_metrics_text(NULL, NULL, 0, text, sizeof text));
  close_world(&at);
}

static void a_text_is_cut_to_the_buffer_and_says_its_whole_length(void) {
  world at = open_world(NULL);
  arcalloc_counters now = counters_of(at.memory);
  now.size = 24;
  const char* const whole = "{\"steps\":0,\"requests\":0}";
  CHECK_EQ(24, arcalloc_counters_json(&now, NULL, 0));
  for (size_t capacity = 0; capacity <= 26; ++capacity) {
    char text[32];
    memset(text, '#', sizeof text);
    CHECK_EQ(24, arcalloc_counters_json(&now, text, capacity));
    const size_t kept = capacity == 0 ? 0 : capacity > 24 ? 24 : capacity - 1;
    CHECK(memcmp(text, whole, kept) == 0);
    if (capacity > 0) CHECK_EQ('\0', text[kept]);
    CHECK_EQ('#', text[capacity > 25 ? 25 : capacity]);
  }
  close_world(&at);
}

static void a_failure_as_text(void) {
  world at = open_world(NULL);
  arcalloc_failure failure = SIZED(arcalloc_failure);
  CHECK_OK(arcalloc_last_failure(at.memory, &failure));
  CHECK_EQ(ARCALLOC_OK, failure.outcome);
  arcalloc_block piece = {NULL, NULL};
  CHECK_EQ(ARCALLOC_DEVICE_OUT_OF_MEMORY, arcalloc_allocate(at.memory, (size_t)100 << 20, 3, &piece));
  CHECK_OK(arcalloc_last_failure(at.memory, &failure));
  char text[1024];
  const int length = arcalloc_failure_text(&failure, text, sizeof text);
  CHECK_EQ(strlen(text), length);
  CHECK(strncmp(text, "device_out_of_memory: requested 104857600 (class ", 49) == 0);
  CHECK(strstr(text, " on stream 3;") != NULL);
  CHECK_EQ(length, arcalloc_failure_text(&failure, NULL, 0));
  char first[21];
  CHECK_EQ(length, arcalloc_failure_text(&failure, first, sizeof first));
  CHECK_TEXT("device_out_of_memory", first);
  close_world(&at);
}

static void every_number_at_its_largest_fits(void) {
  arcalloc_counters window;
  memset(&window, 0xFF, sizeof window);
  window.size = sizeof window;
  window.version = ARCALLOC_COUNTERS_VERSION;
  arcalloc_failure failure;
  memset(&failure, 0xFF, sizeof failure);
  failure.size = sizeof failure;
  failure.outcome = ARCALLOC_DEVICE_OUT_OF_MEMORY;
  window.cached_bytes_max = failure.cached_bytes_max = UINT64_MAX / 2;
  failure.capacity_bytes = failure.driver_free_bytes = UINT64_MAX / 2;
  char text[2048];
  int length = arcalloc_step_report_text(&window, 1, text, sizeof text);
  CHECK_EQ(strlen(text), length);
  CHECK(strstr(text, "bypassed 18446744073709551615") != NULL);
  length = arcalloc_failure_text(&failure, text, sizeof text);
  CHECK_EQ(strlen(text), length);
  CHECK(strstr(text, "largest idle block 18446744073709551615") != NULL);
}

static void an_address_of_nobody_is_not_located(void) {
  world at = open_world(NULL);
  arcalloc_segment_extent extent = SIZED(arcalloc_segment_extent);
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_locate(at.memory, &at, &extent));
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_locate(at.memory, NULL, &extent));
  CHECK(extent.base == NULL && extent.bytes == 0);
  close_world(&at);
}

void reading_cases(void) {
  steps_are_windows_and_are_reported();
  the_window_between_two_readings_is_what_was_reported();
  peaks_start_again_when_asked();
  the_cap_shows_its_arithmetic();
  counters_as_json();
  counters_as_metrics();
  a_text_is_cut_to_the_buffer_and_says_its_whole_length();
  a_failure_as_text();
  every_number_at_its_largest_fits();
  an_address_of_nobody_is_not_located();
}
