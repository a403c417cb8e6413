// SPDX-License-Identifier: Apache-2.0
// The C ABI's devices: host memory, or the caller's functions. A device counts the allocators on it and
// refuses to be destroyed under them.
#include <arcalloc/arcalloc.h>

#include "c_objects.hpp"
#include "c_struct.hpp"

using arcalloc::status;
using arcalloc::detail::as_c;
using arcalloc::detail::caller_backend;
using arcalloc::detail::make;
using arcalloc::detail::unmake;

extern "C" {

arcalloc_status arcalloc_host_device_create(std::uint64_t size_bytes, arcalloc_device** out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = nullptr;
  if (size_bytes < arcalloc::host_backend(0).granularity()) return ARCALLOC_INVALID_ARGUMENT;
  *out = make<arcalloc_device>(size_bytes);
  return *out != nullptr ? ARCALLOC_OK : ARCALLOC_BACKEND_FAILED;
}

arcalloc_status arcalloc_device_create(const arcalloc_backend* backend, arcalloc_device** out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = nullptr;
  arcalloc_backend functions;
  if (!arcalloc::detail::read_struct(backend, functions) || !caller_backend::complete(functions)) {
    return ARCALLOC_INVALID_ARGUMENT;
  }
  *out = make<arcalloc_device>(functions);
  return *out != nullptr ? ARCALLOC_OK : ARCALLOC_BACKEND_FAILED;
}

arcalloc_status arcalloc_device_destroy(arcalloc_device* device) noexcept {
  if (device == nullptr) return ARCALLOC_OK;
  if (device->allocators.load(std::memory_order_acquire) != 0) return ARCALLOC_INVALID_ARGUMENT;
  unmake(device);
  return ARCALLOC_OK;
}

const char* arcalloc_device_name(const arcalloc_device* device) noexcept {
  return device != nullptr ? device->below->name() : "";
}

arcalloc_status arcalloc_device_query_memory(const arcalloc_device* device, arcalloc_memory_info* out) noexcept {
  if (device == nullptr || arcalloc::detail::callers_size(out) == 0) return ARCALLOC_INVALID_ARGUMENT;
  arcalloc::memory_info now;
  if (const status outcome = device->below->query_memory(now); outcome != status::ok) return as_c(outcome);
  const arcalloc_memory_info value{0, 0, now.free_bytes, now.total_bytes};
  return arcalloc::detail::write_struct(value, out) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT;
}

}  // extern "C"
