// SPDX-License-Identifier: Apache-2.0
#include "driver_calls.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

namespace arcalloc::preload {

namespace {

constinit std::atomic<const driver_calls*> found_driver{nullptr};
constinit std::mutex finding;

template <class Function>
bool look_up(void* library, const char* symbol, Function*& out) noexcept {
  out = reinterpret_cast<Function*>(real_dlsym()(library, symbol));
  return out != nullptr;
}

/// Null where the host has no memory, or the library cannot be had again.
const driver_calls* found_in(const char* path) noexcept {
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  auto* const calls = library == nullptr ? nullptr : new (std::nothrow) driver_calls;
  if (calls == nullptr) return nullptr;
  calls->path = path;
  bool whole = look_up(library, "cuMemAlloc_v2", calls->allocate);
  whole = look_up(library, "cuMemFree_v2", calls->free) && whole;
  whole = look_up(library, "cuMemGetInfo_v2", calls->memory_info) && whole;
  whole = look_up(library, "cuCtxGetCurrent", calls->current_context) && whole;
  whole = look_up(library, "cuCtxPushCurrent_v2", calls->push_context) && whole;
  whole = look_up(library, "cuCtxPopCurrent_v2", calls->pop_context) && whole;
  whole = look_up(library, "cuCtxSynchronize", calls->synchronise) && whole;
  whole = look_up(library, "cuStreamSynchronize", calls->synchronise_stream) && whole;
  whole = look_up(library, "cuStreamIsCapturing", calls->is_capturing) && whole;
  whole = look_up(library, "cuThreadExchangeStreamCaptureMode", calls->exchange_mode) && whole;
  whole = look_up(library, "cuStreamDestroy_v2", calls->destroy_stream) && whole;
  whole = look_up(library, "cuCtxDestroy_v2", calls->destroy_context) && whole;
  whole = look_up(library, "cuDevicePrimaryCtxRetain", calls->retain_primary) && whole;
  whole = look_up(library, "cuDevicePrimaryCtxRelease_v2", calls->leave_primary) && whole;
  whole = look_up(library, "cuDevicePrimaryCtxReset_v2", calls->reset_primary) && whole;
  whole = look_up(library, "cuDevicePrimaryCtxGetState", calls->primary_state) && whole;
  calls->is_whole = whole;
  (void)look_up(library, "cuMemAllocAsync", calls->allocate_async);
  (void)look_up(library, "cuMemAllocAsync_ptsz", calls->allocate_async_ptsz);
  (void)look_up(library, "cuMemFreeAsync", calls->free_async);
  (void)look_up(library, "cuMemFreeAsync_ptsz", calls->free_async_ptsz);
  (void)look_up(library, "cuIpcGetMemHandle", calls->share);
  (void)look_up(library, "cuMemGetAddressRange_v2", calls->range);
  (void)look_up(library, "cuGetProcAddress", calls->find);
  (void)look_up(library, "cuGetProcAddress_v2", calls->find_v2);
  return calls;
}

}  // namespace

thread_local constinit int inside::depth_ = 0;

dlsym_function* real_dlsym() noexcept {
  static constinit std::atomic<dlsym_function*> known{nullptr};
  dlsym_function* found = known.load(std::memory_order_relaxed);
  // The C library's name for it is versioned, and dlvsym is nobody's here.
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    if (found == nullptr) found = reinterpret_cast<dlsym_function*>(::dlvsym(RTLD_NEXT, "dlsym", version));
  }
  known.store(found, std::memory_order_relaxed);
  return found;
}

bool driver_calls::seen_driver(const void* address) noexcept {
  Dl_info where{};
  if (address == nullptr || ::dladdr(address, &where) == 0 || where.dli_fname == nullptr) return false;
  const char* const slash = std::strrchr(where.dli_fname, '/');
  const char* const file = slash == nullptr ? where.dli_fname : slash + 1;
  if (std::strncmp(file, "libcuda.so", std::strlen("libcuda.so")) != 0) return false;
  if (found_driver.load(std::memory_order_acquire) != nullptr) return true;
  const std::lock_guard guard(finding);
  if (found_driver.load(std::memory_order_relaxed) == nullptr) {
    found_driver.store(found_in(where.dli_fname), std::memory_order_release);
  }
  return found_driver.load(std::memory_order_relaxed) != nullptr;
}

const driver_calls* driver_calls::get() noexcept {
  const driver_calls* const known = found_driver.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  // Linked with the program, the driver comes after this library in the loader's order.
  if (real_dlsym() == nullptr || !seen_driver(real_dlsym()(RTLD_NEXT, "cuMemAlloc_v2"))) return nullptr;
  return found_driver.load(std::memory_order_acquire);
}

}  // namespace arcalloc::preload
