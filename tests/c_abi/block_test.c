/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: handed out, taken back in every way there is, and refused in every way there is. */
#include <string.h>

#include "check.h"

static void a_block_is_memory_of_its_size(void) {
  world at = open_world(NULL);
  const arcalloc_block piece = must_allocate(at.memory, 100000, 5);
  CHECK(piece.record != NULL);
  CHECK_EQ(0, (uintptr_t)piece.address % 512);
  memset(piece.address, 0x5A, 100000);
  arcalloc_segment_extent extent = SIZED(arcalloc_segment_extent);
  CHECK_OK(arcalloc_locate(at.memory, (unsigned char*)piece.address + 99999, &extent));
  CHECK_EQ((uintptr_t)piece.address + 99999, (uintptr_t)extent.base + extent.offset_bytes);
  CHECK(extent.offset_bytes < extent.bytes);
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  close_world(&at);
}

static void every_way_of_freeing_frees(void) {
  world at = open_world(NULL);
  CHECK_OK(arcalloc_deallocate(at.memory, must_allocate(at.memory, 3000, 7)));
  CHECK_OK(arcalloc_deallocate_address(at.memory, must_allocate(at.memory, 3000, 7).address));
  CHECK_OK(arcalloc_deallocate_address_sized(at.memory, must_allocate(at.memory, 3000, 7).address, 3000));
  CHECK_OK(arcalloc_deallocate_on(at.memory, must_allocate(at.memory, 3000, 7), 7));
  CHECK_OK(arcalloc_deallocate_address_on(at.memory, must_allocate(at.memory, 3000, 7).address, 7));
  CHECK_OK(arcalloc_deallocate_on(at.memory, must_allocate(at.memory, 3000, 7), 8));
  CHECK_OK(arcalloc_deallocate_address_on(at.memory, must_allocate(at.memory, 3000, 7).address, 8));
  const arcalloc_counters now = counters_of(at.memory);
  CHECK_EQ(7, now.requests);
  CHECK_EQ(7, now.frees);
  CHECK_EQ(1, now.misses);
  CHECK_EQ(6, now.hits);
  CHECK_EQ(0, now.allocated_bytes + now.requested_bytes + now.blocks_live);
  close_world(&at);
}

static void a_mistake_is_refused_and_counted(void) {
  world at = open_world(NULL);
  const arcalloc_block piece = must_allocate(at.memory, 3000, 0);
  int word = 0;

  CHECK_REFUSED(arcalloc_deallocate_address_sized(at.memory, piece.address, 2999));
  CHECK_REFUSED(arcalloc_deallocate_address_sized(at.memory, piece.address, SIZE_MAX));
  CHECK_EQ(2, counters_of(at.memory).refused_invalid_argument);

  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate_address(at.memory, &word));
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate_address_sized(at.memory, &word, 4));
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate_address_on(at.memory, &word, 2));
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_note_use_address(at.memory, &word, 2));
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate_address(at.memory, (unsigned char*)piece.address + 512));
  CHECK_EQ(1, counters_of(at.memory).blocks_live);

  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  CHECK_EQ(ARCALLOC_DOUBLE_FREE, arcalloc_deallocate(at.memory, piece));
  CHECK_EQ(ARCALLOC_DOUBLE_FREE, arcalloc_deallocate_address(at.memory, piece.address));
  CHECK_EQ(ARCALLOC_DOUBLE_FREE, arcalloc_deallocate_on(at.memory, piece, 0));
  CHECK_EQ(3, counters_of(at.memory).refused_double_free);
  close_world(&at);
}

static void half_a_block_is_an_unknown_pointer(void) {
  world at = open_world(NULL);
  const arcalloc_block piece = must_allocate(at.memory, 3000, 0);
  const arcalloc_block halves[] = {{piece.address, NULL}, {NULL, piece.record}, {NULL, (void*)16}};
  for (size_t i = 0; i < 2; ++i) {
    CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate(at.memory, halves[i]));
    CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate_on(at.memory, halves[i], 1));
    CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_note_use(at.memory, halves[i], 1));
  }
  const arcalloc_block other = must_allocate(at.memory, 3000, 0);
  const arcalloc_block mixed = {piece.address, other.record};
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate(at.memory, mixed));
  CHECK_EQ(2, counters_of(at.memory).blocks_live);
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  CHECK_OK(arcalloc_deallocate(at.memory, other));
  close_world(&at);
}

static void a_block_of_another_allocator_is_an_unknown_pointer(void) {
  world here = open_world(NULL);
  world there = open_world(NULL);
  const arcalloc_block piece = must_allocate(here.memory, 3000, 0);
  (void)must_allocate(there.memory, 3000, 0);
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate(there.memory, piece));
  CHECK_EQ(ARCALLOC_UNKNOWN_POINTER, arcalloc_deallocate_address(there.memory, piece.address));
  CHECK_OK(arcalloc_deallocate(here.memory, piece));
  close_world(&there); /* with a live block: it dies with its allocator */
  close_world(&here);
}

static void requests_that_hand_out_nothing(void) {
  world at = open_world(NULL);
  arcalloc_block piece = {&at, &at};
  CHECK_OK(arcalloc_allocate(at.memory, 0, 0, &piece));
  CHECK(piece.address == NULL && piece.record == NULL);
  CHECK_EQ(0, counters_of(at.memory).requests);
  piece.address = piece.record = &at;
  CHECK_EQ(ARCALLOC_REQUEST_TOO_LARGE, arcalloc_allocate(at.memory, SIZE_MAX, 0, &piece));
  CHECK(piece.address == NULL && piece.record == NULL);
  piece.address = piece.record = &at;
  CHECK_EQ(ARCALLOC_DEVICE_OUT_OF_MEMORY, arcalloc_allocate(at.memory, (size_t)65 << 20, 0, &piece));
  CHECK(piece.address == NULL && piece.record == NULL);
  const arcalloc_counters now = counters_of(at.memory);
  CHECK_EQ(1, now.failed_request_too_large);
  CHECK_EQ(1, now.failed_device_out_of_memory);
  close_world(&at);
}

void block_cases(void) {
  a_block_is_memory_of_its_size();
  every_way_of_freeing_frees();
  a_mistake_is_refused_and_counted();
  half_a_block_is_an_unknown_pointer();
  a_block_of_another_allocator_is_an_unknown_pointer();
  requests_that_hand_out_nothing();
}
