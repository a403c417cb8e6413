// SPDX-License-Identifier: Apache-2.0
// What CUB's caching allocator needs of CUDA's runtime: declarations of our own, and nine functions over the fake
// driver. Must be included before CUB. Requires: stand_on() was called before the first of them.
#pragma once

#include <cstddef>

#include "../fake_driver.hpp"

#define __host__
#define __device__
#define __forceinline__ inline

using cudaStream_t = struct faked_stream*;
using cudaEvent_t = struct faked_event*;
enum cudaError_t : int { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
inline constexpr unsigned cudaEventDisableTiming = 2;

cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetLastError();
cudaError_t cudaMalloc(void** address, std::size_t bytes);
cudaError_t cudaFree(void* address);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t on);
cudaError_t cudaEventQuery(cudaEvent_t event);

namespace arcalloc::bench {

/// The driver that these functions ask from now on.
void stand_on(fake_driver& driver) noexcept;

}  // namespace arcalloc::bench
