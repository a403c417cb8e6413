// SPDX-License-Identifier: Apache-2.0
// The exported functions: PyTorch's arguments made into arcalloc's. Nothing is thrown through them.
#include "torch_allocator.h"

#include <cstdio>

#include "device_memory.hpp"

using arcalloc::cuda_backend;
using arcalloc::torch::device_memory;

extern "C" {

void* arcalloc_torch_allocate(ssize_t bytes, int device, void* stream) {
  if (bytes <= 0) return nullptr;
  device_memory* const memory = device_memory::of(device);
  return memory == nullptr ? nullptr
                           : memory->allocate(static_cast<std::size_t>(bytes), cuda_backend::stream_of(stream));
}

void arcalloc_torch_free(void* address, ssize_t, int device, void* stream) {
  device_memory* const memory = device_memory::known(device);
  if (memory != nullptr && address != nullptr) memory->free(address, cuda_backend::stream_of(stream));
}

void arcalloc_torch_record_stream(void* address, void* stream) {
  if (address == nullptr) return;
  // PyTorch does not say which device.
  for (int device = 0; device < device_memory::devices_max; ++device) {
    device_memory* const memory = device_memory::known(device);
    if (memory != nullptr && memory->note_use(address, cuda_backend::stream_of(stream))) return;
  }
  std::fprintf(stderr, "arcalloc: a stream uses memory that is none of ours\n");
}

size_t arcalloc_torch_forget_graphs(int device) {
  device_memory* const memory = device_memory::known(device);
  return memory == nullptr ? 0 : memory->forget_graphs();
}

void arcalloc_torch_end_step(void) {
  for (int device = 0; device < device_memory::devices_max; ++device) {
    if (device_memory* const memory = device_memory::known(device); memory != nullptr) memory->end_step();
  }
}

int arcalloc_torch_report(int device, char* text, size_t capacity) {
  const device_memory* const memory = device_memory::known(device);
  return memory == nullptr ? std::snprintf(text, capacity, "device %d: no requests", device)
                           : memory->report(text, capacity);
}

}  // extern "C"
