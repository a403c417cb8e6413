// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "support/fake_cuda/driver_functions.hpp"

namespace arcalloc::testing {

// Flags of cuStreamCreate.
inline constexpr unsigned int blocking = 0;
inline constexpr unsigned int non_blocking = 1;

/// The fake driver, loaded as the backend loads it: ARCALLOC_FAKE_CUDA is its path. There is one in a process.
struct loaded_fake {
  static loaded_fake& get() {
    static loaded_fake only;
    return only;
  }

  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    auto* const found = reinterpret_cast<Function*>(::dlsym(library, name));
    if (found == nullptr) fail(name);
    return found;
  }

  /// A new process with an initialised driver, and the primary context of device 0 on this thread.
  void begin(const fake_cuda::settings& how = {}) {
    fake.reset(how);
    if (init(0) != cuda::result::success) fail("cuInit");
    enter();
  }
  void enter() {
    cuda::context_handle* context = nullptr;
    if (retain(&context, 0) != cuda::result::success) fail("cuDevicePrimaryCtxRetain");
    if (push(context) != cuda::result::success) fail("cuCtxPushCurrent_v2");
  }
  /// Runs it on another thread, in the same context, to its end.
  void elsewhere(const std::function<void()>& body) {
    std::thread([&] {
      enter();
      body();
    }).join();
  }
  [[nodiscard]] cuda::stream_handle* make_stream(unsigned int flags) const {
    cuda::stream_handle* made = nullptr;
    return create_stream(&made, flags) == cuda::result::success ? made : nullptr;
  }
  [[nodiscard]] stream number(cuda::stream_handle* on) const { return fake.number_of(0, on); }
  [[nodiscard]] static cuda::stream_handle* special(std::uintptr_t number) {
    return reinterpret_cast<cuda::stream_handle*>(number);
  }

  void* library = ::dlopen(ARCALLOC_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  fake_cuda::control& fake = *find<decltype(arcalloc_fake_cuda)>("arcalloc_fake_cuda")();

  decltype(cuInit)* init = find<decltype(cuInit)>("cuInit");
  decltype(cuDeviceGetCount)* device_count = find<decltype(cuDeviceGetCount)>("cuDeviceGetCount");
  decltype(cuDevicePrimaryCtxRetain)* retain = find<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  decltype(cuCtxCreate_v2)* create_context = find<decltype(cuCtxCreate_v2)>("cuCtxCreate_v2");
  decltype(cuCtxPushCurrent_v2)* push = find<decltype(cuCtxPushCurrent_v2)>("cuCtxPushCurrent_v2");
  decltype(cuCtxPopCurrent_v2)* pop = find<decltype(cuCtxPopCurrent_v2)>("cuCtxPopCurrent_v2");
  decltype(cuCtxGetCurrent)* current = find<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  decltype(cuMemAlloc_v2)* allocate = find<decltype(cuMemAlloc_v2)>("cuMemAlloc_v2");
  decltype(cuMemFree_v2)* free = find<decltype(cuMemFree_v2)>("cuMemFree_v2");
  decltype(cuMemGetInfo_v2)* info = find<decltype(cuMemGetInfo_v2)>("cuMemGetInfo_v2");
  decltype(cuMemPoolCreate)* create_pool = find<decltype(cuMemPoolCreate)>("cuMemPoolCreate");
  decltype(cuMemPoolTrimTo)* trim_pool = find<decltype(cuMemPoolTrimTo)>("cuMemPoolTrimTo");
  decltype(cuMemAllocFromPoolAsync)* allocate_from = find<decltype(cuMemAllocFromPoolAsync)>("cuMemAllocFromPoolAsync");
  decltype(cuMemsetD8Async)* set = find<decltype(cuMemsetD8Async)>("cuMemsetD8Async");
  decltype(cuMemcpyHtoD_v2)* copy_to_device = find<decltype(cuMemcpyHtoD_v2)>("cuMemcpyHtoD_v2");
  decltype(cuMemcpyDtoH_v2)* copy_to_host = find<decltype(cuMemcpyDtoH_v2)>("cuMemcpyDtoH_v2");
  decltype(cuMemcpyDtoDAsync_v2)* copy_on = find<decltype(cuMemcpyDtoDAsync_v2)>("cuMemcpyDtoDAsync_v2");
  decltype(cuMemcpyHtoDAsync_v2)* copy_to_device_on = find<decltype(cuMemcpyHtoDAsync_v2)>("cuMemcpyHtoDAsync_v2");
  decltype(cuMemcpyDtoHAsync_v2)* copy_to_host_on = find<decltype(cuMemcpyDtoHAsync_v2)>("cuMemcpyDtoHAsync_v2");
  decltype(cuStreamSynchronize)* synchronise_stream = find<decltype(cuStreamSynchronize)>("cuStreamSynchronize");
  decltype(cuStreamCreate)* create_stream = find<decltype(cuStreamCreate)>("cuStreamCreate");
  decltype(cuStreamWaitEvent)* wait = find<decltype(cuStreamWaitEvent)>("cuStreamWaitEvent");
  decltype(cuEventCreate)* create_event = find<decltype(cuEventCreate)>("cuEventCreate");
  decltype(cuEventDestroy_v2)* destroy_event = find<decltype(cuEventDestroy_v2)>("cuEventDestroy_v2");
  decltype(cuEventRecord)* record = find<decltype(cuEventRecord)>("cuEventRecord");
  decltype(cuEventQuery)* query = find<decltype(cuEventQuery)>("cuEventQuery");
  decltype(cuEventSynchronize)* synchronise = find<decltype(cuEventSynchronize)>("cuEventSynchronize");
  decltype(cuThreadExchangeStreamCaptureMode)* exchange =
      find<decltype(cuThreadExchangeStreamCaptureMode)>("cuThreadExchangeStreamCaptureMode");
  decltype(cuStreamGetCaptureInfo)* capture_info = find<decltype(cuStreamGetCaptureInfo)>("cuStreamGetCaptureInfo");
  decltype(cuStreamBeginCapture_v2)* begin_capture = find<decltype(cuStreamBeginCapture_v2)>("cuStreamBeginCapture_v2");
  decltype(cuStreamEndCapture)* end_capture = find<decltype(cuStreamEndCapture)>("cuStreamEndCapture");
  decltype(cuGraphInstantiateWithFlags)* instantiate =
      find<decltype(cuGraphInstantiateWithFlags)>("cuGraphInstantiateWithFlags");
  decltype(cuGraphLaunch)* launch = find<decltype(cuGraphLaunch)>("cuGraphLaunch");
  decltype(cuGraphDestroy)* destroy_graph = find<decltype(cuGraphDestroy)>("cuGraphDestroy");
  decltype(cuGraphExecDestroy)* destroy_executable = find<decltype(cuGraphExecDestroy)>("cuGraphExecDestroy");

 private:
  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "the fake driver %s: %s\n", ARCALLOC_FAKE_CUDA, what);
    std::abort();
  }
};

inline loaded_fake& at() { return loaded_fake::get(); }

}  // namespace arcalloc::testing
