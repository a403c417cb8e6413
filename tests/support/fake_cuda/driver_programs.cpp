// SPDX-License-Identifier: Apache-2.0
// The driver's functions that programs call and the backend does not.
#include <cstring>
#include <iterator>

#include "driver_functions.hpp"

using arcalloc::event;
using arcalloc::status;
using arcalloc::cuda::context_handle;
using arcalloc::cuda::device_address;
using arcalloc::cuda::device_number;
using arcalloc::cuda::pool_handle;
using arcalloc::cuda::result;
using arcalloc::cuda::stream_handle;
using arcalloc::fake_cuda::call;
using arcalloc::fake_cuda::fake_device;
using arcalloc::fake_cuda::fake_driver;
using arcalloc::fake_cuda::needs;
using arcalloc::fake_cuda::rule;
using arcalloc::fake_cuda::this_thread;

namespace {

pool_handle* usual_pool(fake_device& device) {
  if (device.usual_pool == nullptr) {
    auto fresh = std::make_unique<pool_handle>();
    fresh->device = &device;
    device.usual_pool = fresh.get();
    device.pools.insert(std::move(fresh));
  }
  return device.usual_pool;
}

stream_handle* as_thread_stream(stream_handle* on) {
  return on == nullptr ? reinterpret_cast<stream_handle*>(arcalloc::cuda::per_thread_stream_number) : on;
}

struct named {
  const char* plain;
  int since;
  void* function;
};
template <class Function>
named entry(const char* plain, int since, Function* function) {
  return {plain, since, reinterpret_cast<void*>(function)};
}

/// What is under a name, newest first, with the version of CUDA that it came with.
void* newest(const char* symbol, int version, std::uint64_t flags) {
  constexpr std::uint64_t per_thread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
  const bool is_per_thread = (flags & per_thread) != 0;
  const named all[] = {
      entry("cuInit", 2000, &cuInit),
      entry("cuDevicePrimaryCtxRetain", 7000, &cuDevicePrimaryCtxRetain),
      entry("cuDevicePrimaryCtxRelease", 11000, &cuDevicePrimaryCtxRelease_v2),
      entry("cuCtxSetCurrent", 4000, &cuCtxSetCurrent),
      entry("cuCtxCreate", 3020, &cuCtxCreate_v2),
      entry("cuCtxDestroy", 4000, &cuCtxDestroy_v2),
      entry("cuMemAlloc", 3020, &cuMemAlloc_v2),
      entry("cuMemFree", 3020, &cuMemFree_v2),
      entry("cuMemGetInfo", 3020, &cuMemGetInfo_v2),
      entry("cuMemGetAddressRange", 3020, &cuMemGetAddressRange_v2),
      entry("cuMemAllocAsync", 11020, is_per_thread ? &cuMemAllocAsync_ptsz : &cuMemAllocAsync),
      entry("cuMemFreeAsync", 11020, is_per_thread ? &cuMemFreeAsync_ptsz : &cuMemFreeAsync),
      entry("cuStreamCreate", 2000, &cuStreamCreate),
      entry("cuStreamDestroy", 4000, &cuStreamDestroy_v2),
      entry("cuStreamSynchronize", 2000, &cuStreamSynchronize),
      entry("cuMemsetD8Async", 3020, &cuMemsetD8Async),
      entry("cuMemcpyDtoHAsync", 3020, &cuMemcpyDtoHAsync_v2),
      entry("cuEventCreate", 2000, &cuEventCreate),
      entry("cuEventRecord", 2000, &cuEventRecord),
      entry("cuStreamWaitEvent", 3020, &cuStreamWaitEvent),
      entry("cuStreamBeginCapture", 10010, &cuStreamBeginCapture_v2),
      entry("cuStreamEndCapture", 10000, &cuStreamEndCapture),
      entry("cuGetProcAddress", 12000, &cuGetProcAddress_v2),
      entry("cuGetProcAddress", 11030, &cuGetProcAddress),
  };
  for (const named& one : all) {
    if (std::strcmp(one.plain, symbol) == 0 && one.since <= version) return one.function;
  }
  return nullptr;
}

result look_up(const char* function, const char* symbol, void** out, int version, std::uint64_t flags) {
  return call(function, needs::nothing, [&](fake_driver& at) {
    *out = newest(symbol, at.holds(rule::lookups_give_what_the_version_has) ? version : 13000, flags);
    return *out == nullptr ? result::not_found : result::success;
  });
}

}  // namespace

extern "C" {

result cuMemAllocAsync(device_address* out, std::size_t bytes, stream_handle* on) {
  pool_handle* pool = nullptr;
  const result found = call("cuMemAllocAsync", needs::context, [&](fake_driver& at) {
    pool = usual_pool(at.current_device());
    return result::success;
  });
  return found != result::success ? found : cuMemAllocFromPoolAsync(out, bytes, pool, on);
}

result cuMemAllocAsync_ptsz(device_address* out, std::size_t bytes, stream_handle* on) {
  return cuMemAllocAsync(out, bytes, as_thread_stream(on));
}

result cuMemFreeAsync(device_address address, stream_handle* on) {
  return call("cuMemFreeAsync", needs::context, [&](fake_driver& at) {
    stream_handle* const where = at.stream_of(on);
    fake_device& device = at.current_device();
    if (where == nullptr) return result::invalid_handle;
    if (where->in != nullptr || device.memory.count(address) == 0) return result::invalid_value;
    if (at.holds(rule::async_frees_follow_their_stream)) {
      // The fake lets the stream come so far at once: nobody could have the memory before.
      event point = event::none;
      if (device.sim->record_event(where->number, point) != status::ok) return result::unknown;
      (void)device.sim->wait_event(point);
      device.sim->drop_event(point);
      at.run(device, *where->work, where->work->enqueued());
    }
    return at.take_back(device, address);
  });
}

result cuMemFreeAsync_ptsz(device_address address, stream_handle* on) {
  return cuMemFreeAsync(address, as_thread_stream(on));
}

result cuMemGetAddressRange_v2(device_address* base, std::size_t* bytes, device_address around) {
  return call("cuMemGetAddressRange", needs::context, [&](fake_driver& at) {
    const auto& memory = at.current_device().memory;
    const auto after = memory.upper_bound(around);
    if (after == memory.begin()) return result::not_found;
    const auto& [begin, lent] = *std::prev(after);
    if (around - begin >= lent.bytes) return result::not_found;
    *base = begin;
    *bytes = lent.bytes;
    return result::success;
  });
}

result cuIpcGetMemHandle(void* out, device_address address) {
  return call("cuIpcGetMemHandle", needs::context, [&](fake_driver& at) {
    if (at.current_device().memory.count(address) == 0) return result::invalid_value;
    std::memset(out, 0, 64);  // CU_IPC_HANDLE_SIZE
    std::memcpy(out, &address, sizeof address);
    return result::success;
  });
}

result cuCtxDestroy_v2(context_handle* context) {
  return call("cuCtxDestroy", needs::init, [&](fake_driver& at) {
    for (const auto& device : at.devices) {
      if (device == nullptr) continue;
      for (auto known = device->contexts.begin(); known != device->contexts.end(); ++known) {
        if (known->get() != context) continue;
        at.end_context(*context);
        if (at.current() == context) this_thread().pop();
        device->contexts.erase(known);
        return result::success;
      }
    }
    return result::invalid_context;
  });
}

result cuDevicePrimaryCtxReset_v2(device_number device) {
  return call("cuDevicePrimaryCtxReset", needs::init, [&](fake_driver& at) {
    fake_device* const known = at.known_device(device);
    if (known == nullptr) return result::invalid_device;
    at.end_context(known->primary);
    return result::success;
  });
}

result cuDevicePrimaryCtxGetState(device_number device, unsigned int* flags, int* exists) {
  return call("cuDevicePrimaryCtxGetState", needs::init, [&](fake_driver& at) {
    const fake_device* const known = at.known_device(device);
    if (known == nullptr) return result::invalid_device;
    *flags = 0;
    *exists = known->retained > 0 ? 1 : 0;
    return result::success;
  });
}

result cuGetProcAddress(const char* symbol, void** out, int version, std::uint64_t flags) {
  return look_up("cuGetProcAddress", symbol, out, version, flags);
}

result cuGetProcAddress_v2(const char* symbol, void** out, int version, std::uint64_t flags, int* how_found) {
  const result found = look_up("cuGetProcAddress", symbol, out, version, flags);
  if (how_found != nullptr) *how_found = found == result::success ? 0 : 1;
  return found;
}

}  // extern "C"
