/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that end, capture windows, graphs and profiles, from C. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "device_in_c.h"

static void a_graph_keeps_what_its_window_freed(void) {
  world at = open_world(NULL);
  const arcalloc_capture_options how = {.size = sizeof(arcalloc_capture_options), .pool_group = 7};
  CHECK_OK(arcalloc_begin_capture(at.memory, 1, &how));
  CHECK_REFUSED(arcalloc_begin_capture(at.memory, 1, NULL));
  int32_t capturing = 0;
  CHECK_OK(arcalloc_is_capturing(at.memory, 1, &capturing));
  CHECK_EQ(1, capturing);
  CHECK_OK(arcalloc_join_capture(at.memory, 2, 1));
  const arcalloc_block scratch = must_allocate(at.memory, 3000, 1);
  CHECK_OK(arcalloc_deallocate(at.memory, scratch));
  arcalloc_graph graph = 0;
  CHECK_REFUSED(arcalloc_end_capture(at.memory, 2, &graph));
  CHECK_OK(arcalloc_end_capture(at.memory, 1, &graph));
  CHECK(graph != 0);
  CHECK_OK(arcalloc_is_capturing(at.memory, 2, &capturing));
  CHECK_EQ(0, capturing);
  CHECK_OK(arcalloc_note_replay(at.memory, graph, 3));
  CHECK_OK(arcalloc_drain(at.memory));
  CHECK_EQ(3072, counters_of(at.memory).pinned_bytes);
  CHECK_OK(arcalloc_release_graph(at.memory, graph));
  CHECK_REFUSED(arcalloc_release_graph(at.memory, graph));
  CHECK_REFUSED(arcalloc_note_replay(at.memory, graph, 3));
  CHECK_OK(arcalloc_drain(at.memory));
  CHECK_EQ(0, counters_of(at.memory).reserved_bytes);
  close_world(&at);
}

static void a_device_says_whether_it_lends_beside_a_capture(void) {
  for (int lends = 0; lends < 2; ++lends) {
    device_in_c own = {.size_bytes = UINT64_C(64) << 20};
    arcalloc_backend backend = backend_of(&own);
    backend.allocate_beside_capture = lends == 1 ? backend.allocate : NULL;
    world at = {NULL, NULL};
    CHECK_OK(arcalloc_device_create(&backend, &at.device));
    CHECK_OK(arcalloc_create(at.device, NULL, &at.memory));
    CHECK_OK(arcalloc_begin_capture(at.memory, 1, NULL));
    arcalloc_block piece = {NULL, NULL};
    CHECK_EQ(lends == 1 ? ARCALLOC_OK : ARCALLOC_CAPTURE_MISS, arcalloc_allocate(at.memory, 3000, 1, &piece));
    CHECK_OK(arcalloc_abort_capture(at.memory, 1));
    arcalloc_destroy(at.memory);
    CHECK_OK(arcalloc_device_destroy(at.device));
  }
}

static void misses_are_named(void) {
  world at = open_world(NULL);
  arcalloc_capture_options how = {.size = sizeof(arcalloc_capture_options), .policy = ARCALLOC_CAPTURE_REFUSE};
  CHECK_OK(arcalloc_begin_capture(at.memory, 1, &how));
  arcalloc_block piece = {NULL, NULL};
  CHECK_EQ(ARCALLOC_CAPTURE_MISS, arcalloc_allocate(at.memory, 393216, 1, &piece));
  CHECK(piece.address == NULL);
  arcalloc_capture_miss miss = {0, 0, 0, 0};
  size_t count = 9;
  CHECK_OK(arcalloc_read_capture_misses(at.memory, NULL, 0, &count));
  CHECK_EQ(1, count);
  CHECK_OK(arcalloc_read_capture_misses(at.memory, &miss, 1, &count));
  CHECK_EQ(393216, miss.requested_bytes);
  CHECK_EQ(1, miss.stream);
  CHECK_EQ(1, miss.count);
  CHECK_OK(arcalloc_abort_capture(at.memory, 1));
  CHECK_REFUSED(arcalloc_abort_capture(at.memory, 1));
  const arcalloc_capture_policy unlisted[] = {9, 3, -1, 256, 257, -255, INT32_MIN};
  for (size_t i = 0; i < sizeof unlisted / sizeof unlisted[0]; ++i) {
    how.policy = unlisted[i];
    CHECK_REFUSED(arcalloc_begin_capture(at.memory, 1, &how));
    const arcalloc_options options = {.size = sizeof(arcalloc_options), .capture_miss = unlisted[i]};
    arcalloc_allocator* none = NULL;
    CHECK_REFUSED(arcalloc_create(at.device, &options, &none));
  }
  how.policy = ARCALLOC_CAPTURE_GROW;
  how.size = 3;
  CHECK_REFUSED(arcalloc_begin_capture(at.memory, 1, &how));
  close_world(&at);
}

static void options_say_what_a_miss_does(void) {
  const arcalloc_options options = {.size = sizeof(arcalloc_options), .capture_miss = ARCALLOC_CAPTURE_REFUSE};
  world at = open_world(&options);
  CHECK_OK(arcalloc_begin_capture(at.memory, 1, NULL));
  arcalloc_block piece = {NULL, NULL};
  CHECK_EQ(ARCALLOC_CAPTURE_MISS, arcalloc_allocate(at.memory, 3000, 1, &piece));
  CHECK_OK(arcalloc_abort_capture(at.memory, 1));
  close_world(&at);
}

static void profiles_are_recorded_written_and_used(void) {
  world at = open_world(NULL);
  arcalloc_profile* seen = NULL;
  arcalloc_profile* missing = NULL;
  CHECK_OK(arcalloc_profile_create(&seen));
  CHECK_OK(arcalloc_profile_create(&missing));
  CHECK_OK(arcalloc_begin_profile(at.memory));
  CHECK_REFUSED(arcalloc_begin_profile(at.memory));
  CHECK_OK(arcalloc_deallocate(at.memory, must_allocate(at.memory, 3000, 1)));
  CHECK_OK(arcalloc_end_profile(at.memory, seen));
  CHECK_REFUSED(arcalloc_end_profile(at.memory, seen));
  arcalloc_profile_entry entry = {0, 0, 0};
  size_t count = 0;
  CHECK_OK(arcalloc_profile_entries(seen, &entry, 1, &count));
  CHECK_EQ(1, count);
  CHECK_EQ(3072, entry.bytes);
  CHECK_OK(arcalloc_profile_rename_stream(seen, 1, 2));
  CHECK_EQ(ARCALLOC_CAPTURE_MISS, arcalloc_verify(at.memory, seen, missing));
  CHECK_OK(arcalloc_profile_entries(missing, &entry, 1, &count));
  CHECK_EQ(2, entry.stream);
  CHECK_EQ(1, entry.blocks);
  CHECK_OK(arcalloc_prewarm(at.memory, seen, NULL));
  CHECK_OK(arcalloc_verify(at.memory, seen, missing));
  CHECK_REFUSED(arcalloc_verify(at.memory, seen, seen));

  char path[] = "c_abi_profile.json";
  char text[200];
  CHECK_OK(arcalloc_profile_write(seen, path, text, sizeof text));
  CHECK_OK(arcalloc_profile_read(missing, path, NULL, 0));
  CHECK_OK(arcalloc_profile_entries(missing, NULL, 0, &count));
  CHECK_EQ(1, count);
  remove(path);
  CHECK_REFUSED(arcalloc_profile_read(missing, path, text, sizeof text));
  CHECK_TEXT("c_abi_profile.json: cannot be opened", text);
  const arcalloc_profile_entry another = {3, UINT64_C(1) << 47, 2};
  CHECK_OK(arcalloc_profile_add(seen, &another));
  arcalloc_profile_entry both[3] = {{0, 0, 0}, {0, 0, 0}, {7, 7, 7}};
  CHECK_OK(arcalloc_profile_entries(seen, both, 3, &count));
  CHECK_EQ(2, count);
  CHECK_EQ(3072, both[0].bytes);
  CHECK_EQ(3, both[1].stream);
  CHECK_EQ(UINT64_C(1) << 47, both[1].bytes);
  CHECK_EQ(2, both[1].blocks);
  CHECK_EQ(7, both[2].bytes);
  const arcalloc_profile_entry nothing = {1, 0, 1};
  CHECK_REFUSED(arcalloc_profile_add(seen, &nothing));
  const arcalloc_profile_entry too_large = {1, UINT64_MAX, 1};
  CHECK_EQ(ARCALLOC_REQUEST_TOO_LARGE, arcalloc_profile_add(seen, &too_large));
  arcalloc_profile_destroy(seen);
  arcalloc_profile_destroy(missing);
  arcalloc_profile_destroy(NULL);
  close_world(&at);
}

static void a_stream_that_ends_leaves_its_memory(void) {
  world at = open_world(NULL);
  const arcalloc_block piece = must_allocate(at.memory, 3000, 5);
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  CHECK_OK(arcalloc_end_stream(at.memory, 5));
  const arcalloc_block other = must_allocate(at.memory, 3000, 6);
  CHECK(other.address == piece.address);
  CHECK_OK(arcalloc_deallocate(at.memory, other));
  const arcalloc_block own = must_allocate(at.memory, 3000, ARCALLOC_PER_THREAD_STREAM);
  CHECK_OK(arcalloc_deallocate_on(at.memory, own, arcalloc_this_thread_stream()));
  CHECK_EQ(0, counters_of(at.memory).pending_bytes);
  close_world(&at);
}

static void nulls_are_refused(void) {
  world at = open_world(NULL);
  arcalloc_graph graph = 1;
  size_t count = 1;
  int32_t capturing = 1;
  CHECK_REFUSED(arcalloc_end_stream(NULL, 1));
  CHECK_REFUSED(arcalloc_begin_capture(NULL, 1, NULL));
  CHECK_REFUSED(arcalloc_join_capture(NULL, 2, 1));
  CHECK_REFUSED(arcalloc_end_capture(NULL, 1, &graph));
  CHECK_EQ(0, graph);
  CHECK_REFUSED(arcalloc_end_capture(at.memory, 1, NULL));
  CHECK_REFUSED(arcalloc_abort_capture(NULL, 1));
  CHECK_REFUSED(arcalloc_note_replay(NULL, 1, 1));
  CHECK_REFUSED(arcalloc_release_graph(NULL, 1));
  CHECK_REFUSED(arcalloc_is_capturing(NULL, 1, &capturing));
  CHECK_EQ(0, capturing);
  CHECK_REFUSED(arcalloc_is_capturing(at.memory, 1, NULL));
  CHECK_REFUSED(arcalloc_read_capture_misses(NULL, NULL, 0, &count));
  CHECK_EQ(0, count);
  CHECK_REFUSED(arcalloc_read_capture_misses(at.memory, NULL, 1, &count));
  CHECK_REFUSED(arcalloc_read_capture_misses(at.memory, NULL, 0, NULL));
  CHECK_REFUSED(arcalloc_profile_create(NULL));
  const arcalloc_profile_entry entry = {1, 1, 1};
  CHECK_REFUSED(arcalloc_profile_add(NULL, &entry));
  CHECK_REFUSED(arcalloc_profile_entries(NULL, NULL, 0, &count));
  CHECK_REFUSED(arcalloc_profile_rename_stream(NULL, 1, 2));
  CHECK_REFUSED(arcalloc_profile_read(NULL, "x", NULL, 0));
  CHECK_REFUSED(arcalloc_profile_write(NULL, "x", NULL, 0));
  CHECK_REFUSED(arcalloc_begin_profile(NULL));
  CHECK_REFUSED(arcalloc_end_profile(at.memory, NULL));
  CHECK_REFUSED(arcalloc_prewarm(at.memory, NULL, NULL));
  CHECK_REFUSED(arcalloc_verify(at.memory, NULL, NULL));
  arcalloc_profile* empty = NULL;
  CHECK_OK(arcalloc_profile_create(&empty));
  CHECK_REFUSED(arcalloc_profile_add(empty, NULL));
  CHECK_REFUSED(arcalloc_profile_entries(empty, NULL, 1, &count));
  CHECK_REFUSED(arcalloc_profile_entries(empty, NULL, 0, NULL));
  CHECK_REFUSED(arcalloc_profile_read(empty, NULL, NULL, 0));
  CHECK_REFUSED(arcalloc_profile_write(empty, NULL, NULL, 0));
  CHECK_REFUSED(arcalloc_end_profile(NULL, empty));
  CHECK_REFUSED(arcalloc_prewarm(NULL, empty, NULL));
  CHECK_REFUSED(arcalloc_verify(NULL, empty, NULL));
  CHECK_OK(arcalloc_prewarm(at.memory, empty, NULL));
  arcalloc_profile_destroy(empty);
  close_world(&at);
}

void capture_cases(void) {
  a_graph_keeps_what_its_window_freed();
  a_device_says_whether_it_lends_beside_a_capture();
  misses_are_named();
  options_say_what_a_miss_does();
  profiles_are_recorded_written_and_used();
  a_stream_that_ends_leaves_its_memory();
  nulls_are_refused();
}
