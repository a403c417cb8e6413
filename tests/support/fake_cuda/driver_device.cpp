// SPDX-License-Identifier: Apache-2.0
// The driver's functions on versions, devices and contexts.
#include <cstdio>

#include "driver_functions.hpp"

using arcalloc::cuda::context_handle;
using arcalloc::cuda::device_number;
using arcalloc::cuda::result;
using arcalloc::fake_cuda::call;
using arcalloc::fake_cuda::fake_device;
using arcalloc::fake_cuda::fake_driver;
using arcalloc::fake_cuda::needs;
using arcalloc::fake_cuda::this_thread;

namespace {

struct named_result {
  result value;
  const char* name;
};

constexpr named_result names[] = {
    {result::success, "CUDA_SUCCESS"},
    {result::invalid_value, "CUDA_ERROR_INVALID_VALUE"},
    {result::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {result::not_initialized, "CUDA_ERROR_NOT_INITIALIZED"},
    {result::deinitialized, "CUDA_ERROR_DEINITIALIZED"},
    {result::stub_library, "CUDA_ERROR_STUB_LIBRARY"},
    {result::device_unavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {result::no_device, "CUDA_ERROR_NO_DEVICE"},
    {result::invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
    {result::invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
    {result::invalid_handle, "CUDA_ERROR_INVALID_HANDLE"},
    {result::illegal_state, "CUDA_ERROR_ILLEGAL_STATE"},
    {result::not_ready, "CUDA_ERROR_NOT_READY"},
    {result::illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {result::not_supported, "CUDA_ERROR_NOT_SUPPORTED"},
    {result::capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {result::capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {result::capture_unmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {result::capture_isolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {result::capture_implicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {result::captured_event, "CUDA_ERROR_CAPTURED_EVENT"},
    {result::capture_wrong_thread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    {result::unknown, "CUDA_ERROR_UNKNOWN"},
};

}  // namespace

extern "C" {

result cuInit(unsigned int flags) {
  return call("cuInit", needs::nothing, [&](fake_driver& at) {
    if (flags != 0) return result::invalid_value;
    if (at.devices.empty()) return result::no_device;
    at.is_initialised = true;
    return result::success;
  });
}

result cuDriverGetVersion(int* version) {
  return call("cuDriverGetVersion", needs::nothing, [&](fake_driver& at) {
    if (version == nullptr) return result::invalid_value;
    *version = at.how.version;
    return result::success;
  });
}

result cuGetErrorName(result error, const char** name) {
  *name = nullptr;
  for (const named_result& one : names) {
    if (one.value == error) *name = one.name;
  }
  return *name == nullptr ? result::invalid_value : result::success;
}

result cuDeviceGetCount(int* count) {
  return call("cuDeviceGetCount", needs::init, [&](fake_driver& at) {
    *count = static_cast<int>(at.devices.size());
    return result::success;
  });
}

result cuDeviceGet(device_number* out, int ordinal) {
  return call("cuDeviceGet", needs::init, [&](fake_driver& at) {
    if (at.known_device(ordinal) == nullptr) return result::invalid_device;
    *out = ordinal;
    return result::success;
  });
}

result cuDeviceGetName(char* name, int capacity, device_number device) {
  return call("cuDeviceGetName", needs::init, [&](fake_driver& at) {
    if (at.known_device(device) == nullptr) return result::invalid_device;
    std::snprintf(name, static_cast<std::size_t>(capacity), "simulated device %d", device);
    return result::success;
  });
}

result cuDeviceGetAttribute(int* out, int attribute, device_number device) {
  return call("cuDeviceGetAttribute", needs::init, [&](fake_driver& at) {
    if (at.known_device(device) == nullptr) return result::invalid_device;
    *out = attribute == arcalloc::cuda::attribute_memory_pools_supported ? 1 : 0;
    return result::success;
  });
}

result cuDevicePrimaryCtxRetain(context_handle** out, device_number device) {
  return call("cuDevicePrimaryCtxRetain", needs::init, [&](fake_driver& at) {
    fake_device* const known = at.known_device(device);
    if (known == nullptr) return result::invalid_device;
    ++known->retained;
    *out = &known->primary;
    return result::success;
  });
}

result cuDevicePrimaryCtxRelease_v2(device_number device) {
  return call("cuDevicePrimaryCtxRelease", needs::init, [&](fake_driver& at) {
    fake_device* const known = at.known_device(device);
    if (known == nullptr) return result::invalid_device;
    if (known->retained == 0) return result::invalid_context;
    --known->retained;
    return result::success;
  });
}

result cuCtxCreate_v2(context_handle** out, unsigned int, device_number device) {
  return call("cuCtxCreate", needs::init, [&](fake_driver& at) {
    fake_device* const known = at.known_device(device);
    if (known == nullptr) return result::invalid_device;
    auto fresh = std::make_unique<context_handle>();
    fresh->device = known;
    fresh->legacy = {fresh.get(), known->primary.legacy.number, true, true, nullptr};
    *out = fresh.get();
    known->contexts.insert(std::move(fresh));
    return this_thread().push(*out) ? result::success : result::out_of_memory;
  });
}

result cuCtxGetCurrent(context_handle** out) {
  return call("cuCtxGetCurrent", needs::init, [&](fake_driver& at) {
    *out = at.current();
    return result::success;
  });
}

result cuCtxSetCurrent(context_handle* context) {
  return call("cuCtxSetCurrent", needs::init, [&](fake_driver&) {
    this_thread().pop();
    return context == nullptr || this_thread().push(context) ? result::success : result::out_of_memory;
  });
}

result cuCtxPushCurrent_v2(context_handle* context) {
  return call("cuCtxPushCurrent", needs::init, [&](fake_driver&) {
    if (context == nullptr) return result::invalid_context;
    return this_thread().push(context) ? result::success : result::out_of_memory;
  });
}

result cuCtxPopCurrent_v2(context_handle** out) {
  return call("cuCtxPopCurrent", needs::context, [&](fake_driver& at) {
    *out = at.current();
    this_thread().pop();
    return result::success;
  });
}

result cuCtxGetDevice(device_number* out) {
  return call("cuCtxGetDevice", needs::context, [&](fake_driver& at) {
    *out = at.current_device().ordinal;
    return result::success;
  });
}

result cuCtxSynchronize() {
  return call("cuCtxSynchronize", needs::context, [&](fake_driver& at) {
    const result may = at.unsafe_call("cuCtxSynchronize");
    if (may == result::success) at.synchronise(at.current_device());
    return may;
  });
}

}  // extern "C"
