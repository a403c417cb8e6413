/* SPDX-License-Identifier: Apache-2.0 */
#include "device_in_c.h"

#include <stdlib.h>

enum { alignment = 4096, lent_max = 64 };

static struct {
  void* address;
  size_t bytes;
} lent[lent_max];

static arcalloc_status lend(void* context, size_t bytes, arcalloc_stream stream, void** address) {
  device_in_c* const device = context;
  ++device->allocate_calls;
  device->allocate_stream = stream;
  if (device->allocate_answer != ARCALLOC_OK) return device->allocate_answer;
  if (bytes > device->size_bytes - device->lent_bytes) return ARCALLOC_DEVICE_OUT_OF_MEMORY;
  if (device->lends_null) return ARCALLOC_OK;
  for (size_t i = 0; i < lent_max; ++i) {
    if (lent[i].address != NULL) continue;
    unsigned char* const room = aligned_alloc(alignment, (bytes + 2 * alignment - 1) / alignment * alignment);
    if (room == NULL) return ARCALLOC_DEVICE_OUT_OF_MEMORY;
    *address = lent[i].address = room + device->misaligned_bytes;
    lent[i].bytes = bytes;
    device->lent_bytes += bytes;
    return ARCALLOC_OK;
  }
  return ARCALLOC_BACKEND_FAILED;
}

static arcalloc_status take_back(void* context, void* address, size_t bytes) {
  device_in_c* const device = context;
  ++device->free_calls;
  if (device->free_answer != ARCALLOC_OK) return device->free_answer;
  for (size_t i = 0; i < lent_max; ++i) {
    if (lent[i].address != address || lent[i].bytes != bytes) continue;
    free((unsigned char*)address - (uintptr_t)address % alignment);
    lent[i].address = NULL;
    device->lent_bytes -= bytes;
    return ARCALLOC_OK;
  }
  ++device->foreign_frees;
  return ARCALLOC_BACKEND_FAILED;
}

static arcalloc_status query_memory(void* context, uint64_t* free_bytes, uint64_t* total_bytes) {
  const device_in_c* const device = context;
  if (device->query_answer != ARCALLOC_OK) return device->query_answer;
  *free_bytes = device->size_bytes - device->lent_bytes;
  *total_bytes = device->size_bytes;
  return ARCALLOC_OK;
}

static arcalloc_status record_event(void* context, arcalloc_stream stream, uint64_t* event) {
  device_in_c* const device = context;
  (void)stream;
  if (device->event_is_zero) {
    *event = 0;
    return ARCALLOC_OK;
  }
  *event = ++device->events;
  ++device->events_out;
  if (!device->busy) device->events_passed = device->events;
  return ARCALLOC_OK;
}

static arcalloc_status query_event(void* context, uint64_t event, int32_t* finished) {
  const device_in_c* const device = context;
  *finished = event <= device->events_passed ? 1 : 0;
  return ARCALLOC_OK;
}

static arcalloc_status wait_event(void* context, uint64_t event) {
  device_in_c* const device = context;
  ++device->waits;
  if (event > device->events_passed) device->events_passed = event;
  return ARCALLOC_OK;
}

static void drop_event(void* context, uint64_t event) {
  device_in_c* const device = context;
  (void)event;
  --device->events_out;
}

arcalloc_backend backend_of(device_in_c* device) {
  const arcalloc_backend backend = {.size = sizeof backend,
                                    .granularity = 512,
                                    .name = "device_in_c",
                                    .context = device,
                                    .allocate = lend,
                                    .free = take_back,
                                    .query_memory = query_memory,
                                    .record_event = record_event,
                                    .query_event = query_event,
                                    .wait_event = wait_event,
                                    .drop_event = drop_event};
  return backend;
}
