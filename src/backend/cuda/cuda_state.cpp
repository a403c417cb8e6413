// SPDX-License-Identifier: Apache-2.0
#include "cuda_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace arcalloc {

using cuda::result;

namespace {

constexpr std::size_t alignment_least = 512;

/// cuda.h on each of these: "This leaves the process in an inconsistent state and any further CUDA work will return the
/// same error" (CUDA 13.0), or the device is lost in another way.
bool stays(result outcome) noexcept {
  switch (outcome) {
    case result::ecc_uncorrectable:
    case result::nvlink_uncorrectable:
    case result::contained:
    case result::illegal_address:
    case result::launch_timeout:
    case result::device_assert:
    case result::hardware_stack_error:
    case result::illegal_instruction:
    case result::misaligned_address:
    case result::invalid_address_space:
    case result::invalid_program_counter:
    case result::launch_failed:
    case result::tensor_memory_leak:
    case result::mps_client_terminated:
      return true;
    default:
      return false;
  }
}

}  // namespace

status cuda_backend::state::open(const cuda_options& how) noexcept {
  const std::size_t granule = how.granularity;
  if (granule == 0 || (granule & (granule - 1)) != 0) {
    last_error.set("a granularity of %zu is no power of two", granule);
    return status::invalid_argument;
  }
  granularity = granule;
  process = ::getpid();
  if (const status opened = driver.open(how.driver_path, last_error); opened != status::ok) return opened;
  if (const status entered = open_context(how); entered != status::ok) return entered;
  if (driver.device_name(device_name, sizeof device_name, device) != result::success) {
    std::strcpy(device_name, "a device without a name");
  }
  if (how.source == cuda_source::stream_ordered) {
    if (const status made = open_pool(); made != status::ok) {
      close();
      return made;
    }
  }
  return status::ok;
}

status cuda_backend::state::open_context(const cuda_options& how) noexcept {
  if (how.context == cuda_context::primary) return open_primary(how.ordinal);
  result outcome = driver.current_context(&context);
  if (outcome == result::success && context == nullptr) {
    last_error.set("no context is current on this thread: make one current before, or use the primary context");
    return status::invalid_argument;
  }
  if (outcome == result::success) outcome = driver.context_device(&device);
  ordinal = device;
  return answer(outcome, "cuCtxGetDevice");
}

status cuda_backend::state::open_primary(int wanted) noexcept {
  int count = 0;
  if (const status counted = answer(driver.device_count(&count), "cuDeviceGetCount"); counted != status::ok) {
    return counted;
  }
  if (wanted < 0 || wanted >= count) {
    last_error.set("there is no device %d: the driver (CUDA %s) sees %d, numbered from 0", wanted,
                   cuda::version_text(driver.version).text, count);
    return status::backend_unavailable;
  }
  ordinal = wanted;
  if (const status got = answer(driver.device_get(&device, wanted), "cuDeviceGet"); got != status::ok) return got;
  const result retained = driver.retain_primary(&context, device);
  if (retained == result::success) is_retained = true;
  return answer(retained, "cuDevicePrimaryCtxRetain");
}

status cuda_backend::state::open_pool() noexcept {
  int supported = 0;
  if (!driver.has_pools()) {
    last_error.set("the driver (CUDA %s) has no memory pools, which came with CUDA 11.2: use cuda_source::driver",
                   cuda::version_text(driver.version).text);
    return status::backend_unavailable;
  }
  const result asked = driver.device_attribute(&supported, cuda::attribute_memory_pools_supported, device);
  if (asked != result::success || supported == 0) {
    last_error.set("device %d, %s, has no memory pools: use cuda_source::driver", ordinal, device_name);
    return status::backend_unavailable;
  }
  cuda::pool_properties wanted;
  wanted.location_id = device;
  if (const status made = answer(driver.pool_create(&pool, &wanted), "cuMemPoolCreate"); made != status::ok) {
    pool = nullptr;
    return made;
  }
  // Nothing is kept when the device is next synchronised with; trim does not wait for that.
  std::uint64_t kept_bytes = 0;
  return answer(driver.pool_set(pool, cuda::pool_attribute_keep_threshold, &kept_bytes), "cuMemPoolSetAttribute");
}

void cuda_backend::state::close() noexcept {
  // In a forked child, and where the driver is gone, there is nothing that could be given back.
  if (process != ::getpid() || is_gone.load(std::memory_order_relaxed) || context == nullptr) return;
  {
    const cuda_scope scope(driver, context);
    if (scope.entered() == result::success) {
      events.close(driver);
      if (pool != nullptr) (void)answer(driver.pool_destroy(pool), "cuMemPoolDestroy");
    }
  }
  if (is_retained) (void)answer(driver.leave_primary(device), "cuDevicePrimaryCtxRelease");
  is_retained = false;
  context = nullptr;
}

status cuda_backend::state::usable() noexcept {
  if (process != ::getpid()) {
    const std::lock_guard guard(text_mutex);
    last_error.set("this process was forked from process %ld, which opened the device; a child cannot use it",
                   static_cast<long>(process));
    return status::backend_unavailable;
  }
  if (is_gone.load(std::memory_order_relaxed)) return status::shutting_down;
  return is_beyond_help.load(std::memory_order_relaxed) ? status::backend_failed : status::ok;
}

void cuda_backend::state::note(const char* call, const char* what) noexcept {
  const std::lock_guard guard(text_mutex);
  // The first of these is the reason of all that follow.
  if (!is_beyond_help.load(std::memory_order_relaxed)) last_error.set("%s: %s", call, what);
}

status cuda_backend::state::answer(result outcome, const char* call) noexcept {
  switch (outcome) {
    case result::success:
      return status::ok;
    case result::out_of_memory:
      return status::device_out_of_memory;
    case result::deinitialized:
    case result::context_is_destroyed:
      note(call, "the driver is unloading, or the context was destroyed: its memory is gone");
      is_gone.store(true, std::memory_order_relaxed);
      return status::shutting_down;
    default:
      break;
  }
  char what[160];
  std::snprintf(what, sizeof what, "%s (%u)%s", driver.name_of(outcome), static_cast<unsigned int>(outcome),
                stays(outcome) ? ": the driver does not recover from it before the process ends" : "");
  note(call, what);
  if (stays(outcome)) is_beyond_help.store(true, std::memory_order_relaxed);
  return outcome == result::device_unavailable || outcome == result::no_device ? status::backend_unavailable
                                                                               : status::backend_failed;
}

bool cuda_backend::state::handle_of(stream said, cuda::stream_handle*& out) noexcept {
  constexpr std::uint64_t own_bit = std::uint64_t{1} << 63;
  constexpr std::uint64_t former_bits = std::uint64_t{3} << 62;
  auto number = static_cast<std::uint64_t>(said);
  if ((number & own_bit) != 0) {
    if (said != per_thread_stream && (number & former_bits) == former_bits) return false;  // has ended
    const bool is_callers = said == per_thread_stream || said == this_thread_stream();
    // A thread's own stream has no handle that others could say. The legacy stream is ordered after it.
    number = is_callers ? cuda::per_thread_stream_number : cuda::legacy_stream_number;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a stream is its handle as a number
  out = reinterpret_cast<cuda::stream_handle*>(static_cast<std::uintptr_t>(number));
  return true;
}

result cuda_backend::state::capture_of(cuda::stream_handle* on, cuda::capture_status& out) const noexcept {
  std::uint64_t id = 0;
  return driver.capture_info(on, out, id);
}

status cuda_backend::state::accept(cuda::device_address lent, void*& address) noexcept {
  if (lent != 0 && lent % std::max(granularity, alignment_least) == 0) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): CUdeviceptr is a number
    address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(lent));
    return status::ok;
  }
  const status back = answer(driver.free(lent), "cuMemFree");
  if (back == status::ok) note("cuMemAlloc", "the address is not aligned to the granularity");
  return status::backend_failed;
}

status cuda_backend::state::record(stream on, event& out) noexcept {
  if (const status may = usable(); may != status::ok) return may;
  cuda::stream_handle* handle = nullptr;
  if (!handle_of(on, handle)) return status::invalid_argument;
  const cuda_scope scope(driver, context);
  if (scope.entered() != result::success) return answer(scope.entered(), "cuCtxPushCurrent");
  cuda::capture_status captured = cuda::capture_status::none;
  const result looked = capture_of(handle, captured);
  if (looked != result::success) return answer(looked, "cuStreamGetCaptureInfo");
  if (captured != cuda::capture_status::none) {
    note("cuEventRecord", "not asked, since the stream is captured: the event would be part of the graph");
    return status::backend_failed;
  }
  event point = event::none;
  cuda::event_handle* recorded = nullptr;
  if (const result made = events.take(driver, point, recorded); made != result::success) {
    const status outcome = answer(made, "cuEventCreate");
    return outcome == status::device_out_of_memory ? status::backend_failed : outcome;
  }
  const status outcome = answer(driver.event_record(recorded, handle), "cuEventRecord");
  if (outcome == status::ok) {
    out = point;
  } else {
    events.put(point);
  }
  return outcome;
}

result cuda_backend::state::lend_from_pool(std::size_t bytes, stream on, cuda::device_address& out) noexcept {
  cuda::stream_handle* handle = nullptr;
  cuda::capture_status captured = cuda::capture_status::none;
  if (!handle_of(on, handle)) return result::invalid_handle;
  // On a captured stream it would be a node of the graph, and the memory the graph's.
  if (capture_of(handle, captured) != result::success || captured != cuda::capture_status::none) {
    return driver.allocate(&out, bytes);
  }
  const result first = driver.pool_allocate(&out, bytes, pool, handle);
  if (first != result::out_of_memory || !pool_keeps.load(std::memory_order_relaxed)) return first;
  const result trimmed = trim_pool();
  return trimmed != result::success ? trimmed : driver.pool_allocate(&out, bytes, pool, handle);
}

result cuda_backend::state::trim_pool() noexcept {
  if (pool == nullptr || !pool_keeps.exchange(false, std::memory_order_relaxed)) return result::success;
  const result trimmed = driver.pool_trim(pool, 0);
  if (trimmed != result::success) pool_keeps.store(true, std::memory_order_relaxed);
  return trimmed;
}

cuda_scope::cuda_scope(const cuda::driver_library& driver, cuda::context_handle* context) noexcept : driver_(driver) {
  cuda::context_handle* now = nullptr;
  entered_ = driver.current_context(&now);
  if (entered_ == result::success && now != context) {
    entered_ = driver.push_context(context);
    is_pushed_ = entered_ == result::success;
  }
  if (entered_ == result::success) {
    entered_ = driver.exchange_mode(&mode_);
    is_exchanged_ = entered_ == result::success;
  }
}

cuda_scope::~cuda_scope() {
  // What these answer was answered before them, by the call in between: there is nobody left to tell.
  if (is_exchanged_) (void)driver_.exchange_mode(&mode_);
  cuda::context_handle* popped = nullptr;
  if (is_pushed_) (void)driver_.pop_context(&popped);
}

}  // namespace arcalloc
