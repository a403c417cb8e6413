// SPDX-License-Identifier: Apache-2.0
// Our declarations of the driver API against the toolkit's header: everything here is decided when it is compiled, and
// the program says which version it was compared with. Not linked with any of CUDA.
#include <cuda.h>

#include <cstddef>
#include <cstdio>

#include "agrees_with_header.hpp"
#include "backend/cuda/driver_declarations.hpp"

#if CUDA_VERSION < 12030
#error "compared with CUDA 12.3 or newer: cuStreamGetCaptureInfo_v3 came with it"
#endif

namespace arcalloc::cuda {
namespace {

AGREES(cuInit, init_function, "cuInit");
AGREES(cuDriverGetVersion, driver_version_function, "cuDriverGetVersion");
AGREES(cuGetErrorName, error_name_function, "cuGetErrorName");
AGREES(cuDeviceGetCount, device_count_function, "cuDeviceGetCount");
AGREES(cuDeviceGet, device_get_function, "cuDeviceGet");
AGREES(cuDeviceGetName, device_name_function, "cuDeviceGetName");
AGREES(cuDeviceGetAttribute, device_attribute_function, "cuDeviceGetAttribute");
AGREES(cuDevicePrimaryCtxRetain, retain_primary_function, "cuDevicePrimaryCtxRetain");
AGREES(cuDevicePrimaryCtxRelease, leave_primary_function, "cuDevicePrimaryCtxRelease_v2");
AGREES(cuCtxGetCurrent, current_context_function, "cuCtxGetCurrent");
AGREES(cuCtxPushCurrent, push_context_function, "cuCtxPushCurrent_v2");
AGREES(cuCtxPopCurrent, pop_context_function, "cuCtxPopCurrent_v2");
AGREES(cuCtxGetDevice, context_device_function, "cuCtxGetDevice");
AGREES(cuMemAlloc, allocate_function, "cuMemAlloc_v2");
AGREES(cuMemFree, free_function, "cuMemFree_v2");
AGREES(cuMemGetInfo, memory_info_function, "cuMemGetInfo_v2");
AGREES(cuEventCreate, event_create_function, "cuEventCreate");
AGREES(cuEventDestroy, event_destroy_function, "cuEventDestroy_v2");
AGREES(cuEventRecord, event_record_function, "cuEventRecord");
AGREES(cuEventQuery, event_query_function, "cuEventQuery");
AGREES(cuEventSynchronize, event_wait_function, "cuEventSynchronize");
AGREES(cuThreadExchangeStreamCaptureMode, exchange_mode_function, "cuThreadExchangeStreamCaptureMode");
AGREES(cuStreamGetCaptureInfo, capture_info_v3_function, "cuStreamGetCaptureInfo_v3");
AGREES(cuMemPoolCreate, pool_create_function, "cuMemPoolCreate");
AGREES(cuMemPoolDestroy, pool_destroy_function, "cuMemPoolDestroy");
AGREES(cuMemPoolSetAttribute, pool_set_function, "cuMemPoolSetAttribute");
AGREES(cuMemPoolTrimTo, pool_trim_function, "cuMemPoolTrimTo");
AGREES(cuMemAllocFromPoolAsync, pool_allocate_function, "cuMemAllocFromPoolAsync");

#define IS(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs), #theirs)
IS(result::success, CUDA_SUCCESS);
IS(result::invalid_value, CUDA_ERROR_INVALID_VALUE);
IS(result::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
IS(result::not_initialized, CUDA_ERROR_NOT_INITIALIZED);
IS(result::deinitialized, CUDA_ERROR_DEINITIALIZED);
IS(result::stub_library, CUDA_ERROR_STUB_LIBRARY);
IS(result::device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
IS(result::no_device, CUDA_ERROR_NO_DEVICE);
IS(result::invalid_device, CUDA_ERROR_INVALID_DEVICE);
IS(result::invalid_context, CUDA_ERROR_INVALID_CONTEXT);
IS(result::ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
IS(result::nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
IS(result::contained, CUDA_ERROR_CONTAINED);
IS(result::invalid_handle, CUDA_ERROR_INVALID_HANDLE);
IS(result::illegal_state, CUDA_ERROR_ILLEGAL_STATE);
IS(result::not_found, CUDA_ERROR_NOT_FOUND);
IS(result::not_ready, CUDA_ERROR_NOT_READY);
IS(result::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
IS(result::launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT);
IS(result::context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
IS(result::device_assert, CUDA_ERROR_ASSERT);
IS(result::hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR);
IS(result::illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
IS(result::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS);
IS(result::invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE);
IS(result::invalid_program_counter, CUDA_ERROR_INVALID_PC);
IS(result::launch_failed, CUDA_ERROR_LAUNCH_FAILED);
IS(result::tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
IS(result::not_permitted, CUDA_ERROR_NOT_PERMITTED);
IS(result::not_supported, CUDA_ERROR_NOT_SUPPORTED);
IS(result::system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
IS(result::mps_client_terminated, CUDA_ERROR_MPS_CLIENT_TERMINATED);
IS(result::capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
IS(result::capture_invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
IS(result::capture_merge, CUDA_ERROR_STREAM_CAPTURE_MERGE);
IS(result::capture_unmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
IS(result::capture_unjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
IS(result::capture_isolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
IS(result::capture_implicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
IS(result::captured_event, CUDA_ERROR_CAPTURED_EVENT);
IS(result::capture_wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
IS(result::unknown, CUDA_ERROR_UNKNOWN);
IS(capture_mode::global, CU_STREAM_CAPTURE_MODE_GLOBAL);
IS(capture_mode::thread_local_only, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
IS(capture_mode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
IS(capture_status::none, CU_STREAM_CAPTURE_STATUS_NONE);
IS(capture_status::ongoing, CU_STREAM_CAPTURE_STATUS_ACTIVE);
IS(capture_status::invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
IS(event_disable_timing, CU_EVENT_DISABLE_TIMING);
IS(attribute_memory_pools_supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
IS(pool_attribute_keep_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
IS(pool_properties{}.kind, CU_MEM_ALLOCATION_TYPE_PINNED);
IS(pool_properties{}.handle_types, CU_MEM_HANDLE_TYPE_NONE);
IS(pool_properties{}.location_kind, CU_MEM_LOCATION_TYPE_DEVICE);

IS(sizeof(pool_properties), sizeof(CUmemPoolProps));
IS(offsetof(pool_properties, handle_types), offsetof(CUmemPoolProps, handleTypes));
IS(offsetof(pool_properties, location_kind), offsetof(CUmemPoolProps, location.type));
IS(offsetof(pool_properties, location_id), offsetof(CUmemPoolProps, location.id));
IS(offsetof(pool_properties, security), offsetof(CUmemPoolProps, win32SecurityAttributes));
IS(offsetof(pool_properties, bytes_max), offsetof(CUmemPoolProps, maxSize));
IS(offsetof(pool_properties, usage), offsetof(CUmemPoolProps, usage));
IS(offsetof(pool_properties, zero), offsetof(CUmemPoolProps, reserved));
IS(sizeof(device_address), sizeof(CUdeviceptr));

/// The handles that are numbers can be compared only when the program runs.
bool special_streams_agree() {
  return reinterpret_cast<std::uintptr_t>(CU_STREAM_LEGACY) == legacy_stream_number &&
         reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD) == per_thread_stream_number;
}

}  // namespace
}  // namespace arcalloc::cuda

int main() {
  const bool agree = arcalloc::cuda::special_streams_agree();
  std::printf("%d functions and %d values of the driver API %s with cuda.h of CUDA %d.%d\n", 28, 56,
              agree ? "agree" : "do not agree", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
  return agree ? 0 : 1;
}
