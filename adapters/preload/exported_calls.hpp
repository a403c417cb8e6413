// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver_calls.hpp"

// The driver's functions as a program under the preload library finds them, by the driver's names.

#define ARCALLOC_PRELOAD_EXPORT __attribute__((visibility("default")))

extern "C" {

ARCALLOC_PRELOAD_EXPORT arcalloc::preload::allocate_function cuMemAlloc_v2;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::free_function cuMemFree_v2;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::memory_info_function cuMemGetInfo_v2;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::allocate_async_function cuMemAllocAsync;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::allocate_async_function cuMemAllocAsync_ptsz;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::free_async_function cuMemFreeAsync;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::free_async_function cuMemFreeAsync_ptsz;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::share_function cuIpcGetMemHandle;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::range_function cuMemGetAddressRange_v2;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::destroy_stream_function cuStreamDestroy_v2;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::destroy_context_function cuCtxDestroy_v2;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::leave_primary_function cuDevicePrimaryCtxRelease_v2;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::reset_primary_function cuDevicePrimaryCtxReset_v2;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::find_function cuGetProcAddress;
ARCALLOC_PRELOAD_EXPORT arcalloc::preload::find_v2_function cuGetProcAddress_v2;
}
