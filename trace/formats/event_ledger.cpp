// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/event_ledger.hpp"

#include <algorithm>

namespace arcalloc::trace {

namespace {

bool is_of_segments(event_kind kind) {
  return kind >= event_kind::segment_allocate && kind <= event_kind::segment_unmap;
}

bool comes_first(const event& one, const event& other) {
  return one.device != other.device ? one.device < other.device : one.id < other.id;
}

address_range range_of(const event& segment) {
  const std::uint64_t end = segment.address + segment.bytes;
  return {segment.address, end >= segment.address ? end : UINT64_MAX};
}

}  // namespace

void event_ledger::begin_survey() {
  surveying_ = true;
  live_.clear();
}

void event_ledger::there_at_end(const event& what) {
  if (!looks_at(what.device)) return;
  if (is_of_segments(what.kind)) {
    for (const address_range part : touched_[what.device].missing_of(range_of(what))) {
      event before = what;
      before.id = before.address = part.begin;
      before.bytes = part.end - part.begin;
      segments_before_.push_back(before);
    }
    return;
  }
  if (live_.find(what.device, what.id) != nullptr) return;
  blocks_before_.insert({what.id, what.address, what.bytes, what.stream, 0, what.device});
}

std::uint64_t event_ledger::bytes_before(std::uint32_t device) const {
  std::uint64_t bytes = 0;
  blocks_before_.for_each([&](const live_block& one) { bytes += one.device == device ? one.bytes : 0; });
  return bytes;
}

void event_ledger::begin_delivery() {
  surveying_ = false;
  live_.clear();
  touched_.clear();
  std::sort(segments_before_.begin(), segments_before_.end(), comes_first);
  std::vector<event> blocks;
  blocks.reserve(blocks_before_.size());
  blocks_before_.for_each([&](const live_block& one) {
    event before;
    before.device = one.device;
    before.id = one.id;
    before.address = one.address;
    before.bytes = one.bytes;
    before.stream = one.stream;
    blocks.push_back(before);
  });
  blocks_before_.clear();
  std::sort(blocks.begin(), blocks.end(), comes_first);
  for (std::vector<event>* list : {&segments_before_, &blocks}) {
    for (event& one : *list) {
      one.before_recording = true;
      one.time_ns = no_time;
      static_cast<void>(add(one));
    }
  }
  std::vector<event>().swap(segments_before_);
  facts_.elsewhere_skipped = 0;
}

bool event_ledger::add(const event& what) {
  if (is_left_out(what)) return true;
  switch (what.kind) {
    case event_kind::allocate:
      return add_block(what);
    case event_kind::free:
      add_free(what);
      return true;
    case event_kind::use:
      add_use(what);
      return true;
    case event_kind::segment_allocate:
    case event_kind::segment_free:
    case event_kind::segment_map:
    case event_kind::segment_unmap:
      add_segment(what);
      return true;
    default:
      deliver(what);
      return true;
  }
}

void event_ledger::add_over(const event& what) {
  if (add(what)) return;
  event gone = what;
  gone.kind = event_kind::free;
  if (!surveying_) ++facts_.frees_made_up;
  if (const live_block* const old = live_.find(what.device, what.id)) gone.stream = old->stream;
  add_free(gone);
  static_cast<void>(add(what));
}

bool event_ledger::is_left_out(const event& what) {
  if (!looks_at(what.device)) {
    ++facts_.elsewhere_skipped;
    return true;
  }
  return options_.from_empty && what.before_recording;
}

bool event_ledger::add_block(const event& what) {
  if (!live_.insert({what.id, what.address, what.bytes, what.stream, 0, what.device})) return false;
  if (what.before_recording && !surveying_) {
    ++facts_.blocks_before;
    facts_.bytes_before += what.bytes;
  }
  deliver(what);
  return true;
}

void event_ledger::add_free(event what) {
  if (const auto gone = live_.take_out(what.device, what.id)) {
    what.bytes = gone->bytes;
    what.address = gone->address;
    deliver(what);
  } else if (surveying_ && what.bytes > 0) {
    blocks_before_.insert({what.id, what.address, what.bytes, what.stream, 0, what.device});
  } else if (!surveying_) {
    ++facts_.frees_skipped;
  }
}

void event_ledger::add_use(event what) {
  const live_block* const used = live_.find(what.device, what.id);
  if (used != nullptr) {
    what.bytes = used->bytes;
    what.address = used->address;
    deliver(what);
  } else if (!surveying_) {
    ++facts_.frees_skipped;
  }
}

void event_ledger::add_segment(const event& what) {
  if (!surveying_) {
    if (what.before_recording) facts_.reserved_before += what.bytes;
    sink_.take(what);
    return;
  }
  range_set& touched = touched_[what.device];
  const address_range range = range_of(what);
  if (what.kind == event_kind::segment_free || what.kind == event_kind::segment_unmap) {
    for (const address_range part : touched.missing_of(range)) {
      event before = what;
      before.kind = what.kind == event_kind::segment_free ? event_kind::segment_allocate : event_kind::segment_map;
      before.id = before.address = part.begin;
      before.bytes = part.end - part.begin;
      segments_before_.push_back(before);
    }
  }
  touched.add(range);
}

}  // namespace arcalloc::trace
