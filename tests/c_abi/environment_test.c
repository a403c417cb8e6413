/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from the environment of the process: applied when asked, refused strictly, told to the caller's sink. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct told {
  unsigned errors;
  unsigned warnings;
  char last[512];
} told;

static void keep_diagnostic(void* context, arcalloc_severity severity, const char* line) {
  told* const kept = context;
  CHECK(severity == ARCALLOC_SEVERITY_ERROR || severity == ARCALLOC_SEVERITY_WARNING);
  *(severity == ARCALLOC_SEVERITY_ERROR ? &kept->errors : &kept->warnings) += 1;
  snprintf(kept->last, sizeof kept->last, "%s", line);
}

static void ignore_line(void* context, const char* line) {
  (void)context;
  (void)line;
}

static void set(const char* name, const char* value) { CHECK_EQ(0, setenv(name, value, 1)); }

static void clear(void) {
  static const char* const names[] = {"ARC_ALLOC_CACHE",          "ARC_ALLOC_CACHE_MAX_MB", "ARC_ALLOC_CACHE_STATS",
                                      "ARC_ALLOC_CACHE_GEOMETRY", "ARC_ALLOC_CAPACITY_MB",  "ARC_CANDLE_ALLOC_CACHE"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) CHECK_EQ(0, unsetenv(names[i]));
}

static void what_is_set_is_applied(void) {
  set("ARC_ALLOC_CACHE", "0");
  set("ARC_ALLOC_CACHE_MAX_MB", "5");
  set("ARC_ALLOC_CACHE_STATS", "7");
  set("ARC_ALLOC_CACHE_GEOMETRY", "4");
  set("ARC_ALLOC_CAPACITY_MB", "20");
  told kept = {0, 0, ""};
  arcalloc_options options = SIZED(arcalloc_options);
  options.cache_in_prefill = ARCALLOC_SWITCH_ON;
  CHECK_OK(arcalloc_options_from_environment(&options, keep_diagnostic, &kept));
  CHECK_EQ(0, kept.errors + kept.warnings);
  CHECK_EQ(sizeof options, options.size);
  CHECK_EQ(ARCALLOC_SWITCH_OFF, options.cache);
  CHECK_EQ(ARCALLOC_BOUND_EXPLICIT, options.cached_bytes_max_mode);
  CHECK_EQ(UINT64_C(5) << 20, options.cached_bytes_max);
  CHECK_EQ(1, options.cached_bytes_max_from_environment);
  CHECK_EQ(7, options.stats_every_steps);
  CHECK_EQ(ARCALLOC_GEOMETRY_4, options.geometry);
  CHECK_EQ(UINT64_C(20) << 20, options.capacity_bytes);
  CHECK_EQ(ARCALLOC_SWITCH_ON, options.oom_retry);
  CHECK_EQ(ARCALLOC_SWITCH_ON, options.cache_in_prefill);
  CHECK(options.sink != NULL); /* stderr: reports were asked for */

  world at = open_world(&options);
  CHECK_EQ(ARCALLOC_CAP_ENVIRONMENT, counters_of(at.memory).cap_source);
  CHECK_EQ(UINT64_C(5) << 20, counters_of(at.memory).cached_bytes_max);
  CHECK_EQ(UINT64_C(20) << 20, counters_of(at.memory).capacity_bytes);
  close_world(&at);
  clear();
}

static void a_sink_of_the_callers_own_stays(void) {
  set("ARC_ALLOC_CACHE_STATS", "7");
  int word = 0;
  arcalloc_options options = SIZED(arcalloc_options);
  options.sink = ignore_line;
  options.sink_context = &word;
  CHECK_OK(arcalloc_options_from_environment(&options, NULL, NULL));
  CHECK(options.sink == ignore_line);
  CHECK(options.sink_context == &word);
  clear();
  options.sink = NULL;
  options.sink_context = NULL;
  CHECK_OK(arcalloc_options_from_environment(&options, NULL, NULL));
  CHECK(options.sink == NULL);
}

static void what_is_refused_is_told_and_changes_nothing(void) {
  static const char* const garbled[] = {"4Gi", "-1", "08", "1e9", "0x100", " 64", "", "18446744073709551616", "abc"};
  for (size_t i = 0; i < sizeof garbled / sizeof garbled[0]; ++i) {
    set("ARC_ALLOC_CACHE_MAX_MB", garbled[i]);
    set("ARC_ALLOC_CAPACITY_MB", "3");
    told kept = {0, 0, ""};
    arcalloc_options options = SIZED(arcalloc_options);
    CHECK_REFUSED(arcalloc_options_from_environment(&options, keep_diagnostic, &kept));
    CHECK_EQ(1, kept.errors);
    CHECK_EQ(0, kept.warnings);
    CHECK(strstr(kept.last, "ARC_ALLOC_CACHE_MAX_MB=\"") != NULL);
    CHECK(strstr(kept.last, garbled[i]) != NULL);
    CHECK_EQ(ARCALLOC_BOUND_DERIVED, options.cached_bytes_max_mode);
    CHECK_EQ(UINT64_C(3) << 20, options.capacity_bytes);
    CHECK_REFUSED(arcalloc_options_from_environment(&options, NULL, NULL));
  }
  clear();
}

static void what_is_dangerous_or_unknown_is_warned_about(void) {
  set("ARC_ALLOC_CACHE_MAX_MB", "0");
  set("ARC_ALLOC_CASHE", "1");
  told kept = {0, 0, ""};
  arcalloc_options options = SIZED(arcalloc_options);
  CHECK_OK(arcalloc_options_from_environment(&options, keep_diagnostic, &kept));
  CHECK_EQ(0, kept.errors);
  CHECK_EQ(2, kept.warnings);
  CHECK(strstr(kept.last, "did you mean ARC_ALLOC_CACHE?") != NULL);
  CHECK_EQ(ARCALLOC_BOUND_UNBOUNDED, options.cached_bytes_max_mode);
  CHECK_EQ(ARCALLOC_SWITCH_OFF, options.oom_retry);
  CHECK_EQ(0, unsetenv("ARC_ALLOC_CASHE"));
  clear();
}

static void options_that_are_wrong_already_are_refused(void) {
  arcalloc_options options = SIZED(arcalloc_options);
  options.geometry = 99;
  told kept = {0, 0, ""};
  CHECK_REFUSED(arcalloc_options_from_environment(&options, keep_diagnostic, &kept));
  CHECK_EQ(0, kept.errors + kept.warnings);
  CHECK_EQ(99, options.geometry);
}

void environment_cases(void) {
  clear();
  what_is_set_is_applied();
  a_sink_of_the_callers_own_stays();
  what_is_refused_is_told_and_changes_nothing();
  what_is_dangerous_or_unknown_is_warned_about();
  options_that_are_wrong_already_are_refused();
}
