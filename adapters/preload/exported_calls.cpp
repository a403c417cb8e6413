// SPDX-License-Identifier: Apache-2.0
// What stands before the driver: each function decides whether a call is ours, and passes on what is not.
// Where anything is amiss on our side the driver is asked instead: a program is never worse off than without us.
#include "exported_calls.hpp"

#include <cstdio>

#include "context_memory.hpp"

using arcalloc::segment_extent;
using arcalloc::stream;
using arcalloc::preload::allocate_async_function;
using arcalloc::preload::context_memory;
using arcalloc::preload::device_address;
using arcalloc::preload::device_number;
using arcalloc::preload::driver_calls;
using arcalloc::preload::driver_result;
using arcalloc::preload::free_async_function;
using arcalloc::preload::inside;
using arcalloc::preload::live_blocks;

namespace {

namespace preload = arcalloc::preload;

/// Whether the address is no block and lies in our memory all the same: freed already, or the middle of a block. The
/// driver must not hear of it, since a segment of ours may begin there.
bool is_idle_memory(device_address address) {
  segment_extent ignored;
  return context_memory::is_within(address, ignored);
}

void* as_thread_stream(void* on) {
  return on == nullptr ? reinterpret_cast<void*>(preload::per_thread_stream_number) : on;
}

driver_result allocate_async(allocate_async_function* drivers_own, device_address* out, std::size_t bytes, void* said,
                             void* on) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr || drivers_own == nullptr) return preload::not_initialized;
  int captured = 1;
  // In a capture it becomes a node of the graph, which is the driver's to make.
  const bool is_ours = out != nullptr && bytes != 0 && !inside::is_here() && driver->is_whole &&
                       driver->is_capturing(on, &captured) == preload::success && captured == 0;
  if (context_memory* const memory = is_ours ? context_memory::of_current(*driver) : nullptr; memory != nullptr) {
    const driver_result outcome = memory->allocate(bytes, arcalloc::cuda_backend::stream_of(on), *out);
    if (outcome != context_memory::passed_on) return outcome;
  }
  return drivers_own(out, bytes, said);
}

driver_result free_async(free_async_function* drivers_own, device_address address, void* said, void* on) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr || drivers_own == nullptr) return preload::not_initialized;
  if (!inside::is_here()) {
    if (const auto known = live_blocks::all().find(address)) return known->owner->free_async(*driver, address, on);
    if (is_idle_memory(address)) return preload::invalid_value;
  }
  return drivers_own(address, said);
}

[[gnu::destructor]] void report_at_exit() { context_memory::report_all(); }

}  // namespace

extern "C" {

driver_result cuMemAlloc_v2(device_address* out, std::size_t bytes) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr) return preload::not_initialized;
  const bool is_ours = out != nullptr && bytes != 0 && !inside::is_here();
  if (context_memory* const memory = is_ours ? context_memory::of_current(*driver) : nullptr; memory != nullptr) {
    const driver_result outcome = memory->allocate(bytes, preload::settled_stream, *out);
    if (outcome != context_memory::passed_on) return outcome;
  }
  return driver->allocate(out, bytes);
}

driver_result cuMemFree_v2(device_address address) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr) return preload::not_initialized;
  if (!inside::is_here()) {
    if (const auto known = live_blocks::all().find(address)) return known->owner->free(*driver, address);
    if (is_idle_memory(address)) return preload::invalid_value;
  }
  return driver->free(address);
}

/// What is cached here goes back as soon as the driver has no more, so to the program it is free.
driver_result cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr) return preload::not_initialized;
  const driver_result asked = driver->memory_info(free_bytes, total_bytes);
  if (asked != preload::success || inside::is_here()) return asked;
  if (const context_memory* const memory = context_memory::known_of_current(*driver); memory != nullptr) {
    *free_bytes += memory->cached_bytes();
  }
  return asked;
}

driver_result cuMemAllocAsync(device_address* out, std::size_t bytes, void* on) {
  const driver_calls* const driver = driver_calls::get();
  return allocate_async(driver == nullptr ? nullptr : driver->allocate_async, out, bytes, on, on);
}

driver_result cuMemAllocAsync_ptsz(device_address* out, std::size_t bytes, void* on) {
  const driver_calls* const driver = driver_calls::get();
  return allocate_async(driver == nullptr ? nullptr : driver->allocate_async_ptsz, out, bytes, on,
                        as_thread_stream(on));
}

driver_result cuMemFreeAsync(device_address address, void* on) {
  const driver_calls* const driver = driver_calls::get();
  return free_async(driver == nullptr ? nullptr : driver->free_async, address, on, on);
}

driver_result cuMemFreeAsync_ptsz(device_address address, void* on) {
  const driver_calls* const driver = driver_calls::get();
  return free_async(driver == nullptr ? nullptr : driver->free_async_ptsz, address, on, as_thread_stream(on));
}

/// Another process would find the segment's beginning where a block in its middle was meant.
driver_result cuIpcGetMemHandle(void* out, device_address address) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr || driver->share == nullptr) return preload::not_initialized;
  segment_extent extent;
  if (context_memory::is_within(address, extent) && extent.offset_bytes != 0) {
    std::fprintf(stderr,
                 "arcalloc: preload: memory shared with another process lies within a segment; "
                 "ARC_ALLOC_CACHE_GEOMETRY=exact gives each block a segment of its own\n");
    return preload::not_supported;
  }
  return driver->share(out, address);
}

driver_result cuMemGetAddressRange_v2(device_address* base, std::size_t* bytes, device_address at) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr || driver->range == nullptr) return preload::not_initialized;
  device_address begin = 0;
  const auto known = live_blocks::all().around(at, begin);
  if (!known) return is_idle_memory(at) ? preload::invalid_value : driver->range(base, bytes, at);
  if (base != nullptr) *base = begin;
  if (bytes != nullptr) *bytes = known->bytes;
  return preload::success;
}

driver_result cuStreamDestroy_v2(void* on) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr) return preload::not_initialized;
  if (!inside::is_here()) context_memory::end_stream(on);
  return driver->destroy_stream(on);
}

driver_result cuCtxDestroy_v2(void* context) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr) return preload::not_initialized;
  const driver_result destroyed = driver->destroy_context(context);
  if (destroyed == preload::success) context_memory::forget_context(context);
  return destroyed;
}

driver_result cuDevicePrimaryCtxRelease_v2(device_number device) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr) return preload::not_initialized;
  const driver_result left = driver->leave_primary(device);
  unsigned int flags = 0;
  int exists = 1;
  if (left == preload::success && !inside::is_here() &&
      driver->primary_state(device, &flags, &exists) == preload::success && exists == 0) {
    context_memory::forget_primary(device);
  }
  return left;
}

driver_result cuDevicePrimaryCtxReset_v2(device_number device) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr) return preload::not_initialized;
  const driver_result reset = driver->reset_primary(device);
  if (reset == preload::success) context_memory::forget_primary(device);
  return reset;
}

}  // extern "C"
