// SPDX-License-Identifier: Apache-2.0
// Programs that look the driver's functions up, by dlsym or by the driver's own cuGetProcAddress, find those of
// exported_calls.hpp in the place of the driver's. Linked programs find them by the loader's order.
//
// A function is replaced where the very address of the driver's was found, so that an older version of it, or one of
// another library, is what it was. dlsym costs a look at an atomic more for names that are not the driver's.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "exported_calls.hpp"

namespace {

using arcalloc::preload::driver_calls;
using arcalloc::preload::driver_result;
using arcalloc::preload::inside;
using arcalloc::preload::real_dlsym;

struct replaced {
  void* ours;
  void* drivers;
};

template <class Function>
replaced pair_of(Function* ours, Function* drivers) {
  return {reinterpret_cast<void*>(ours), reinterpret_cast<void*>(drivers)};
}

/// Ours, where `found` is the driver's function that it stands before; else `found`.
void* in_place_of(void* found) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr || found == nullptr || !driver->is_whole) return found;
  const replaced all[] = {
      pair_of(&cuMemAlloc_v2, driver->allocate),
      pair_of(&cuMemFree_v2, driver->free),
      pair_of(&cuMemGetInfo_v2, driver->memory_info),
      pair_of(&cuMemAllocAsync, driver->allocate_async),
      pair_of(&cuMemAllocAsync_ptsz, driver->allocate_async_ptsz),
      pair_of(&cuMemFreeAsync, driver->free_async),
      pair_of(&cuMemFreeAsync_ptsz, driver->free_async_ptsz),
      pair_of(&cuIpcGetMemHandle, driver->share),
      pair_of(&cuMemGetAddressRange_v2, driver->range),
      pair_of(&cuStreamDestroy_v2, driver->destroy_stream),
      pair_of(&cuCtxDestroy_v2, driver->destroy_context),
      pair_of(&cuDevicePrimaryCtxRelease_v2, driver->leave_primary),
      pair_of(&cuDevicePrimaryCtxReset_v2, driver->reset_primary),
      pair_of(&cuGetProcAddress, driver->find),
      pair_of(&cuGetProcAddress_v2, driver->find_v2),
  };
  for (const replaced& one : all) {
    if (one.drivers == found) return one.ours;
  }
  return found;
}

/// Whether `found` is a function of this library, which a program asks for where no driver is loaded.
bool is_without_driver(const void* found) {
  Dl_info there{};
  Dl_info here{};
  return driver_calls::get() == nullptr && found != nullptr && ::dladdr(found, &there) != 0 &&
         ::dladdr(reinterpret_cast<const void*>(&cuMemAlloc_v2), &here) != 0 && there.dli_fbase == here.dli_fbase;
}

void* look_up_of_driver(void* library, const char* symbol) {
  void* const found = real_dlsym()(library, symbol);
  if (driver_calls::seen_driver(found)) return in_place_of(found);
  return is_without_driver(found) ? nullptr : found;
}

bool is_of_driver(const void* library, const char* symbol) {
  return library != RTLD_NEXT && !inside::is_here() && std::strncmp(symbol, "cu", 2) == 0;
}

arcalloc::preload::dlsym_function* dlsym_of_c() {
  arcalloc::preload::dlsym_function* const real = real_dlsym();
  if (real == nullptr) std::abort();  // no C library that this one was made for: nothing could go on
  return real;
}

}  // namespace

extern "C" {

ARCALLOC_PRELOAD_EXPORT void* dlsym(void* library, const char* symbol) noexcept {
  if (is_of_driver(library, symbol)) return look_up_of_driver(library, symbol);
  // Compiled to a jump and no call (-foptimize-sibling-calls): the C library takes RTLD_NEXT as next after whoever it
  // will return to.
  return dlsym_of_c()(library, symbol);
}

driver_result cuGetProcAddress(const char* symbol, void** out, int version, std::uint64_t flags) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr || driver->find == nullptr) return arcalloc::preload::not_initialized;
  const driver_result asked = driver->find(symbol, out, version, flags);
  if (asked == arcalloc::preload::success && out != nullptr && !inside::is_here()) *out = in_place_of(*out);
  return asked;
}

driver_result cuGetProcAddress_v2(const char* symbol, void** out, int version, std::uint64_t flags, int* how_found) {
  const driver_calls* const driver = driver_calls::get();
  if (driver == nullptr || driver->find_v2 == nullptr) return arcalloc::preload::not_initialized;
  const driver_result asked = driver->find_v2(symbol, out, version, flags, how_found);
  if (asked == arcalloc::preload::success && out != nullptr && !inside::is_here()) *out = in_place_of(*out);
  return asked;
}

}  // extern "C"
