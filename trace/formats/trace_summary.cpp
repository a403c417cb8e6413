// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/trace_summary.hpp"

#include <algorithm>

#include "trace/formats/csv_columns.hpp"

namespace arcalloc::trace {

void trace_summary::take(const event& what) {
  ++events_;
  ++counts_[static_cast<std::size_t>(what.kind)];
  switch (what.kind) {
    case event_kind::allocate:
    case event_kind::free:
      count_block(what);
      break;
    case event_kind::segment_allocate:
    case event_kind::segment_map:
      reserved_ += what.bytes;
      reserved_peak_ = std::max(reserved_peak_, reserved_);
      break;
    case event_kind::segment_free:
    case event_kind::segment_unmap:
      reserved_ -= std::min(reserved_, what.bytes);
      break;
    default:
      break;
  }
  if (next_ != nullptr) next_->take(what);
}

void trace_summary::count_block(const event& what) {
  live_block block;
  if (what.kind == event_kind::allocate) {
    block = {what.id, what.address, what.bytes, what.stream, next_ordinal_++, what.device};
    live_.insert(block);
    if (what.before_recording) ++allocates_before_;
    requested_ += what.bytes;
    requested_peak_ = std::max(requested_peak_, requested_);
  } else {
    block = live_.take_out(what.device, what.id).value_or(block);
    requested_ -= block.bytes;
  }
  mix(static_cast<std::uint64_t>(what.kind));
  mix(block.ordinal);
  mix(block.bytes);
  mix(what.stream);
  mix(what.time_ns == no_time ? no_time : what.time_ns / ns_per_us);
}

void trace_summary::mix(std::uint64_t value) {
  hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15U;
  hash_ ^= hash_ >> 29;
}

}  // namespace arcalloc::trace
