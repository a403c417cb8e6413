// SPDX-License-Identifier: Apache-2.0
// The C ABI's devices: host memory, CUDA's driver, or the caller's functions. A device counts the allocators on it and
// refuses to be destroyed under them.
#include <arcalloc/arcalloc.h>
#include <cstdio>

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

arcalloc_status arcalloc_cuda_device_create(const arcalloc_cuda_options* options, arcalloc_device** out, char* text,
                                            std::size_t capacity) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = nullptr;
  if (text == nullptr && capacity != 0) return ARCALLOC_INVALID_ARGUMENT;
  if (capacity != 0) text[0] = '\0';
  arcalloc_cuda_options given{};
  if (options != nullptr && !arcalloc::detail::read_struct(options, given)) return ARCALLOC_INVALID_ARGUMENT;
  const bool names_context =
      given.context == ARCALLOC_CUDA_CONTEXT_PRIMARY || given.context == ARCALLOC_CUDA_CONTEXT_CURRENT;
  const bool names_source =
      given.source == ARCALLOC_CUDA_SOURCE_DRIVER || given.source == ARCALLOC_CUDA_SOURCE_STREAM_ORDERED;
  if (!names_context || !names_source) return ARCALLOC_INVALID_ARGUMENT;
  arcalloc::cuda_options how;
  how.ordinal = given.ordinal;
  how.context = static_cast<arcalloc::cuda_context>(given.context);
  how.source = static_cast<arcalloc::cuda_source>(given.source);
  if (given.granularity != 0) how.granularity = given.granularity;
  how.driver_path = given.driver_path;
  auto* const made = make<arcalloc_device>(arcalloc_cuda_device{});
  if (made == nullptr) return ARCALLOC_BACKEND_FAILED;
  const status opened = made->cuda->open(how);
  if (opened != status::ok) {
    made->cuda->error_text(text, capacity);
    unmake(made);
    return as_c(opened);
  }
  *out = made;
  return ARCALLOC_OK;
}

int arcalloc_device_error_text(const arcalloc_device* device, char* text, std::size_t capacity) noexcept {
  if (device == nullptr || (text == nullptr && capacity != 0)) return -ARCALLOC_INVALID_ARGUMENT;
  return device->cuda != nullptr ? device->cuda->error_text(text, capacity) : std::snprintf(text, capacity, "%s", "");
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
