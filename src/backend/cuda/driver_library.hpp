// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/status.hpp>

#include "driver_declarations.hpp"
#include "error_text.hpp"

namespace arcalloc::cuda {

/// The driver's functions, found at run time in libcuda.so.1.
///
/// Used by the cuda backend alone. Opened once, and never closed: a driver does not survive being unloaded.
/// Concurrency: constant once it is open. Every member of the first part is there then; the stream-ordered ones are
/// null where the driver is older than CUDA 11.2. Cost: opening it loads the driver, some hundred milliseconds.
struct driver_library {
  /// Loads `path`, or libcuda.so.1 as the loader finds it where that is null, and initialises it. On failure a
  /// sentence says what is missing, and in which version of CUDA it came.
  [[nodiscard]] status open(const char* path, error_text& why) noexcept;

  [[nodiscard]] bool has_pools() const noexcept { return pool_allocate != nullptr; }

  /// The state of a stream's capture, by whichever version of the function there is. `id` is 0 where there is none.
  [[nodiscard]] result capture_info(stream_handle* on, capture_status& out, std::uint64_t& id) const noexcept;

  /// The driver's own name of a result, such as CUDA_ERROR_NO_DEVICE, or "an unknown result".
  [[nodiscard]] const char* name_of(result outcome) const noexcept;

  int version = 0;  ///< the newest CUDA that the driver knows, 1000 * major + 10 * minor

  init_function* init = nullptr;
  driver_version_function* driver_version = nullptr;
  error_name_function* error_name = nullptr;
  device_count_function* device_count = nullptr;
  device_get_function* device_get = nullptr;
  device_name_function* device_name = nullptr;
  device_attribute_function* device_attribute = nullptr;
  retain_primary_function* retain_primary = nullptr;
  leave_primary_function* leave_primary = nullptr;
  current_context_function* current_context = nullptr;
  push_context_function* push_context = nullptr;
  pop_context_function* pop_context = nullptr;
  context_device_function* context_device = nullptr;
  allocate_function* allocate = nullptr;
  free_function* free = nullptr;
  memory_info_function* memory_info = nullptr;
  event_create_function* event_create = nullptr;
  event_destroy_function* event_destroy = nullptr;
  event_record_function* event_record = nullptr;
  event_query_function* event_query = nullptr;
  event_wait_function* event_wait = nullptr;
  exchange_mode_function* exchange_mode = nullptr;

  pool_create_function* pool_create = nullptr;
  pool_destroy_function* pool_destroy = nullptr;
  pool_set_function* pool_set = nullptr;
  pool_trim_function* pool_trim = nullptr;
  pool_allocate_function* pool_allocate = nullptr;

 private:
  [[nodiscard]] bool find_all(void* library, error_text& why) noexcept;
  void find_pools(void* library) noexcept;

  capture_info_function* capture_info_v1_ = nullptr;
  capture_info_v2_function* capture_info_v2_ = nullptr;
  capture_info_v3_function* capture_info_v3_ = nullptr;
};

/// "13.0" of 13000.
struct version_text {
  explicit version_text(int version) noexcept;
  char text[24];
};

}  // namespace arcalloc::cuda
