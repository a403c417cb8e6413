/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: of host memory, and of a caller's functions, which are believed no more than they must be. */
#include <string.h>

#include "check.h"
#include "device_in_c.h"

static const uint64_t mib = UINT64_C(1) << 20;

static world open_over(device_in_c* device) {
  const arcalloc_backend backend = backend_of(device);
  world at = {NULL, NULL};
  CHECK_OK(arcalloc_device_create(&backend, &at.device));
  CHECK_OK(arcalloc_create(at.device, NULL, &at.memory));
  return at;
}

static void close_over(world* at, const device_in_c* device) {
  close_world(at);
  CHECK_EQ(0, device->lent_bytes);
  CHECK_EQ(0, device->events_out);
  CHECK_EQ(0, device->foreign_frees);
}

static void a_device_of_the_callers_own_serves_blocks(void) {
  device_in_c own = {.size_bytes = 64 * mib};
  world at = open_over(&own);
  CHECK_TEXT("device_in_c", arcalloc_device_name(at.device));
  CHECK(arcalloc_device_of(at.memory) == at.device);
  const arcalloc_block piece = must_allocate(at.memory, 8 * mib, 42);
  CHECK_EQ(42, own.allocate_stream);
  CHECK_EQ(own.lent_bytes, counters_of(at.memory).reserved_bytes);
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  CHECK_EQ(1, own.allocate_calls);
  CHECK_EQ(24 * mib, counters_of(at.memory).cached_bytes_max);
  CHECK_OK(arcalloc_drain(at.memory));
  CHECK_EQ(0, own.lent_bytes);
  close_over(&at, &own);
}

static void a_block_used_on_another_stream_is_pending_until_that_passed(void) {
  device_in_c own = {.size_bytes = 64 * mib, .busy = true};
  world at = open_over(&own);
  const arcalloc_block piece = must_allocate(at.memory, 8 * mib, 1);
  CHECK_OK(arcalloc_note_use(at.memory, piece, 2));
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  CHECK_EQ(8 * mib, counters_of(at.memory).pending_bytes);
  CHECK(own.events > 0);
  const arcalloc_block other = must_allocate(at.memory, 8 * mib, 1);
  CHECK(other.address != piece.address);
  own.events_passed = own.events;
  own.busy = false;
  CHECK(must_allocate(at.memory, 8 * mib, 1).address == piece.address);
  CHECK_EQ(0, counters_of(at.memory).pending_bytes);
  close_over(&at, &own);
}

static void freeing_on_another_stream_is_using_it_there(void) {
  device_in_c own = {.size_bytes = 64 * mib, .busy = true};
  world at = open_over(&own);
  const arcalloc_block by_struct = must_allocate(at.memory, 8 * mib, 1);
  const arcalloc_block by_address = must_allocate(at.memory, 8 * mib, 1);
  CHECK_OK(arcalloc_note_use_address(at.memory, by_address.address, 3));
  CHECK_OK(arcalloc_deallocate_on(at.memory, by_struct, 2));
  CHECK_OK(arcalloc_deallocate_address_on(at.memory, by_address.address, 2));
  CHECK_EQ(16 * mib, counters_of(at.memory).pending_bytes);
  CHECK_OK(arcalloc_drain(at.memory));
  CHECK(own.waits > 0);
  CHECK_EQ(0, counters_of(at.memory).reserved_bytes);
  close_over(&at, &own);
}

static void the_event_functions_may_be_missing_where_work_is_synchronous(void) {
  device_in_c own = {.size_bytes = 64 * mib};
  arcalloc_backend backend = backend_of(&own);
  backend.record_event = NULL;
  backend.query_event = NULL;
  backend.wait_event = NULL;
  backend.drop_event = NULL;
  backend.name = NULL;
  backend.synchronous = 1;
  world at = {NULL, NULL};
  CHECK_OK(arcalloc_device_create(&backend, &at.device));
  CHECK_TEXT("caller", arcalloc_device_name(at.device));
  CHECK_OK(arcalloc_create(at.device, NULL, &at.memory));
  const arcalloc_block piece = must_allocate(at.memory, 8 * mib, 1);
  CHECK_OK(arcalloc_note_use(at.memory, piece, 2));
  CHECK_OK(arcalloc_deallocate_on(at.memory, piece, 3));
  CHECK(must_allocate(at.memory, 8 * mib, 2).address == piece.address);
  close_over(&at, &own);
}

static void refuse_backend(arcalloc_backend backend) {
  arcalloc_device* device = (arcalloc_device*)&backend; /* so that a refusal is seen to write null */
  CHECK_REFUSED(arcalloc_device_create(&backend, &device));
  CHECK(device == NULL);
}

static void an_incomplete_device_is_refused(void) {
  device_in_c own = {.size_bytes = 64 * mib};
  const arcalloc_backend whole = backend_of(&own);
  for (unsigned missing = 0; missing < 16; ++missing) {
    arcalloc_backend backend = whole;
    switch (missing) {
      case 0:
        backend.allocate = NULL;
        break;
      case 1:
        backend.free = NULL;
        break;
      case 2:
        backend.query_memory = NULL;
        break;
      case 3:
        backend.record_event = NULL;
        break;
      case 4:
        backend.query_event = NULL;
        break;
      case 5:
        backend.wait_event = NULL;
        break;
      case 6:
        backend.drop_event = NULL;
        break;
      case 7:
        backend.granularity = 0;
        break;
      case 8:
        backend.granularity = 513;
        break;
      case 9:
        backend.granularity = UINT64_C(1) << 63;
        break;
      case 10:
        backend.granularity = UINT64_MAX;
        break;
      case 11:
        backend.synchronous = 2;
        break;
      case 12:
        backend.synchronous = 1, backend.free = NULL;
        break;
      case 13:
        backend.size = 0;
        break;
      case 14:
        backend.size = offsetof(arcalloc_backend, allocate_beside_capture) - 8;
        break;
      default:
        backend.size = UINT32_MAX;
        break;
    }
    refuse_backend(backend);
  }
  arcalloc_device* device = NULL;
  CHECK_REFUSED(arcalloc_host_device_create(0, &device));
  CHECK_REFUSED(arcalloc_host_device_create(1, &device));
  CHECK(device == NULL);
}

static void a_granule_that_segments_cannot_have_is_refused_with_the_allocator(void) {
  device_in_c own = {.size_bytes = 64 * mib};
  arcalloc_backend backend = backend_of(&own);
  backend.granularity = UINT64_C(1) << 40;
  world at = {NULL, NULL};
  CHECK_OK(arcalloc_device_create(&backend, &at.device));
  CHECK_EQ(ARCALLOC_BACKEND_FAILED, arcalloc_create(at.device, NULL, &at.memory));
  CHECK(at.memory == NULL);
  CHECK_OK(arcalloc_device_destroy(at.device));
}

static void an_answer_that_cannot_be_is_a_failure(void) {
  static const arcalloc_status answers[] = {
      ARCALLOC_BACKEND_FAILED, ARCALLOC_INVALID_ARGUMENT, ARCALLOC_DOUBLE_FREE, -1, 11, INT32_MAX};
  device_in_c own = {.size_bytes = 64 * mib};
  world at = open_over(&own);
  arcalloc_block piece = {NULL, NULL};
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; ++i) {
    own.allocate_answer = answers[i];
    CHECK_EQ(ARCALLOC_BACKEND_FAILED, arcalloc_allocate(at.memory, 4000, 0, &piece));
  }
  own.allocate_answer = ARCALLOC_SHUTTING_DOWN;
  CHECK_EQ(ARCALLOC_SHUTTING_DOWN, arcalloc_allocate(at.memory, 4000, 0, &piece));
  own.allocate_answer = ARCALLOC_OK;
  own.lends_null = true;
  CHECK_EQ(ARCALLOC_BACKEND_FAILED, arcalloc_allocate(at.memory, 4000, 0, &piece));
  own.lends_null = false;
  own.misaligned_bytes = 256;
  CHECK_EQ(ARCALLOC_BACKEND_FAILED, arcalloc_allocate(at.memory, 4000, 0, &piece));
  own.misaligned_bytes = 0;
  CHECK_EQ(0, own.lent_bytes);
  CHECK_EQ(0, counters_of(at.memory).reserved_bytes);

  CHECK_OK(arcalloc_deallocate(at.memory, must_allocate(at.memory, 8 * mib, 0)));
  own.free_answer = 99;
  CHECK_EQ(ARCALLOC_BACKEND_FAILED, arcalloc_drain(at.memory));
  CHECK_EQ(8 * mib, counters_of(at.memory).stuck_bytes);
  own.free_answer = ARCALLOC_OK;
  CHECK_OK(arcalloc_drain(at.memory));
  CHECK_EQ(0, counters_of(at.memory).stuck_bytes);
  close_over(&at, &own);
}

static void an_event_of_zero_is_a_failure_and_the_block_stays(void) {
  device_in_c own = {.size_bytes = 64 * mib, .event_is_zero = true};
  world at = open_over(&own);
  const arcalloc_block piece = must_allocate(at.memory, 8 * mib, 1);
  CHECK_EQ(ARCALLOC_BACKEND_FAILED, arcalloc_deallocate_on(at.memory, piece, 2));
  CHECK_EQ(1, counters_of(at.memory).blocks_live);
  own.event_is_zero = false;
  CHECK_OK(arcalloc_deallocate_on(at.memory, piece, 2));
  CHECK_EQ(0, counters_of(at.memory).blocks_live);
  close_over(&at, &own);
}

static void the_name_is_copied_as_far_as_it_fits(void) {
  device_in_c own = {.size_bytes = 64 * mib};
  char name[100];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  arcalloc_backend backend = backend_of(&own);
  backend.name = name;
  arcalloc_device* device = NULL;
  CHECK_OK(arcalloc_device_create(&backend, &device));
  memset(name, 'x', sizeof name - 1);
  CHECK_EQ(63, strlen(arcalloc_device_name(device)));
  CHECK_EQ('n', arcalloc_device_name(device)[62]);
  CHECK_OK(arcalloc_device_destroy(device));
}

static void a_device_that_will_not_say_gives_the_fallback(void) {
  device_in_c own = {.size_bytes = 64 * mib, .query_answer = -5};
  world at = open_over(&own);
  arcalloc_cap_arithmetic cap = SIZED(arcalloc_cap_arithmetic);
  CHECK_OK(arcalloc_read_cap(at.memory, &cap));
  CHECK_EQ(ARCALLOC_BACKEND_FAILED, cap.query);
  CHECK_EQ(ARCALLOC_CAP_FALLBACK, cap.cap_source);
  CHECK_EQ(256 * mib, cap.cached_bytes_max);
  arcalloc_memory_info info = SIZED(arcalloc_memory_info);
  CHECK_EQ(ARCALLOC_BACKEND_FAILED, arcalloc_device_query_memory(at.device, &info));
  own.query_answer = ARCALLOC_OK;
  close_over(&at, &own);
}

static void a_device_stays_while_an_allocator_stands_on_it(void) {
  world at = open_world(NULL);
  CHECK_TEXT("host", arcalloc_device_name(at.device));
  arcalloc_allocator* second = NULL;
  CHECK_OK(arcalloc_create(at.device, NULL, &second));
  CHECK_REFUSED(arcalloc_device_destroy(at.device));
  arcalloc_destroy(at.memory);
  CHECK_REFUSED(arcalloc_device_destroy(at.device));
  CHECK_OK(arcalloc_deallocate(second, must_allocate(second, 1000, 0)));
  at.memory = second;
  close_world(&at);
}

void device_cases(void) {
  a_device_of_the_callers_own_serves_blocks();
  a_block_used_on_another_stream_is_pending_until_that_passed();
  freeing_on_another_stream_is_using_it_there();
  the_event_functions_may_be_missing_where_work_is_synchronous();
  an_incomplete_device_is_refused();
  a_granule_that_segments_cannot_have_is_refused_with_the_allocator();
  an_answer_that_cannot_be_is_a_failure();
  an_event_of_zero_is_a_failure_and_the_block_stays();
  the_name_is_copied_as_far_as_it_fits();
  a_device_that_will_not_say_gives_the_fallback();
  a_device_stays_while_an_allocator_stands_on_it();
}
