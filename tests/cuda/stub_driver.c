/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda that has some of the functions and does next to nothing: STUB_VERSION is the CUDA that it says it is, and
 * what came later is missing. Its memory is misaligned, its streams are in capture 7. */
#include <stddef.h>
#include <stdint.h>

#if STUB_VERSION > 0
#define STUB(name, parameters, body) \
  int name parameters;               \
  int name parameters { body return 0; }

STUB(cuDriverGetVersion, (int* version), *version = STUB_VERSION;)
STUB(cuInit, (unsigned int flags), (void)flags;)
STUB(cuGetErrorName, (int error, const char** name), (void)error; *name = "STUB";)
STUB(cuDeviceGetCount, (int* count), *count = 1;)
STUB(cuDeviceGet, (int* out, int ordinal), *out = ordinal;)
STUB(cuDeviceGetName, (char* name, int capacity, int device), (void)capacity; (void)device; name[0] = '\0';)
STUB(cuDeviceGetAttribute, (int* out, int attribute, int device), (void)attribute; (void)device; *out = 0;)
STUB(cuDevicePrimaryCtxRetain, (void** out, int device), (void)device; *out = out;)
STUB(cuCtxGetCurrent, (void** out), *out = NULL;)
STUB(cuCtxPushCurrent_v2, (void* context), (void)context;)
STUB(cuCtxPopCurrent_v2, (void** out), *out = NULL;)
STUB(cuCtxGetDevice, (int* out), *out = 0;)
STUB(cuMemAlloc_v2, (unsigned long long* out, size_t bytes), (void)bytes; *out = 0x10100;)
STUB(cuMemGetInfo_v2, (size_t * free_bytes, size_t* total), *free_bytes = 1; *total = 1;)
STUB(cuEventCreate, (void** out, unsigned int flags), (void)flags; *out = NULL;)
STUB(cuEventDestroy_v2, (void* event), (void)event;)
STUB(cuEventRecord, (void* event, void* stream), (void)event; (void)stream;)
STUB(cuEventQuery, (void* event), (void)event;)
STUB(cuEventSynchronize, (void* event), (void)event;)
STUB(cuThreadExchangeStreamCaptureMode, (unsigned int* mode), (void)mode;)
STUB(cuStreamGetCaptureInfo, (void* stream, unsigned int* status, uint64_t* id), (void)stream; *status = 1; *id = 7;)

int stub_frees = 0;
STUB(cuMemFree_v2, (unsigned long long address), stub_frees += address == 0x10100;)
#if STUB_VERSION >= 11000
STUB(cuDevicePrimaryCtxRelease_v2, (int device), (void)device;)
#endif
#else
int no_driver_at_all = 0;
#endif
