/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of callers older and newer than the library, values that are not listed, and what zero means. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static arcalloc_status create_status(const arcalloc_options* options) {
  arcalloc_device* device = NULL;
  CHECK_OK(arcalloc_host_device_create(UINT64_C(64) << 20, &device));
  arcalloc_allocator* memory = (arcalloc_allocator*)&device; /* so that a refusal is seen to write null */
  const arcalloc_status outcome = arcalloc_create(device, options, &memory);
  CHECK_EQ(outcome == ARCALLOC_OK, memory != NULL);
  arcalloc_destroy(memory);
  CHECK_OK(arcalloc_device_destroy(device));
  return outcome;
}

static void zero_options_are_the_defaults(void) {
  const arcalloc_options zero = SIZED(arcalloc_options);
  const arcalloc_options* const both[] = {&zero, NULL};
  for (size_t i = 0; i < 2; ++i) {
    world at = open_world(both[i]);
    const arcalloc_block piece = must_allocate(at.memory, 1000, 0);
    const arcalloc_counters now = counters_of(at.memory);
    CHECK_EQ(ARCALLOC_CAP_DERIVED, now.cap_source);
    CHECK_EQ(UINT64_C(24) << 20, now.cached_bytes_max); /* (64 - 64/4) / 2 MiB */
    CHECK_EQ(ARCALLOC_NO_BOUND, now.capacity_bytes);
    CHECK_EQ(1, now.misses);
    CHECK_EQ(0, now.bypassed);
    CHECK_OK(arcalloc_deallocate(at.memory, piece));
    close_world(&at);
  }
}

static void options_arrive(void) {
  arcalloc_options options = SIZED(arcalloc_options);
  options.cache = ARCALLOC_SWITCH_OFF;
  options.capacity_bytes = UINT64_C(16) << 20;
  options.cached_bytes_max_mode = ARCALLOC_BOUND_EXPLICIT;
  options.cached_bytes_max = 12345678;
  options.geometry = ARCALLOC_GEOMETRY_EXACT;
  world at = open_world(&options);
  const arcalloc_block piece = must_allocate(at.memory, 5000, 0);
  const arcalloc_counters now = counters_of(at.memory);
  CHECK_EQ(1, now.bypassed_disabled);
  CHECK_EQ(options.capacity_bytes, now.capacity_bytes);
  CHECK_EQ(options.cached_bytes_max, now.cached_bytes_max);
  CHECK_EQ(ARCALLOC_CAP_EXPLICIT, now.cap_source);
  CHECK_EQ(8192, now.reserved_bytes); /* exact: pages, no segment of 2 MiB */
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  close_world(&at);

  options.cached_bytes_max_from_environment = 1;
  options.cache = ARCALLOC_SWITCH_ON;
  options.cache_in_prefill = ARCALLOC_SWITCH_ON;
  at = open_world(&options);
  CHECK_OK(arcalloc_begin_phase(at.memory, ARCALLOC_PHASE_PREFILL));
  CHECK_OK(arcalloc_deallocate(at.memory, must_allocate(at.memory, 5000, 0)));
  CHECK_EQ(0, counters_of(at.memory).bypassed);
  CHECK_EQ(ARCALLOC_CAP_ENVIRONMENT, counters_of(at.memory).cap_source);
  close_world(&at);
}

static void a_value_that_is_not_listed_is_refused(void) {
  static const int32_t strange[] = {-1, 6, 256, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof strange / sizeof strange[0]; ++i) {
    arcalloc_options options = SIZED(arcalloc_options);
    options.cache = strange[i];
    CHECK_REFUSED(create_status(&options));
    options.cache = ARCALLOC_SWITCH_DEFAULT;
    options.oom_retry = strange[i];
    CHECK_REFUSED(create_status(&options));
    options.oom_retry = ARCALLOC_SWITCH_OFF;
    options.cache_in_prefill = strange[i];
    CHECK_REFUSED(create_status(&options));
    options.cache_in_prefill = ARCALLOC_SWITCH_ON;
    options.geometry = strange[i];
    CHECK_REFUSED(create_status(&options));
    options.geometry = ARCALLOC_GEOMETRY_EXACT;
    options.cached_bytes_max_mode = strange[i];
    CHECK_REFUSED(create_status(&options));
    options.cached_bytes_max_mode = ARCALLOC_BOUND_UNBOUNDED;
    options.cached_bytes_max_from_environment = 2;
    CHECK_REFUSED(create_status(&options));
    options.cached_bytes_max_from_environment = 1;
    CHECK_OK(create_status(&options));
  }
}

static void a_size_that_cannot_be_is_refused(void) {
  static const uint32_t sizes[] = {0,
                                   1,
                                   4,
                                   8,
                                   16,
                                   offsetof(arcalloc_options, capture_miss) - 1,
                                   ARCALLOC_STRUCT_SIZE_MAX + 1,
                                   UINT32_MAX,
                                   UINT32_MAX - 7};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    arcalloc_options options = SIZED(arcalloc_options);
    options.size = sizes[i];
    CHECK_REFUSED(create_status(&options));
    CHECK_REFUSED(arcalloc_options_from_environment(&options, NULL, NULL));
  }
}

static void a_newer_callers_options_are_taken_while_the_rest_is_zero(void) {
  unsigned char* const longer = calloc(1, ARCALLOC_STRUCT_SIZE_MAX);
  CHECK(longer != NULL);
  if (longer == NULL) return;
  arcalloc_options options = SIZED(arcalloc_options);
  options.size = ARCALLOC_STRUCT_SIZE_MAX;
  memcpy(longer, &options, sizeof options);
  CHECK_OK(create_status((const arcalloc_options*)(const void*)longer));
  longer[ARCALLOC_STRUCT_SIZE_MAX - 1] = 1;
  CHECK_REFUSED(create_status((const arcalloc_options*)(const void*)longer));
  longer[ARCALLOC_STRUCT_SIZE_MAX - 1] = 0;
  longer[sizeof options] = 1;
  CHECK_REFUSED(create_status((const arcalloc_options*)(const void*)longer));
  free(longer);
}

static void counters_fill_as_much_as_the_caller_has(void) {
  world at = open_world(NULL);
  CHECK_OK(arcalloc_end_step(at.memory));
  CHECK_OK(arcalloc_deallocate(at.memory, must_allocate(at.memory, 1000, 0)));

  struct {
    arcalloc_counters counters;
    unsigned char beyond[64];
  } room;
  memset(&room, 0xAB, sizeof room);
  room.counters.size = 24;
  CHECK_OK(arcalloc_read_counters(at.memory, &room.counters));
  CHECK_EQ(24, room.counters.size);
  CHECK_EQ(ARCALLOC_COUNTERS_VERSION, room.counters.version);
  CHECK_EQ(1, room.counters.steps);
  CHECK_EQ(1, room.counters.requests);
  CHECK_EQ(UINT64_C(0xABABABABABABABAB), room.counters.hits);

  room.counters.size = sizeof room;
  CHECK_OK(arcalloc_read_counters(at.memory, &room.counters));
  CHECK_EQ(sizeof(arcalloc_counters), room.counters.size);
  CHECK_EQ(1, room.counters.segments_reserved);
  for (size_t i = 0; i < sizeof room.beyond; ++i) CHECK_EQ(0, room.beyond[i]);

  static const uint32_t sizes[] = {0, 8, 12, 15, 17, 23, 4097, UINT32_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    room.counters.size = sizes[i];
    room.counters.steps = 77;
    CHECK_REFUSED(arcalloc_read_counters(at.memory, &room.counters));
    CHECK_REFUSED(arcalloc_read_step_counters(at.memory, &room.counters));
    CHECK_EQ(77, room.counters.steps);
    CHECK_EQ(sizes[i], room.counters.size);
  }
  close_world(&at);
}

static void other_outputs_need_their_whole_size(void) {
  world at = open_world(NULL);
  const arcalloc_block piece = must_allocate(at.memory, 1000, 0);
  arcalloc_memory_info info = SIZED(arcalloc_memory_info);
  arcalloc_cap_arithmetic cap = SIZED(arcalloc_cap_arithmetic);
  arcalloc_failure failure = SIZED(arcalloc_failure);
  arcalloc_segment_extent extent = SIZED(arcalloc_segment_extent);
  arcalloc_build build = SIZED(arcalloc_build);
  cap.size = offsetof(arcalloc_cap_arithmetic, cached_bytes_max_wanted);
  --info.size, --cap.size, --failure.size, --extent.size, --build.size;
  CHECK_REFUSED(arcalloc_device_query_memory(at.device, &info));
  CHECK_REFUSED(arcalloc_read_cap(at.memory, &cap));
  CHECK_REFUSED(arcalloc_last_failure(at.memory, &failure));
  CHECK_REFUSED(arcalloc_locate(at.memory, piece.address, &extent));
  CHECK_REFUSED(arcalloc_built_as(&build));
  CHECK(extent.base == NULL && build.version == NULL && info.total_bytes == 0 && cap.free_bytes == 0);
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  close_world(&at);
}

void struct_cases(void) {
  zero_options_are_the_defaults();
  options_arrive();
  a_value_that_is_not_listed_is_refused();
  a_size_that_cannot_be_is_refused();
  a_newer_callers_options_are_taken_while_the_rest_is_zero();
  counters_fill_as_much_as_the_caller_has();
  other_outputs_need_their_whole_size();
}
