// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// What arcalloc uses of the CUDA driver API, declared by ourselves, so that no toolkit is needed to build.
///
/// Types, values and functions as cuda.h of CUDA 13.0 has them, under names of ours; where that header is installed
/// tests/cuda/declarations_test.cpp holds each of them to it. Handles are pointers that nobody follows.
namespace arcalloc::cuda {

/// CUresult, the values that mean something here; any other may come as well.
enum class result : unsigned int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  deinitialized = 4,
  stub_library = 34,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  ecc_uncorrectable = 214,
  nvlink_uncorrectable = 220,
  contained = 226,
  invalid_handle = 400,
  illegal_state = 401,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_timeout = 702,
  context_is_destroyed = 709,
  device_assert = 710,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_program_counter = 718,
  launch_failed = 719,
  tensor_memory_leak = 721,
  not_permitted = 800,
  not_supported = 801,
  system_driver_mismatch = 803,
  mps_client_terminated = 810,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_merge = 902,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_isolation = 905,
  capture_implicit = 906,
  captured_event = 907,
  capture_wrong_thread = 908,
  unknown = 999,
};

struct context_handle;  // CUctx_st
struct stream_handle;   // CUstream_st
struct event_handle;    // CUevent_st
struct pool_handle;     // CUmemPoolHandle_st

using device_number = int;                  // CUdevice
using device_address = unsigned long long;  // CUdeviceptr

/// The two streams that are numbers: the legacy default stream, and the calling thread's own.
inline constexpr std::uintptr_t legacy_stream_number = 1;      // CU_STREAM_LEGACY
inline constexpr std::uintptr_t per_thread_stream_number = 2;  // CU_STREAM_PER_THREAD

inline constexpr unsigned int event_disable_timing = 2;       // CU_EVENT_DISABLE_TIMING
inline constexpr int attribute_memory_pools_supported = 115;  // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
inline constexpr int pool_attribute_keep_threshold = 4;       // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD

/// CUstreamCaptureMode: which calls a thread may make while a stream is captured.
enum class capture_mode : unsigned int { global = 0, thread_local_only = 1, relaxed = 2 };

/// CUstreamCaptureStatus.
enum class capture_status : unsigned int { none = 0, ongoing = 1, invalidated = 2 };

/// CUmemPoolProps.
struct pool_properties {
  unsigned int kind = 1;  // CU_MEM_ALLOCATION_TYPE_PINNED
  unsigned int handle_types = 0;
  unsigned int location_kind = 1;  // CU_MEM_LOCATION_TYPE_DEVICE
  int location_id = 0;
  void* security = nullptr;
  std::size_t bytes_max = 0;
  unsigned short usage = 0;
  unsigned char zero[54] = {};
};

// The functions, by the names that the driver exports: a `_v2` is what programs have been compiled to since CUDA 3.2
// (4.0 for contexts and events, 11.0 for the primary context).
using init_function = result(unsigned int flags);                                         // cuInit
using driver_version_function = result(int* version);                                     // cuDriverGetVersion
using error_name_function = result(result error, const char** name);                      // cuGetErrorName
using device_count_function = result(int* count);                                         // cuDeviceGetCount
using device_get_function = result(device_number* out, int ordinal);                      // cuDeviceGet
using device_name_function = result(char* name, int capacity, device_number device);      // cuDeviceGetName
using device_attribute_function = result(int* out, int attribute, device_number device);  // cuDeviceGetAttribute
using retain_primary_function = result(context_handle** out, device_number device);       // cuDevicePrimaryCtxRetain
using leave_primary_function = result(device_number device);                             // cuDevicePrimaryCtxRelease_v2
using current_context_function = result(context_handle** out);                           // cuCtxGetCurrent
using push_context_function = result(context_handle* context);                           // cuCtxPushCurrent_v2
using pop_context_function = result(context_handle** out);                               // cuCtxPopCurrent_v2
using context_device_function = result(device_number* out);                              // cuCtxGetDevice
using allocate_function = result(device_address* out, std::size_t bytes);                // cuMemAlloc_v2
using free_function = result(device_address address);                                    // cuMemFree_v2
using memory_info_function = result(std::size_t* free_bytes, std::size_t* total_bytes);  // cuMemGetInfo_v2
using event_create_function = result(event_handle** out, unsigned int flags);            // cuEventCreate
using event_destroy_function = result(event_handle* event);                              // cuEventDestroy_v2
using event_record_function = result(event_handle* event, stream_handle* on);            // cuEventRecord
using event_query_function = result(event_handle* event);                                // cuEventQuery
using event_wait_function = result(event_handle* event);                                 // cuEventSynchronize
using exchange_mode_function = result(capture_mode* mode);  // cuThreadExchangeStreamCaptureMode, CUDA 10.1

// What a stream's capture is: each version of the function has one more output, all of which may be null.
using capture_info_function = result(stream_handle* on, capture_status* out, std::uint64_t* id);  // CUDA 10.1
using capture_info_v2_function = result(stream_handle* on, capture_status* out, std::uint64_t* id, void* graph,
                                        const void* nodes, std::size_t* node_count);  // CUDA 11.3
using capture_info_v3_function = result(stream_handle* on, capture_status* out, std::uint64_t* id, void* graph,
                                        const void* nodes, const void* edges, std::size_t* node_count);  // CUDA 12.3

// The stream-ordered source; CUDA 11.2.
using pool_create_function = result(pool_handle** out, const pool_properties* properties);  // cuMemPoolCreate
using pool_destroy_function = result(pool_handle* pool);                                    // cuMemPoolDestroy
using pool_set_function = result(pool_handle* pool, int attribute, void* value);            // cuMemPoolSetAttribute
using pool_trim_function = result(pool_handle* pool, std::size_t kept_bytes);               // cuMemPoolTrimTo
using pool_allocate_function = result(device_address* out, std::size_t bytes, pool_handle* pool,
                                      stream_handle* on);  // cuMemAllocFromPoolAsync

}  // namespace arcalloc::cuda
