// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/snapshot_writer.hpp"

#include <algorithm>

#include "trace/formats/csv_columns.hpp"
#include "trace/formats/read_trace.hpp"

namespace arcalloc::trace {

namespace {

address_range range_of(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t size = laid_out_bytes(bytes);
  return {address, address + size < address ? UINT64_MAX : address + size};
}

const char* action_of(event_kind kind) {
  switch (kind) {
    case event_kind::allocate:
      return "alloc";
    case event_kind::segment_allocate:
      return "segment_alloc";
    case event_kind::segment_free:
      return "segment_free";
    case event_kind::segment_map:
      return "segment_map";
    case event_kind::segment_unmap:
      return "segment_unmap";
    case event_kind::refusal:
      return "oom";
    default:
      return "snapshot";
  }
}

/// A segment as it stands in the file.
struct final_segment {
  std::uint32_t device = 0;
  address_range range;
  std::uint64_t stream = 0;
  bool is_expandable = false;
};

}  // namespace

/// Puts the file together at the end: the events of each device, and what is there now.
class snapshot_text {
 public:
  explicit snapshot_text(snapshot_writer& from) : from_(from), pickle_(from.out_) {}

  void write() {
    pickle_.empty_dict();
    pickle_.begin_items();
    pickle_.text("segments");
    write_segments();
    pickle_.text("device_traces");
    write_traces();
    pickle_.text("allocator_settings");
    pickle_.empty_dict();
    pickle_.text("external_annotations");
    pickle_.empty_list();
    pickle_.set_items();
    pickle_.finish();
  }

 private:
  /// Elements are appended in groups, so that no reader holds more than one at a time.
  static constexpr std::size_t group = 1000;

  class entries final : public trace_sink {
   public:
    explicit entries(snapshot_text& text) : text_(text) {}
    void take(const event& what) override {
      if (what.before_recording) return;
      if (what.kind == event_kind::free) {
        text_.write_entry(what, "free_requested");
        text_.write_entry(what, "free_completed");
      } else {
        text_.write_entry(what, action_of(what.kind));
      }
    }

   private:
    snapshot_text& text_;
  };

  void item(const char* key, std::uint64_t value) {
    pickle_.text(key);
    pickle_.number(value);
  }
  void frames() {
    pickle_.text("frames");
    pickle_.empty_list();
  }
  void write_traces();
  void write_entry(const event& what, const char* action);
  void write_segments();
  void write_segment(const final_segment& what, const std::vector<live_block>& blocks);
  struct sums {
    std::uint64_t allocated = 0;
    std::uint64_t requested = 0;
  };
  /// Every byte of the segment is in a block: what is not live is idle.
  sums write_blocks(address_range segment, const std::vector<live_block>& blocks);
  void write_block(address_range range, const live_block* block);
  [[nodiscard]] std::vector<final_segment> segments() const;

  snapshot_writer& from_;
  pickle_writer pickle_;
  std::size_t in_group_ = 0;
};

void snapshot_text::write_traces() {
  pickle_.empty_list();
  pickle_.begin_elements();
  const std::uint32_t devices = from_.devices_.empty() ? 1 : from_.devices_.rbegin()->first + 1;
  for (std::uint32_t device = 0; device < devices; ++device) {
    pickle_.empty_list();
    const auto found = from_.devices_.find(device);
    if (found == from_.devices_.end()) continue;
    found->second.events.finish();
    pickle_.begin_elements();
    in_group_ = 0;
    entries each(*this);
    const auto aside = found->second.aside.read();
    read_options as_written;
    as_written.format = trace_format::own;
    read_trace(*aside, as_written, each);
    pickle_.append_elements();
  }
  pickle_.append_elements();
}

void snapshot_text::write_entry(const event& what, const char* action) {
  if (in_group_ == group) {
    pickle_.append_elements();
    pickle_.begin_elements();
    in_group_ = 0;
  }
  ++in_group_;
  pickle_.empty_dict();
  pickle_.begin_items();
  pickle_.text("action");
  pickle_.text(action);
  // PyTorch's name for what the driver had left.
  item(what.kind == event_kind::refusal ? "device_free" : "addr",
       what.kind == event_kind::refusal ? what.other : what.address);
  item("size", what.bytes);
  item("stream", what.stream);
  if (what.time_ns != no_time) item("time_us", what.time_ns / ns_per_us);
  frames();
  pickle_.set_items();
}

std::vector<final_segment> snapshot_text::segments() const {
  std::vector<final_segment> all;
  for (const auto& [number, device] : from_.devices_) {
    for (const auto& [address, one] : device.segments) {
      all.push_back({number, {address, address + one.bytes}, one.stream, false});
    }
    for (const address_range range : device.mapped.all()) all.push_back({number, range, 0, true});
    for (const address_range range : device.made_up.all()) {
      for (const address_range part : device.reserved.missing_of(range)) all.push_back({number, part, 0, false});
    }
  }
  std::sort(all.begin(), all.end(), [](const final_segment& one, const final_segment& other) {
    return one.device != other.device ? one.device < other.device : one.range.begin < other.range.begin;
  });
  return all;
}

void snapshot_text::write_segments() {
  std::vector<live_block> blocks;
  from_.live_.for_each([&](const live_block& one) { blocks.push_back(one); });
  std::sort(blocks.begin(), blocks.end(), [](const live_block& one, const live_block& other) {
    return one.device != other.device ? one.device < other.device : one.address < other.address;
  });
  pickle_.empty_list();
  pickle_.begin_elements();
  std::size_t next = 0;
  std::size_t written = 0;
  for (const final_segment& one : segments()) {
    const auto is_before = [&](const live_block& block) {
      return block.device < one.device || (block.device == one.device && block.address < one.range.begin);
    };
    while (next < blocks.size() && is_before(blocks[next])) ++next;
    std::vector<live_block> inside;
    for (; next < blocks.size() && blocks[next].device == one.device && blocks[next].address < one.range.end; ++next) {
      inside.push_back(blocks[next]);
    }
    if (++written % group == 0) {
      pickle_.append_elements();
      pickle_.begin_elements();
    }
    write_segment(one, inside);
  }
  pickle_.append_elements();
}

void snapshot_text::write_segment(const final_segment& what, const std::vector<live_block>& blocks) {
  pickle_.empty_dict();
  pickle_.begin_items();
  item("device", what.device);
  item("address", what.range.begin);
  item("total_size", what.range.end - what.range.begin);
  item("stream", what.stream);
  pickle_.text("segment_type");
  pickle_.text("large");
  pickle_.text("segment_pool_id");
  pickle_.number(0);
  pickle_.number(0);
  pickle_.pair();
  pickle_.text("is_expandable");
  pickle_.flag(what.is_expandable);
  frames();
  pickle_.text("blocks");
  pickle_.empty_list();
  pickle_.begin_elements();
  const auto [allocated, requested] = write_blocks(what.range, blocks);
  pickle_.append_elements();
  item("allocated_size", allocated);
  item("active_size", allocated);
  item("requested_size", requested);
  pickle_.set_items();
}

snapshot_text::sums snapshot_text::write_blocks(address_range segment, const std::vector<live_block>& blocks) {
  sums written_bytes;
  std::uint64_t at = segment.begin;
  std::size_t written = 0;
  const auto next_group = [&] {
    if (++written % group != 0) return;
    pickle_.append_elements();
    pickle_.begin_elements();
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const live_block& block = blocks[i];
    // A block that overlaps the one before, or has no byte, cannot be shown.
    if (block.address < at || block.bytes == 0) continue;
    const std::uint64_t room = (i + 1 < blocks.size() ? blocks[i + 1].address : segment.end) - block.address;
    const std::uint64_t size = std::min(laid_out_bytes(block.bytes), room);
    if (size < block.bytes) continue;
    if (block.address > at) {
      write_block({at, block.address}, nullptr);
      next_group();
    }
    write_block({block.address, block.address + size}, &block);
    next_group();
    at = block.address + size;
    written_bytes.allocated += size;
    written_bytes.requested += block.bytes;
  }
  if (at < segment.end) write_block({at, segment.end}, nullptr);
  return written_bytes;
}

void snapshot_text::write_block(address_range range, const live_block* block) {
  pickle_.empty_dict();
  pickle_.begin_items();
  item("address", range.begin);
  item("size", range.end - range.begin);
  item("requested_size", block != nullptr ? block->bytes : 0);
  pickle_.text("state");
  pickle_.text(block != nullptr ? "active_allocated" : "inactive");
  frames();
  pickle_.set_items();
}

void snapshot_writer::take(const event& what) {
  switch (what.kind) {
    case event_kind::allocate:
      return take_allocate(what, device_of(what));
    case event_kind::free:
      return take_free(what, device_of(what));
    case event_kind::segment_allocate:
    case event_kind::segment_free:
    case event_kind::segment_map:
    case event_kind::segment_unmap:
      return take_segment(what, device_of(what));
    case event_kind::refusal:
    case event_kind::snapshot:
      ++events_;
      return device_of(what).events.take(what);
    default:
      ++left_out_;
  }
}

void snapshot_writer::finish() { snapshot_text(*this).write(); }

snapshot_writer::device_state& snapshot_writer::device_of(const event& what) {
  if (what.device >= devices_max) {
    throw trace_error{"a snapshot lists every device up to the last, and device " + std::to_string(what.device) +
                      " is too far"};
  }
  return devices_[what.device];
}

void snapshot_writer::take_allocate(event what, device_state& device) {
  if (what.address == 0) what.address = device.layout.place(what.bytes);
  const address_range range = range_of(what.address, what.bytes);
  if (!device.reserved.covers(range)) device.made_up.add(range);
  live_.insert({what.id, what.address, what.bytes, what.stream, 0, what.device});
  ++events_;
  // What was there before is not written, but its free has its address and its bytes from here.
  device.events.take(what);
}

void snapshot_writer::take_free(const event& what, device_state& device) {
  const live_block* const found = live_.find(what.device, what.id);
  if (found == nullptr) return;
  if (what.address == 0) device.layout.give_back(found->address, found->bytes);
  live_.take_out(what.device, what.id);
  ++events_;
  device.events.take(what);
}

void snapshot_writer::take_segment(const event& what, device_state& device) {
  // A segment without an address is only a sum, and has no place in a snapshot.
  const address_range range{what.address, what.address + what.bytes};
  if (what.address == 0 || range.end < range.begin) {
    ++left_out_;
    return;
  }
  switch (what.kind) {
    case event_kind::segment_allocate:
      device.segments[what.address] = what;
      device.reserved.add(range);
      break;
    case event_kind::segment_free:
      device.segments.erase(what.address);
      device.reserved.remove(range);
      break;
    case event_kind::segment_map:
      device.mapped.add(range);
      device.reserved.add(range);
      break;
    default:
      device.mapped.remove(range);
      device.reserved.remove(range);
      break;
  }
  ++events_;
  device.events.take(what);
}

}  // namespace arcalloc::trace
