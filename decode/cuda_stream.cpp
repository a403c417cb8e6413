// SPDX-License-Identifier: Apache-2.0
#include "decode/cuda_stream.hpp"

#include <dlfcn.h>

#include <cstdint>

namespace arcalloc::decode {

namespace {

using device_address = unsigned long long;  // CUdeviceptr

constexpr int success = 0;
constexpr unsigned int non_blocking = 1;          // CU_STREAM_NON_BLOCKING
constexpr unsigned int event_without_timing = 2;  // CU_EVENT_DISABLE_TIMING
constexpr int mode_global = 0;                    // CU_STREAM_CAPTURE_MODE_GLOBAL: the one that forbids others most

device_address address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

}  // namespace

/// By the names that the driver exports; cuGraphInstantiateWithFlags came last, with CUDA 11.4.
struct cuda_stream::functions {
  explicit functions(const char* path) : library(::dlopen(path != nullptr ? path : "libcuda.so.1", RTLD_NOW)) {
    if (library == nullptr) throw device_error{std::string("no CUDA driver: ").append(::dlerror())};
    find("cuGetErrorName", error_name);
    find("cuCtxPushCurrent_v2", push_context);
    find("cuCtxPopCurrent_v2", pop_context);
    find("cuStreamCreate", create_stream);
    find("cuStreamDestroy_v2", destroy_stream);
    find("cuStreamSynchronize", synchronise);
    find("cuEventCreate", create_event);
    find("cuEventRecord", record);
    find("cuStreamWaitEvent", wait);
    find("cuEventDestroy_v2", destroy_event);
    find("cuMemsetD8Async", set);
    find("cuMemcpyDtoDAsync_v2", copy);
    find("cuMemcpyHtoDAsync_v2", copy_in);
    find("cuMemcpyDtoHAsync_v2", copy_out);
    find("cuStreamBeginCapture_v2", begin_capture);
    find("cuStreamEndCapture", end_capture);
    find("cuGraphInstantiateWithFlags", instantiate);
    find("cuGraphLaunch", launch);
    find("cuGraphDestroy", destroy_graph);
    find("cuGraphExecDestroy", destroy_executable);
  }

  template <class Function>
  void find(const char* symbol, Function*& out) const {
    out = reinterpret_cast<Function*>(::dlsym(library, symbol));
    if (out == nullptr) throw device_error{std::string("the driver has no ").append(symbol)};
  }

  void* library;
  int (*error_name)(int error, const char** name) = nullptr;
  int (*push_context)(void* context) = nullptr;
  int (*pop_context)(void** context) = nullptr;
  int (*create_stream)(void** out, unsigned int flags) = nullptr;
  int (*destroy_stream)(void* on) = nullptr;
  int (*synchronise)(void* on) = nullptr;
  int (*create_event)(void** out, unsigned int flags) = nullptr;
  int (*record)(void* event, void* on) = nullptr;
  int (*wait)(void* on, void* event, unsigned int flags) = nullptr;
  int (*destroy_event)(void* event) = nullptr;
  int (*set)(device_address to, unsigned char value, std::size_t bytes, void* on) = nullptr;
  int (*copy)(device_address to, device_address from, std::size_t bytes, void* on) = nullptr;
  int (*copy_in)(device_address to, const void* from, std::size_t bytes, void* on) = nullptr;
  int (*copy_out)(void* to, device_address from, std::size_t bytes, void* on) = nullptr;
  int (*begin_capture)(void* on, int mode) = nullptr;
  int (*end_capture)(void* on, void** graph) = nullptr;
  int (*instantiate)(void** out, void* graph, unsigned long long flags) = nullptr;
  int (*launch)(void* executable, void* on) = nullptr;
  int (*destroy_graph)(void* graph) = nullptr;
  int (*destroy_executable)(void* executable) = nullptr;
};

cuda_stream::cuda_stream(const cuda_backend& device, const char* driver_path)
    : driver_(std::make_unique<functions>(driver_path)) {
  check(driver_->push_context(device.context()), "cuCtxPushCurrent");
  const int made = driver_->create_stream(&stream_, non_blocking);
  void* popped = nullptr;
  if (made != success) (void)driver_->pop_context(&popped);
  check(made, "cuStreamCreate");
}

cuda_stream::~cuda_stream() {
  // What fails now has nobody left to tell, and the process ends soon.
  (void)driver_->synchronise(stream_);
  (void)driver_->destroy_stream(stream_);
  void* popped = nullptr;
  (void)driver_->pop_context(&popped);
}

void cuda_stream::check(int outcome, const char* call) const {
  if (outcome == success) return;
  const char* name = nullptr;
  std::string message(call);
  message.append(": ");
  const bool is_named = driver_->error_name(outcome, &name) == success && name != nullptr;
  throw device_error{message.append(is_named ? name : std::to_string(outcome))};
}

stream cuda_stream::on() const noexcept { return cuda_backend::stream_of(stream_); }

void cuda_stream::set(void* to, unsigned char value, std::size_t bytes) {
  if (bytes != 0) check(driver_->set(address_of(to), value, bytes, stream_), "cuMemsetD8Async");
}

void cuda_stream::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) check(driver_->copy(address_of(to), address_of(from), bytes, stream_), "cuMemcpyDtoDAsync");
}

void cuda_stream::copy_in(void* to, const void* from, std::size_t bytes) {
  check(driver_->copy_in(address_of(to), from, bytes, stream_), "cuMemcpyHtoDAsync");
  // The host's bytes are the caller's again.
  check(driver_->synchronise(stream_), "cuStreamSynchronize");
}

void cuda_stream::copy_out(void* to, const void* from, std::size_t bytes) {
  check(driver_->copy_out(to, address_of(from), bytes, stream_), "cuMemcpyDtoHAsync");
  check(driver_->synchronise(stream_), "cuStreamSynchronize");
}

void cuda_stream::wait_for(cuda_stream& earlier) {
  void* event = nullptr;
  check(driver_->create_event(&event, event_without_timing), "cuEventCreate");
  int outcome = driver_->record(event, earlier.stream_);
  const char* const call = outcome == success ? "cuStreamWaitEvent" : "cuEventRecord";
  if (outcome == success) outcome = driver_->wait(stream_, event, 0);
  // The order stays though the event is no more.
  (void)driver_->destroy_event(event);
  check(outcome, call);
}

void cuda_stream::begin_capture() { check(driver_->begin_capture(stream_, mode_global), "cuStreamBeginCapture"); }

std::function<void()> cuda_stream::end_capture() {
  void* graph = nullptr;
  void* executable = nullptr;
  check(driver_->end_capture(stream_, &graph), "cuStreamEndCapture");
  const int made = driver_->instantiate(&executable, graph, 0);
  (void)driver_->destroy_graph(graph);
  check(made, "cuGraphInstantiate");
  const std::shared_ptr<void> owned(executable, [driver = driver_.get()](void* gone) {
    (void)driver->destroy_executable(gone);  // one that still runs goes when it has
  });
  return [this, owned] { check(driver_->launch(owned.get(), stream_), "cuGraphLaunch"); };
}

void cuda_stream::abort_capture() noexcept {
  void* graph = nullptr;
  if (driver_->end_capture(stream_, &graph) == success && graph != nullptr) (void)driver_->destroy_graph(graph);
}

}  // namespace arcalloc::decode
