// SPDX-License-Identifier: Apache-2.0
// The driver's functions on memory and its pools.
#include "driver_functions.hpp"

using arcalloc::event;
using arcalloc::memory_info;
using arcalloc::status;
using arcalloc::stream;
using arcalloc::cuda::device_address;
using arcalloc::cuda::pool_handle;
using arcalloc::cuda::pool_properties;
using arcalloc::cuda::result;
using arcalloc::cuda::stream_handle;
using arcalloc::fake_cuda::call;
using arcalloc::fake_cuda::fake_device;
using arcalloc::fake_cuda::fake_driver;
using arcalloc::fake_cuda::needs;
using arcalloc::fake_cuda::result_of;
using arcalloc::fake_cuda::rule;
using arcalloc::fake_cuda::work_item;

namespace {

std::size_t rounded(const fake_device& device, std::size_t bytes) {
  const std::size_t granule = device.sim->granularity();
  return (bytes + granule - 1) / granule * granule;
}

void* pointer(device_address address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }

result lend(fake_driver& at, fake_device& device, std::size_t bytes, pool_handle* pool, device_address* out) {
  if (bytes == 0 && at.holds(rule::no_memory_of_zero_bytes)) return result::invalid_value;
  const std::size_t taken = rounded(device, bytes == 0 ? 1 : bytes);
  void* address = nullptr;
  at.look_at_card(device);
  // On no stream of the engine's: the simulated device would take that for a call in its capture.
  const status lent = device.sim->allocate(taken, device.primary.legacy.number, address);
  if (lent != status::ok) {
    const result said = result_of(lent);
    return said == result::out_of_memory && !at.holds(rule::out_of_memory_is_said) ? result::unknown : said;
  }
  *out = reinterpret_cast<std::uintptr_t>(address);
  device.memory[*out] = {taken, pool, pool == nullptr ? at.current() : nullptr};
  if (at.how.has_contents) device.bytes.lend(*out, taken);
  at.tell_card(device);
  return result::success;
}

/// A call of the driver on a stream's memory: checks the stream, and enqueues.
result enqueue(const char* function, stream_handle* on, const work_item& item) {
  return call(function, needs::context, [&](fake_driver& at) {
    stream_handle* const where = at.stream_of(on);
    return where == nullptr ? result::invalid_handle : at.enqueue(*where, item);
  });
}

/// The same on the legacy stream, and waited for: what a copy without a stream is.
result enqueue_and_wait(const char* function, const work_item& item) {
  const result may = call(function, needs::context, [&](fake_driver& at) { return at.unsafe_call(function); });
  const result enqueued = may != result::success ? may : enqueue(function, nullptr, item);
  return enqueued != result::success ? enqueued : cuStreamSynchronize(nullptr);
}

work_item copy_to_device(device_address to, const void* from, std::size_t bytes) {
  work_item item;
  item.is = work_item::what::to_device;
  item.to = to;
  item.bytes = bytes;
  item.host = const_cast<void*>(from);
  return item;
}

work_item copy_to_host(void* to, device_address from, std::size_t bytes) {
  work_item item;
  item.is = work_item::what::to_host;
  item.from = from;
  item.bytes = bytes;
  item.host = to;
  return item;
}

}  // namespace

extern "C" {

result cuMemAlloc_v2(device_address* out, std::size_t bytes) {
  return call("cuMemAlloc", needs::context, [&](fake_driver& at) {
    const result may = at.unsafe_call("cuMemAlloc");
    return may != result::success ? may : lend(at, at.current_device(), bytes, nullptr, out);
  });
}

result cuMemFree_v2(device_address address) {
  return call("cuMemFree", needs::context, [&](fake_driver& at) {
    if (address == 0) return result::success;
    const result may = at.unsafe_call("cuMemFree");
    if (may != result::success) return may;
    fake_device& device = at.current_device();
    const auto known = device.memory.find(address);
    if (known == device.memory.end()) {
      // The simulated device has a sentence for it.
      (void)device.sim->free(pointer(address), device.sim->granularity());
      return at.holds(rule::unknown_pointers_are_refused) ? result::invalid_value : result::success;
    }
    const bool is_of_pool = known->second.pool != nullptr;
    const bool synchronises = is_of_pool ? !at.holds(rule::pool_free_does_not_synchronise)
                                         : at.how.free_synchronises && at.holds(rule::free_synchronises);
    if (synchronises) at.synchronise(device);
    return at.take_back(device, address);
  });
}

result cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call("cuMemGetInfo", needs::context, [&](fake_driver& at) {
    memory_info said;
    at.look_at_card(at.current_device());
    const status asked = at.current_device().sim->query_memory(said);
    *free_bytes = said.free_bytes;
    *total_bytes = said.total_bytes;
    return result_of(asked);
  });
}

result cuMemPoolCreate(pool_handle** out, const pool_properties* properties) {
  return call("cuMemPoolCreate", needs::init, [&](fake_driver& at) {
    fake_device* const device = at.known_device(properties->location_id);
    if (device == nullptr || properties->kind != 1 || properties->location_kind != 1) return result::invalid_value;
    auto fresh = std::make_unique<pool_handle>();
    fresh->device = device;
    *out = fresh.get();
    device->pools.insert(std::move(fresh));
    return result::success;
  });
}

result cuMemPoolDestroy(pool_handle* pool) {
  return call("cuMemPoolDestroy", needs::init, [&](fake_driver& at) {
    at.give_back_kept(*pool);
    auto& pools = pool->device->pools;
    std::erase_if(pools, [pool](const auto& known) { return known.get() == pool; });
    return result::success;
  });
}

result cuMemPoolSetAttribute(pool_handle*, int, void*) {
  return call("cuMemPoolSetAttribute", needs::init, [](fake_driver&) { return result::success; });
}

result cuMemPoolTrimTo(pool_handle* pool, std::size_t) {
  return call("cuMemPoolTrimTo", needs::init, [&](fake_driver& at) {
    at.give_back_kept(*pool);
    return result::success;
  });
}

result cuMemAllocFromPoolAsync(device_address* out, std::size_t bytes, pool_handle* pool, stream_handle* on) {
  return call("cuMemAllocFromPoolAsync", needs::context, [&](fake_driver& at) {
    stream_handle* const where = at.stream_of(on);
    if (where == nullptr) return result::invalid_handle;
    if (where->in != nullptr) return result::not_supported;  // a node of the graph: the fake has none
    const auto kept = pool->kept.find(rounded(*pool->device, bytes));
    if (kept == pool->kept.end()) return lend(at, *pool->device, bytes, pool, out);
    *out = kept->second;
    pool->device->memory[*out] = {kept->first, pool, nullptr};
    pool->kept.erase(kept);
    return result::success;
  });
}

result cuMemsetD8Async(device_address to, unsigned char value, std::size_t bytes, stream_handle* on) {
  work_item item;
  item.is = work_item::what::set;
  item.to = to;
  item.value = value;
  item.bytes = bytes;
  return enqueue("cuMemsetD8Async", on, item);
}

result cuMemcpyDtoDAsync_v2(device_address to, device_address from, std::size_t bytes, stream_handle* on) {
  work_item item;
  item.is = work_item::what::copy;
  item.to = to;
  item.from = from;
  item.bytes = bytes;
  return enqueue("cuMemcpyDtoDAsync", on, item);
}

result cuMemcpyHtoDAsync_v2(device_address to, const void* from, std::size_t bytes, stream_handle* on) {
  return enqueue("cuMemcpyHtoDAsync", on, copy_to_device(to, from, bytes));
}

result cuMemcpyDtoHAsync_v2(void* to, device_address from, std::size_t bytes, stream_handle* on) {
  return enqueue("cuMemcpyDtoHAsync", on, copy_to_host(to, from, bytes));
}

result cuMemcpyHtoD_v2(device_address to, const void* from, std::size_t bytes) {
  return enqueue_and_wait("cuMemcpyHtoD", copy_to_device(to, from, bytes));
}

result cuMemcpyDtoH_v2(void* to, device_address from, std::size_t bytes) {
  return enqueue_and_wait("cuMemcpyDtoH", copy_to_host(to, from, bytes));
}

}  // extern "C"
