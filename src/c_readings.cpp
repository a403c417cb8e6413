// SPDX-License-Identifier: Apache-2.0
// The C ABI's readings: counters, the cap's arithmetic, the last failure, the segment behind an
// address. The output's size is looked at first, so that a refusal has read nothing.
#include <arcalloc/arcalloc.h>
#include <arcalloc/allocator.hpp>

#include "c_objects.hpp"
#include "c_struct.hpp"

using arcalloc::allocator;
using arcalloc::status;
using arcalloc::detail::as_c;
using arcalloc::detail::callers_size;
using arcalloc::detail::read_struct;
using arcalloc::detail::write_struct;

namespace {

arcalloc_status read_counters_with(void (allocator::*reading)(arcalloc::counters&) const noexcept,
                                   const arcalloc_allocator* self, arcalloc_counters* out) noexcept {
  if (self == nullptr || callers_size(out) == 0) return ARCALLOC_INVALID_ARGUMENT;
  arcalloc::counters now{};
  (self->core->*reading)(now);
  return write_struct(now, out) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT;
}

}  // namespace

extern "C" {

arcalloc_status arcalloc_read_counters(const arcalloc_allocator* self, arcalloc_counters* out) noexcept {
  return read_counters_with(&allocator::read_counters, self, out);
}

arcalloc_status arcalloc_read_step_counters(const arcalloc_allocator* self, arcalloc_counters* out) noexcept {
  return read_counters_with(&allocator::read_step_counters, self, out);
}

arcalloc_status arcalloc_reset_peaks(arcalloc_allocator* self) noexcept {
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  self->core->reset_peaks();
  return ARCALLOC_OK;
}

arcalloc_status arcalloc_read_cap(const arcalloc_allocator* self, arcalloc_cap_arithmetic* out) noexcept {
  if (self == nullptr || callers_size(out) == 0) return ARCALLOC_INVALID_ARGUMENT;
  const arcalloc::cap_arithmetic cap = self->core->read_cap();
  const arcalloc_cap_arithmetic value{0,
                                      as_c(cap.query),
                                      cap.cached_bytes_max,
                                      cap.cap_source,
                                      cap.driver_free_bytes,
                                      cap.own_cached_bytes,
                                      cap.free_bytes,
                                      cap.reserve_bytes,
                                      cap.cached_bytes_max_wanted};
  return write_struct(value, out) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_last_failure(const arcalloc_allocator* self, arcalloc_failure* out) noexcept {
  if (self == nullptr || callers_size(out) == 0) return ARCALLOC_INVALID_ARGUMENT;
  const arcalloc::failure_record last = self->core->last_failure();
  arcalloc_failure value{};
  value.outcome = as_c(last.outcome);
  value.requested_bytes = last.requested_bytes;
  value.class_bytes = last.class_bytes;
  value.stream = static_cast<arcalloc_stream>(last.on);
  value.allocated_bytes = last.allocated_bytes;
  value.pending_bytes = last.pending_bytes;
  value.cached_bytes = last.cached_bytes;
  value.slack_bytes = last.slack_bytes;
  value.pinned_bytes = last.pinned_bytes;
  value.stuck_bytes = last.stuck_bytes;
  value.reserved_bytes = last.reserved_bytes;
  value.cached_bytes_max = last.cached_bytes_max;
  value.capacity_bytes = last.capacity_bytes;
  value.driver_free_bytes = last.driver_free_bytes;
  value.largest_idle_bytes = last.largest_idle_bytes;
  return write_struct(value, out) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_locate(const arcalloc_allocator* self, const void* address,
                                arcalloc_segment_extent* out) noexcept {
  if (self == nullptr || callers_size(out) == 0) return ARCALLOC_INVALID_ARGUMENT;
  arcalloc::segment_extent found;
  if (const status outcome = self->core->locate(address, found); outcome != status::ok) return as_c(outcome);
  const arcalloc_segment_extent value{0, 0, found.base, found.bytes, found.offset_bytes};
  return write_struct(value, out) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_counters_between(const arcalloc_counters* before, const arcalloc_counters* now,
                                          arcalloc_counters* out) noexcept {
  arcalloc::counters first;
  arcalloc::counters last;
  if (!read_struct(before, first) || !read_struct(now, last) || first.version != ARCALLOC_COUNTERS_VERSION ||
      last.version != ARCALLOC_COUNTERS_VERSION) {
    return ARCALLOC_INVALID_ARGUMENT;
  }
  const arcalloc::counters window = arcalloc::counters_between(first, last);
  return write_struct(window, out) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT;
}

}  // extern "C"
