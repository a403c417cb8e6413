/* SPDX-License-Identifier: Apache-2.0 */
/* What the library says it is, and the names of its values. */
#include <string.h>

#include "check.h"

static void versions_agree(void) {
  CHECK_EQ(ARCALLOC_ABI_VERSION, arcalloc_abi_version());
  arcalloc_build build = SIZED(arcalloc_build);
  CHECK_OK(arcalloc_built_as(&build));
  CHECK_EQ(sizeof build, build.size);
  CHECK_EQ(ARCALLOC_ABI_VERSION, build.abi_version);
  CHECK(strchr(build.version, '.') != NULL);
  CHECK(strlen(build.commit) == 40 || strcmp(build.commit, "unknown") == 0);
  CHECK(strcmp(build.dirty, "clean") == 0 || strcmp(build.dirty, "dirty") == 0 || strcmp(build.dirty, "unknown") == 0);
  CHECK(build.compiler[0] != '\0');
  CHECK(build.build_type[0] != '\0');
}

static void every_value_has_its_name(void) {
  static const char* const statuses[] = {
      "ok",           "invalid_argument", "request_too_large", "capacity_exceeded",   "device_out_of_memory",
      "capture_miss", "unknown_pointer",  "double_free",       "backend_unavailable", "backend_failed",
      "shutting_down"};
  for (int32_t value = ARCALLOC_OK; value <= ARCALLOC_SHUTTING_DOWN; ++value) {
    CHECK_TEXT(statuses[value], arcalloc_status_name(value));
  }
  CHECK_TEXT("mixed", arcalloc_phase_name(ARCALLOC_PHASE_MIXED));
  CHECK_TEXT("prefill", arcalloc_phase_name(ARCALLOC_PHASE_PREFILL));
  CHECK_TEXT("decode", arcalloc_phase_name(ARCALLOC_PHASE_DECODE));
  CHECK_TEXT("8", arcalloc_geometry_name(ARCALLOC_GEOMETRY_8));
  CHECK_TEXT("1", arcalloc_geometry_name(ARCALLOC_GEOMETRY_1));
  CHECK_TEXT("2", arcalloc_geometry_name(ARCALLOC_GEOMETRY_2));
  CHECK_TEXT("4", arcalloc_geometry_name(ARCALLOC_GEOMETRY_4));
  CHECK_TEXT("16", arcalloc_geometry_name(ARCALLOC_GEOMETRY_16));
  CHECK_TEXT("exact", arcalloc_geometry_name(ARCALLOC_GEOMETRY_EXACT));
  CHECK_TEXT("explicit", arcalloc_cap_source_name(ARCALLOC_CAP_EXPLICIT));
  CHECK_TEXT("unbounded", arcalloc_cap_source_name(ARCALLOC_CAP_UNBOUNDED));
}

static void a_value_that_is_not_listed_has_a_name_that_says_so(void) {
  static const int32_t strange[] = {-1, 11, 256, 257, 1 << 16, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof strange / sizeof strange[0]; ++i) {
    CHECK_TEXT("unknown_status", arcalloc_status_name(strange[i]));
    CHECK_TEXT("unknown_phase", arcalloc_phase_name(strange[i]));
    CHECK_TEXT("unknown_geometry", arcalloc_geometry_name(strange[i]));
  }
  CHECK_TEXT("unknown_cap_source", arcalloc_cap_source_name(5));
  CHECK_TEXT("unknown_cap_source", arcalloc_cap_source_name(UINT64_MAX));
}

void identity_cases(void) {
  versions_agree();
  every_value_has_its_name();
  a_value_that_is_not_listed_has_a_name_that_says_so();
}
