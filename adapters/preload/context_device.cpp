// SPDX-License-Identifier: Apache-2.0
#include "context_device.hpp"

namespace arcalloc::preload {

namespace {

// Stands for any point of work that has finished. The backend's own events are addresses, and its 1 means the same.
constexpr event passed{2};

}  // namespace

status context_device::allocate(std::size_t bytes, stream on, void*& address) noexcept {
  if (is_gone()) return status::shutting_down;
  return below_->allocate(bytes, on == settled_stream ? default_stream : on, address);
}

status context_device::free(void* address, std::size_t bytes) noexcept {
  return is_gone() ? status::ok : below_->free(address, bytes);
}

status context_device::query_memory(memory_info& out) const noexcept {
  return is_gone() ? status::shutting_down : below_->query_memory(out);
}

status context_device::record_event(stream on, event& out) noexcept {
  if (!is_gone() && on != settled_stream) return below_->record_event(on, out);
  out = passed;
  return status::ok;
}

status context_device::query_event(event point, bool& finished) noexcept {
  if (!is_gone() && point != passed) return below_->query_event(point, finished);
  finished = true;
  return status::ok;
}

status context_device::wait_event(event point) noexcept {
  return is_gone() || point == passed ? status::ok : below_->wait_event(point);
}

void context_device::drop_event(event point) noexcept {
  if (!is_gone() && point != passed) below_->drop_event(point);
}

void context_device::trim() noexcept {
  if (!is_gone()) below_->trim();
}

}  // namespace arcalloc::preload
