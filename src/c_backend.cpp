// SPDX-License-Identifier: Apache-2.0
#include "c_backend.hpp"

#include <algorithm>
#include <cstdio>

namespace arcalloc::detail {

namespace {

constexpr std::uint64_t alignment_least = 512;

/// What a device can mean; anything else, listed or not, is a failure of it.
status believed(arcalloc_status answer) noexcept {
  switch (answer) {
    case ARCALLOC_OK:
    case ARCALLOC_DEVICE_OUT_OF_MEMORY:
    case ARCALLOC_BACKEND_UNAVAILABLE:
    case ARCALLOC_SHUTTING_DOWN:
      return static_cast<status>(answer);
    default:
      return status::backend_failed;
  }
}

}  // namespace

bool caller_backend::complete(const arcalloc_backend& functions) noexcept {
  const std::uint64_t granule = functions.granularity;
  if (granule == 0 || (granule & (granule - 1)) != 0 || granule > SIZE_MAX / 2 || functions.synchronous > 1)
    return false;
  if (functions.allocate == nullptr || functions.free == nullptr || functions.query_memory == nullptr) return false;
  return functions.synchronous == 1 || (functions.record_event != nullptr && functions.query_event != nullptr &&
                                        functions.wait_event != nullptr && functions.drop_event != nullptr);
}

caller_backend::caller_backend(const arcalloc_backend& functions) noexcept : functions_(functions) {
  std::snprintf(name_, sizeof name_, "%s", functions.name != nullptr ? functions.name : "caller");
  functions_.name = nullptr;  // the caller's string is theirs again when the device is made
}

status caller_backend::lend(lending_function from, std::size_t bytes, stream on, void*& address) noexcept {
  address = nullptr;
  void* lent = nullptr;
  const status outcome = believed(from(functions_.context, bytes, static_cast<arcalloc_stream>(on), &lent));
  if (outcome != status::ok) return outcome;
  if (lent == nullptr) return status::backend_failed;
  const std::uint64_t alignment = std::max(functions_.granularity, alignment_least);
  if (reinterpret_cast<std::uintptr_t>(lent) % alignment != 0) {
    // What cannot be used is not kept. If the caller will not take it back, it is theirs to account for.
    (void)functions_.free(functions_.context, lent, bytes);
    return status::backend_failed;
  }
  address = lent;
  return status::ok;
}

status caller_backend::allocate(std::size_t bytes, stream on, void*& address) noexcept {
  return lend(functions_.allocate, bytes, on, address);
}

status caller_backend::allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept {
  if (functions_.allocate_beside_capture == nullptr) return backend::allocate_beside_capture(bytes, on, address);
  return lend(functions_.allocate_beside_capture, bytes, on, address);
}

status caller_backend::free(void* address, std::size_t bytes) noexcept {
  return believed(functions_.free(functions_.context, address, bytes));
}

status caller_backend::query_memory(memory_info& out) const noexcept {
  memory_info said;
  const status outcome = believed(functions_.query_memory(functions_.context, &said.free_bytes, &said.total_bytes));
  if (outcome == status::ok) out = said;
  return outcome;
}

status caller_backend::record_event(stream on, event& out) noexcept {
  // Where work is done when the host has done it, any point has passed.
  if (functions_.record_event == nullptr) {
    out = event{1};
    return status::ok;
  }
  std::uint64_t recorded = 0;
  const status outcome =
      believed(functions_.record_event(functions_.context, static_cast<arcalloc_stream>(on), &recorded));
  if (outcome != status::ok) return outcome;
  if (recorded == 0) return status::backend_failed;
  out = event{recorded};
  return status::ok;
}

status caller_backend::query_event(event point, bool& finished) noexcept {
  std::int32_t answer = 1;
  status outcome = status::ok;
  if (functions_.query_event != nullptr) {
    outcome = believed(functions_.query_event(functions_.context, static_cast<std::uint64_t>(point), &answer));
  }
  if (outcome == status::ok && answer != 0 && answer != 1) outcome = status::backend_failed;
  finished = outcome == status::ok && answer == 1;
  return outcome;
}

status caller_backend::wait_event(event point) noexcept {
  if (functions_.wait_event == nullptr) return status::ok;
  return believed(functions_.wait_event(functions_.context, static_cast<std::uint64_t>(point)));
}

void caller_backend::drop_event(event point) noexcept {
  if (functions_.drop_event != nullptr) functions_.drop_event(functions_.context, static_cast<std::uint64_t>(point));
}

}  // namespace arcalloc::detail
