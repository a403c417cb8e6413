// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fake_driver.hpp"

// The driver's functions, as the fake library exports them and tests look them up: what the backend calls by the types
// of driver_declarations.hpp, and what programs call besides. Names and signatures are the driver's (CUDA 13.0).

#define FAKE_CUDA_EXPORT __attribute__((visibility("default")))

extern "C" {

FAKE_CUDA_EXPORT arcalloc::cuda::init_function cuInit;
FAKE_CUDA_EXPORT arcalloc::cuda::driver_version_function cuDriverGetVersion;
FAKE_CUDA_EXPORT arcalloc::cuda::error_name_function cuGetErrorName;
FAKE_CUDA_EXPORT arcalloc::cuda::device_count_function cuDeviceGetCount;
FAKE_CUDA_EXPORT arcalloc::cuda::device_get_function cuDeviceGet;
FAKE_CUDA_EXPORT arcalloc::cuda::device_name_function cuDeviceGetName;
FAKE_CUDA_EXPORT arcalloc::cuda::device_attribute_function cuDeviceGetAttribute;
FAKE_CUDA_EXPORT arcalloc::cuda::retain_primary_function cuDevicePrimaryCtxRetain;
FAKE_CUDA_EXPORT arcalloc::cuda::leave_primary_function cuDevicePrimaryCtxRelease_v2;
FAKE_CUDA_EXPORT arcalloc::cuda::current_context_function cuCtxGetCurrent;
FAKE_CUDA_EXPORT arcalloc::cuda::push_context_function cuCtxPushCurrent_v2;
FAKE_CUDA_EXPORT arcalloc::cuda::pop_context_function cuCtxPopCurrent_v2;
FAKE_CUDA_EXPORT arcalloc::cuda::context_device_function cuCtxGetDevice;
FAKE_CUDA_EXPORT arcalloc::cuda::result cuCtxCreate_v2(arcalloc::cuda::context_handle** out, unsigned int flags,
                                                       arcalloc::cuda::device_number device);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuCtxDestroy_v2(arcalloc::cuda::context_handle* context);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuDevicePrimaryCtxReset_v2(arcalloc::cuda::device_number device);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuDevicePrimaryCtxGetState(arcalloc::cuda::device_number device,
                                                                   unsigned int* flags, int* exists);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuGetProcAddress(const char* symbol, void** out, int version,
                                                         std::uint64_t flags);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuGetProcAddress_v2(const char* symbol, void** out, int version,
                                                            std::uint64_t flags, int* how_found);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuCtxSetCurrent(arcalloc::cuda::context_handle* context);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuCtxSynchronize();

FAKE_CUDA_EXPORT arcalloc::cuda::allocate_function cuMemAlloc_v2;
FAKE_CUDA_EXPORT arcalloc::cuda::free_function cuMemFree_v2;
FAKE_CUDA_EXPORT arcalloc::cuda::memory_info_function cuMemGetInfo_v2;
FAKE_CUDA_EXPORT arcalloc::cuda::pool_create_function cuMemPoolCreate;
FAKE_CUDA_EXPORT arcalloc::cuda::pool_destroy_function cuMemPoolDestroy;
FAKE_CUDA_EXPORT arcalloc::cuda::pool_set_function cuMemPoolSetAttribute;
FAKE_CUDA_EXPORT arcalloc::cuda::pool_trim_function cuMemPoolTrimTo;
FAKE_CUDA_EXPORT arcalloc::cuda::pool_allocate_function cuMemAllocFromPoolAsync;
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemAllocAsync(arcalloc::cuda::device_address* out, std::size_t bytes,
                                                        arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemAllocAsync_ptsz(arcalloc::cuda::device_address* out, std::size_t bytes,
                                                             arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemFreeAsync(arcalloc::cuda::device_address address,
                                                       arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemFreeAsync_ptsz(arcalloc::cuda::device_address address,
                                                            arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemGetAddressRange_v2(arcalloc::cuda::device_address* base,
                                                                std::size_t* bytes, arcalloc::cuda::device_address at);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuIpcGetMemHandle(void* out, arcalloc::cuda::device_address address);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemsetD8Async(arcalloc::cuda::device_address to, unsigned char value,
                                                        std::size_t bytes, arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemcpyDtoDAsync_v2(arcalloc::cuda::device_address to,
                                                             arcalloc::cuda::device_address from, std::size_t bytes,
                                                             arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemcpyHtoDAsync_v2(arcalloc::cuda::device_address to, const void* from,
                                                             std::size_t bytes, arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemcpyDtoHAsync_v2(void* to, arcalloc::cuda::device_address from,
                                                             std::size_t bytes, arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemcpyHtoD_v2(arcalloc::cuda::device_address to, const void* from,
                                                        std::size_t bytes);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuMemcpyDtoH_v2(void* to, arcalloc::cuda::device_address from,
                                                        std::size_t bytes);

FAKE_CUDA_EXPORT arcalloc::cuda::result cuStreamCreate(arcalloc::cuda::stream_handle** out, unsigned int flags);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuStreamDestroy_v2(arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuStreamSynchronize(arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuStreamWaitEvent(arcalloc::cuda::stream_handle* on,
                                                          arcalloc::cuda::event_handle* after, unsigned int flags);
FAKE_CUDA_EXPORT arcalloc::cuda::event_create_function cuEventCreate;
FAKE_CUDA_EXPORT arcalloc::cuda::event_destroy_function cuEventDestroy_v2;
FAKE_CUDA_EXPORT arcalloc::cuda::event_record_function cuEventRecord;
FAKE_CUDA_EXPORT arcalloc::cuda::event_query_function cuEventQuery;
FAKE_CUDA_EXPORT arcalloc::cuda::event_wait_function cuEventSynchronize;

FAKE_CUDA_EXPORT arcalloc::cuda::exchange_mode_function cuThreadExchangeStreamCaptureMode;
FAKE_CUDA_EXPORT arcalloc::cuda::capture_info_function cuStreamGetCaptureInfo;
FAKE_CUDA_EXPORT arcalloc::cuda::capture_info_v2_function cuStreamGetCaptureInfo_v2;
FAKE_CUDA_EXPORT arcalloc::cuda::capture_info_v3_function cuStreamGetCaptureInfo_v3;
FAKE_CUDA_EXPORT arcalloc::cuda::result cuStreamIsCapturing(arcalloc::cuda::stream_handle* on,
                                                            arcalloc::cuda::capture_status* out);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuStreamBeginCapture_v2(arcalloc::cuda::stream_handle* on,
                                                                arcalloc::cuda::capture_mode mode);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuStreamEndCapture(arcalloc::cuda::stream_handle* on,
                                                           arcalloc::fake_cuda::graph_handle** out);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuGraphInstantiateWithFlags(arcalloc::fake_cuda::graph_handle** out,
                                                                    arcalloc::fake_cuda::graph_handle* graph,
                                                                    unsigned long long flags);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuGraphLaunch(arcalloc::fake_cuda::graph_handle* graph,
                                                      arcalloc::cuda::stream_handle* on);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuGraphExecDestroy(arcalloc::fake_cuda::graph_handle* graph);
FAKE_CUDA_EXPORT arcalloc::cuda::result cuGraphDestroy(arcalloc::fake_cuda::graph_handle* graph);
}
