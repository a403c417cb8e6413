// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// What the preload library knows of the driver: the functions that it stands in front of, and those that it needs for
// that. Signatures and values as cuda.h of CUDA 13.0 has them; a test compares them where that header is installed.

namespace arcalloc::preload {

using driver_result = int;                  // CUresult
using device_number = int;                  // CUdevice
using device_address = unsigned long long;  // CUdeviceptr

inline constexpr driver_result success = 0;
inline constexpr driver_result invalid_value = 1;
inline constexpr driver_result out_of_memory = 2;
inline constexpr driver_result not_initialized = 3;
inline constexpr driver_result not_supported = 801;
inline constexpr driver_result capture_unsupported = 900;
inline constexpr unsigned int mode_relaxed = 2;                // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr std::uintptr_t per_thread_stream_number = 2;  // CU_STREAM_PER_THREAD

using allocate_function = driver_result(device_address* out, std::size_t bytes);                  // cuMemAlloc_v2
using free_function = driver_result(device_address address);                                      // cuMemFree_v2
using memory_info_function = driver_result(std::size_t* free_bytes, std::size_t* total_bytes);    // cuMemGetInfo_v2
using allocate_async_function = driver_result(device_address* out, std::size_t bytes, void* on);  // cuMemAllocAsync
using free_async_function = driver_result(device_address address, void* on);                      // cuMemFreeAsync
using share_function = driver_result(void* out, device_address address);                          // cuIpcGetMemHandle
using range_function = driver_result(device_address* base, std::size_t* bytes,
                                     device_address at);             // ...AddressRange_v2
using destroy_stream_function = driver_result(void* on);             // cuStreamDestroy_v2
using destroy_context_function = driver_result(void* context);       // cuCtxDestroy_v2
using leave_primary_function = driver_result(device_number device);  // cuDevicePrimaryCtxRelease_v2
using reset_primary_function = driver_result(device_number device);  // cuDevicePrimaryCtxReset_v2
using find_function = driver_result(const char* symbol, void** out, int version, std::uint64_t flags);  // CUDA 11.3
using find_v2_function = driver_result(const char* symbol, void** out, int version, std::uint64_t flags,
                                       int* how_found);                           // cuGetProcAddress_v2, CUDA 12.0
using is_capturing_function = driver_result(void* on, int* state);                // cuStreamIsCapturing
using current_context_function = driver_result(void** out);                       // cuCtxGetCurrent
using push_context_function = driver_result(void* context);                       // cuCtxPushCurrent_v2
using pop_context_function = driver_result(void** out);                           // cuCtxPopCurrent_v2
using synchronise_function = driver_result();                                     // cuCtxSynchronize
using synchronise_stream_function = driver_result(void* on);                      // cuStreamSynchronize
using exchange_mode_function = driver_result(unsigned int* mode);                 // cuThreadExchange...
using retain_primary_function = driver_result(void** out, device_number device);  // cuDevicePrimaryCtxRetain
using primary_state_function = driver_result(device_number, unsigned int* flags, int* on);  // ...PrimaryCtxGetState

/// The driver's own functions, whoever else has these names.
///
/// Constant once found. What an older driver does not have is null; those that everything needs are there.
/// Concurrency: any thread. Cost: one look at an atomic.
struct driver_calls {
  allocate_function* allocate = nullptr;
  free_function* free = nullptr;
  memory_info_function* memory_info = nullptr;
  allocate_async_function* allocate_async = nullptr;
  allocate_async_function* allocate_async_ptsz = nullptr;  ///< for programs with a default stream per thread
  free_async_function* free_async = nullptr;
  free_async_function* free_async_ptsz = nullptr;
  share_function* share = nullptr;
  range_function* range = nullptr;
  destroy_stream_function* destroy_stream = nullptr;
  destroy_context_function* destroy_context = nullptr;
  leave_primary_function* leave_primary = nullptr;
  reset_primary_function* reset_primary = nullptr;
  find_function* find = nullptr;
  find_v2_function* find_v2 = nullptr;

  is_capturing_function* is_capturing = nullptr;
  current_context_function* current_context = nullptr;
  push_context_function* push_context = nullptr;
  pop_context_function* pop_context = nullptr;
  synchronise_function* synchronise = nullptr;
  synchronise_stream_function* synchronise_stream = nullptr;
  exchange_mode_function* exchange_mode = nullptr;
  retain_primary_function* retain_primary = nullptr;
  primary_state_function* primary_state = nullptr;

  std::string path;       ///< of the driver's library, as the loader knows it
  bool is_whole = false;  ///< whether all is there that arcalloc needs: else every call is passed on

  /// The driver that is loaded, or null where there is none. Finds it by itself only where it is linked or has been
  /// looked at by seen_driver.
  [[nodiscard]] static const driver_calls* get() noexcept;

  /// Whether `address` is a function of the driver's library; finds the others beside it then.
  static bool seen_driver(const void* address) noexcept;
};

/// dlsym as the C library has it.
using dlsym_function = void*(void* library, const char* symbol) noexcept;
[[nodiscard]] dlsym_function* real_dlsym() noexcept;

/// While one lives on this thread, arcalloc itself is at work here: what it looks up and calls is the driver's own.
class inside {
 public:
  inside() noexcept { ++depth_; }
  ~inside() { --depth_; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  [[nodiscard]] static bool is_here() noexcept { return depth_ != 0; }

 private:
  static thread_local constinit int depth_;
};

}  // namespace arcalloc::preload
