// SPDX-License-Identifier: Apache-2.0
#include "driver_library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>

namespace arcalloc::cuda {

namespace {

constexpr const char* usual_library = "libcuda.so.1";

// The process that initialised a driver first: its children cannot use it.
constinit std::atomic<pid_t> initialised_in{0};

/// `out` is null where the library has no such symbol.
template <class Function>
bool find(void* library, const char* symbol, Function*& out) noexcept {
  out = reinterpret_cast<Function*>(::dlsym(library, symbol));
  return out != nullptr;
}

}  // namespace

version_text::version_text(int version) noexcept {
  std::snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
}

bool driver_library::find_all(void* library, error_text& why) noexcept {
  if (!find(library, "cuDriverGetVersion", driver_version) || driver_version(&version) != result::success) {
    why.set("cuDriverGetVersion is missing from the library, or fails: this is no CUDA driver");
    return false;
  }
  const char* missing = nullptr;
  const char* since = nullptr;
  const auto need = [&](const char* symbol, const char* came_with, auto*& out) {
    if (!find(library, symbol, out) && missing == nullptr) {
      missing = symbol;
      since = came_with;
    }
  };
  need("cuInit", "2.0", init);
  need("cuGetErrorName", "6.0", error_name);
  need("cuDeviceGetCount", "2.0", device_count);
  need("cuDeviceGet", "2.0", device_get);
  need("cuDeviceGetName", "2.0", device_name);
  need("cuDeviceGetAttribute", "2.0", device_attribute);
  need("cuDevicePrimaryCtxRetain", "7.0", retain_primary);
  need("cuDevicePrimaryCtxRelease_v2", "11.0", leave_primary);
  need("cuCtxGetCurrent", "4.0", current_context);
  need("cuCtxPushCurrent_v2", "4.0", push_context);
  need("cuCtxPopCurrent_v2", "4.0", pop_context);
  need("cuCtxGetDevice", "2.0", context_device);
  need("cuMemAlloc_v2", "3.2", allocate);
  need("cuMemFree_v2", "3.2", free);
  need("cuMemGetInfo_v2", "3.2", memory_info);
  need("cuEventCreate", "2.0", event_create);
  need("cuEventDestroy_v2", "4.0", event_destroy);
  need("cuEventRecord", "2.0", event_record);
  need("cuEventQuery", "2.0", event_query);
  need("cuEventSynchronize", "2.0", event_wait);
  need("cuThreadExchangeStreamCaptureMode", "10.1", exchange_mode);
  if (!find(library, "cuStreamGetCaptureInfo_v3", capture_info_v3_) &&
      !find(library, "cuStreamGetCaptureInfo_v2", capture_info_v2_)) {
    need("cuStreamGetCaptureInfo", "10.1", capture_info_v1_);
  }
  if (missing == nullptr) return true;
  why.set("the driver (CUDA %s) has no %s, which came with CUDA %s; arcalloc needs CUDA 11.0 or newer",
          version_text(version).text, missing, since);
  return false;
}

void driver_library::find_pools(void* library) noexcept {
  const bool has_all =
      find(library, "cuMemPoolCreate", pool_create) && find(library, "cuMemPoolDestroy", pool_destroy) &&
      find(library, "cuMemPoolSetAttribute", pool_set) && find(library, "cuMemPoolTrimTo", pool_trim) &&
      find(library, "cuMemAllocFromPoolAsync", pool_allocate);
  if (!has_all) pool_allocate = nullptr;
}

status driver_library::open(const char* path, error_text& why) noexcept {
  void* const library = ::dlopen(path != nullptr ? path : usual_library, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it by thread
    why.set("no CUDA driver: %s", reason != nullptr ? reason : "it cannot be loaded");
    return status::backend_unavailable;
  }
  if (!find_all(library, why)) return status::backend_unavailable;
  find_pools(library);
  const pid_t first = initialised_in.load(std::memory_order_relaxed);
  if (first != 0 && first != ::getpid()) {
    why.set("this process was forked from process %ld, which had initialised CUDA; a child cannot use it",
            static_cast<long>(first));
    return status::backend_unavailable;
  }
  const result started = init(0);
  if (started == result::success) {
    initialised_in.store(::getpid(), std::memory_order_relaxed);
    return status::ok;
  }
  if (started == result::stub_library) {
    why.set("cuInit: the library found is the toolkit's stub, not the driver's: see LD_LIBRARY_PATH");
  } else if (started == result::no_device) {
    why.set("cuInit: the driver sees no device");
  } else {
    why.set("cuInit: %s (%u)", name_of(started), static_cast<unsigned int>(started));
  }
  return status::backend_unavailable;
}

result driver_library::capture_info(stream_handle* on, capture_status& out, std::uint64_t& id) const noexcept {
  out = capture_status::none;
  id = 0;
  if (capture_info_v3_ != nullptr) return capture_info_v3_(on, &out, &id, nullptr, nullptr, nullptr, nullptr);
  if (capture_info_v2_ != nullptr) return capture_info_v2_(on, &out, &id, nullptr, nullptr, nullptr);
  return capture_info_v1_(on, &out, &id);
}

const char* driver_library::name_of(result outcome) const noexcept {
  const char* name = nullptr;
  if (error_name == nullptr || error_name(outcome, &name) != result::success || name == nullptr) {
    return "an unknown result";
  }
  return name;
}

}  // namespace arcalloc::cuda
