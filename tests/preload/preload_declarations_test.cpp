// SPDX-License-Identifier: Apache-2.0
// The preload library's declarations against the toolkit's header, decided when it is compiled. Not linked with any of
// CUDA.
#include <cuda.h>

#include <cstdio>

#include "adapters/preload/driver_calls.hpp"
#include "cuda/agrees_with_header.hpp"

namespace arcalloc::preload {
namespace {

AGREES(cuMemAlloc, allocate_function, "cuMemAlloc_v2");
AGREES(cuMemFree, free_function, "cuMemFree_v2");
AGREES(cuMemGetInfo, memory_info_function, "cuMemGetInfo_v2");
AGREES(cuMemAllocAsync, allocate_async_function, "cuMemAllocAsync");
AGREES(cuMemFreeAsync, free_async_function, "cuMemFreeAsync");
AGREES(cuIpcGetMemHandle, share_function, "cuIpcGetMemHandle");
AGREES(cuMemGetAddressRange, range_function, "cuMemGetAddressRange_v2");
AGREES(cuStreamDestroy, destroy_stream_function, "cuStreamDestroy_v2");
AGREES(cuCtxDestroy, destroy_context_function, "cuCtxDestroy_v2");
AGREES(cuDevicePrimaryCtxRelease, leave_primary_function, "cuDevicePrimaryCtxRelease_v2");
AGREES(cuDevicePrimaryCtxReset, reset_primary_function, "cuDevicePrimaryCtxReset_v2");
AGREES(cuGetProcAddress, find_v2_function, "cuGetProcAddress_v2");
AGREES(cuStreamIsCapturing, is_capturing_function, "cuStreamIsCapturing");
AGREES(cuCtxGetCurrent, current_context_function, "cuCtxGetCurrent");
AGREES(cuCtxPushCurrent, push_context_function, "cuCtxPushCurrent_v2");
AGREES(cuCtxPopCurrent, pop_context_function, "cuCtxPopCurrent_v2");
AGREES(cuCtxSynchronize, synchronise_function, "cuCtxSynchronize");
AGREES(cuStreamSynchronize, synchronise_stream_function, "cuStreamSynchronize");
AGREES(cuThreadExchangeStreamCaptureMode, exchange_mode_function, "cuThreadExchangeStreamCaptureMode");
AGREES(cuDevicePrimaryCtxRetain, retain_primary_function, "cuDevicePrimaryCtxRetain");
AGREES(cuDevicePrimaryCtxGetState, primary_state_function, "cuDevicePrimaryCtxGetState");

#define IS(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs), #theirs)
IS(success, CUDA_SUCCESS);
IS(invalid_value, CUDA_ERROR_INVALID_VALUE);
IS(out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
IS(not_initialized, CUDA_ERROR_NOT_INITIALIZED);
IS(not_supported, CUDA_ERROR_NOT_SUPPORTED);
IS(capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
IS(mode_relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
IS(sizeof(device_address), sizeof(CUdeviceptr));

}  // namespace
}  // namespace arcalloc::preload

int main() {
  std::printf("21 functions and 8 values of the preload library agree with cuda.h of CUDA %d.%d\n", CUDA_VERSION / 1000,
              CUDA_VERSION % 1000 / 10);
  return 0;
}
