// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/snapshot_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "reading.hpp"
#include "trace/formats/address_layout.hpp"
#include "trace/formats/snapshot_parser.hpp"
#include "trace/formats/trace_summary.hpp"

namespace arcalloc::trace {
namespace {

std::string written(const std::vector<event>& events) {
  string_sink out;
  snapshot_writer writer(out);
  for (const event& one : events) writer.take(one);
  writer.finish();
  return out.bytes();
}

event block(event_kind kind, std::uint64_t id, std::uint64_t bytes, std::uint64_t address = 0) {
  event one;
  one.kind = kind;
  one.id = id;
  one.bytes = bytes;
  one.address = address;
  one.stream = 3;
  one.time_ns = 5000;
  return one;
}

event segment(event_kind kind, std::uint64_t address, std::uint64_t bytes) {
  event one;
  one.kind = kind;
  one.id = one.address = address;
  one.bytes = bytes;
  one.time_ns = 4000;
  return one;
}

std::uint64_t hash_of(const std::vector<event>& events) {
  trace_summary summary;
  for (const event& one : events) summary.take(one);
  return summary.blocks_hash();
}

/// What the public viewer needs of a file, or it stops with an error: blocks that fill their segment one after the
/// other, and a segment around every block that is live at any time.
class viewer final : public snapshot_visitor {
 public:
  void on_entry(const snapshot_record& entry, const pickle_code& /*code*/) override { entries.push_back(entry); }
  void on_segment(const snapshot_record& segment, const std::vector<snapshot_record>& blocks,
                  const pickle_code& /*code*/) override {
    std::uint64_t at = segment.address;
    for (const snapshot_record& one : blocks) {
      EXPECT_EQ(one.address, at);
      EXPECT_LE(one.requested_bytes, one.bytes);
      EXPECT_GT(one.bytes, 0U);
      at += one.bytes;
      if (one.state == snapshot_word::allocated_state) blocks_at_end.push_back(one);
    }
    EXPECT_EQ(at, segment.address + segment.bytes);
    segments.push_back(segment);
  }

  /// Goes back from the end, as the viewer does.
  void expect_segments_around_all_blocks() {
    range_set reserved;
    for (const snapshot_record& one : segments) reserved.add({one.address, one.address + one.bytes});
    for (const snapshot_record& one : blocks_at_end) {
      EXPECT_TRUE(reserved.covers({one.address, one.address + one.bytes}));
    }
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      const address_range range{entry->address, entry->address + entry->bytes};
      if (entry->action == snapshot_word::free_completed || entry->action == snapshot_word::alloc) {
        EXPECT_TRUE(reserved.covers(range)) << entry->address;
      }
      if (entry->action == snapshot_word::segment_alloc) reserved.remove(range);
      if (entry->action == snapshot_word::segment_free) reserved.add(range);
    }
  }

  std::vector<snapshot_record> entries;
  std::vector<snapshot_record> segments;
  std::vector<snapshot_record> blocks_at_end;
};

void expect_viewable(const std::string& bytes, viewer& view) {
  const auto from = source_of("t", bytes);
  snapshot_parser(*from, view).parse();
  view.expect_segments_around_all_blocks();
}

TEST(snapshot_writer, what_has_segments_keeps_its_addresses) {
  std::vector<event> events{
      segment(event_kind::segment_allocate, 65536, 4096),   block(event_kind::allocate, 65536, 100, 65536),
      block(event_kind::allocate, 66560, 900, 66560),       block(event_kind::free, 65536, 100, 65536),
      segment(event_kind::segment_allocate, 1 << 20, 2048), segment(event_kind::segment_free, 1 << 20, 2048)};
  const std::string bytes = written(events);
  const reading read = read_text(bytes);
  EXPECT_EQ(read.refusal, "");
  EXPECT_TRUE(std::equal(events.begin(), events.end(), read.events.begin(), read.events.end()))
      << lines_of(read.events);
  viewer view;
  expect_viewable(bytes, view);
  EXPECT_EQ(view.segments.size(), 1U);
  EXPECT_EQ(view.blocks_at_end.size(), 1U);
  EXPECT_EQ(view.entries.size(), 7U) << "a free is asked for and completed";
}

TEST(snapshot_writer, what_was_there_before_comes_back_as_such) {
  std::vector<event> events{segment(event_kind::segment_allocate, 65536, 4096),
                            block(event_kind::allocate, 65536, 512, 65536),
                            block(event_kind::allocate, 66048, 100, 66048), block(event_kind::free, 66048, 100, 66048)};
  for (std::size_t i = 0; i < 3; ++i) {
    events[i].before_recording = true;
    events[i].time_ns = no_time;
  }
  events[0].stream = 3;
  const reading read = read_text(written(events));
  EXPECT_EQ(read.facts.blocks_before, 2U);
  EXPECT_TRUE(read.events == events) << lines_of(read.events);
}

TEST(snapshot_writer, blocks_without_addresses_get_room_in_one_segment) {
  std::vector<event> events;
  for (std::uint64_t id = 0; id < 300; ++id) {
    events.push_back(block(event_kind::allocate, id, id * 100));
    if (id % 3 == 2) events.push_back(block(event_kind::free, id - 1, (id - 1) * 100));
  }
  const std::string bytes = written(events);
  const reading read = read_text(bytes);
  EXPECT_EQ(read.refusal, "");
  std::vector<event> blocks;
  std::copy_if(read.events.begin(), read.events.end(), std::back_inserter(blocks),
               [](const event& one) { return one.kind == event_kind::allocate || one.kind == event_kind::free; });
  EXPECT_EQ(hash_of(blocks), hash_of(events));
  viewer view;
  expect_viewable(bytes, view);
  EXPECT_EQ(view.segments.size(), 1U);
  // That of zero bytes has an entry, and no place.
  EXPECT_EQ(view.blocks_at_end.size(), 199U);
}

TEST(snapshot_writer, blocks_outside_all_segments_get_one_around_them) {
  const std::string bytes =
      written({block(event_kind::allocate, 4096, 512, 4096), block(event_kind::free, 4096, 512, 4096),
               block(event_kind::allocate, 4608, 512, 4608), block(event_kind::allocate, 1 << 20, 8, 1 << 20)});
  viewer view;
  expect_viewable(bytes, view);
  EXPECT_EQ(view.segments.size(), 2U);
  EXPECT_EQ(view.segments[0].bytes, 1024U);
}

TEST(snapshot_writer, every_device_has_its_list) {
  event other = block(event_kind::allocate, 1, 8);
  other.device = 2;
  const reading read = read_text(written({block(event_kind::allocate, 1, 16), other, block(event_kind::free, 1, 16)}));
  EXPECT_EQ(read.refusal, "");
  trace_summary summary;
  for (const event& one : read.events) summary.take(one);
  EXPECT_EQ(summary.count(event_kind::allocate), 2U);
  EXPECT_EQ(summary.count(event_kind::free), 1U);
  EXPECT_EQ(read.events.back().device, 2U);

  other.device = 1024;
  string_sink out;
  snapshot_writer writer(out);
  EXPECT_THROW(writer.take(other), trace_error);
}

TEST(snapshot_writer, refusals_and_snapshots_come_back_and_other_kinds_are_left_out) {
  event refusal;
  refusal.kind = event_kind::refusal;
  refusal.outcome = status::device_out_of_memory;
  refusal.bytes = std::uint64_t{1} << 63;
  refusal.other = UINT64_MAX;
  event photo;
  photo.kind = event_kind::snapshot;
  EXPECT_TRUE(read_text(written({refusal, photo})).events == (std::vector<event>{refusal, photo}));
  string_sink out;
  snapshot_writer writer(out);
  event step;
  step.kind = event_kind::step;
  writer.take(step);
  writer.take(segment(event_kind::segment_allocate, 0, 100));
  EXPECT_EQ(writer.left_out(), 2U) << "a segment without an address has no place";
}

TEST(snapshot_writer, an_empty_trace_is_a_snapshot) {
  EXPECT_EQ(read_text(written({})).refusal, "");
  EXPECT_EQ(read_text(written({})).events.size(), 0U);
}

TEST(snapshot_writer, long_lists_are_appended_in_groups_that_readers_can_hold) {
  std::vector<event> events;
  for (std::uint64_t id = 0; id < 5000; ++id) events.push_back(block(event_kind::allocate, id, 512));
  const std::string bytes = written(events);
  viewer view;
  expect_viewable(bytes, view);
  EXPECT_EQ(view.entries.size(), 5000U);
  EXPECT_EQ(view.blocks_at_end.size(), 5000U);
  EXPECT_GE(std::count(bytes.begin(), bytes.end(), 'e'), 10);
}

TEST(address_layout, room_that_is_given_back_is_used_again_and_grows_together) {
  address_layout layout;
  const std::uint64_t one = layout.place(100);
  const std::uint64_t two = layout.place(512);
  const std::uint64_t three = layout.place(600);
  EXPECT_EQ(one, address_layout::base);
  EXPECT_EQ(two, one + 512);
  EXPECT_EQ(three, two + 512);
  layout.give_back(one, 100);
  layout.give_back(two, 512);
  EXPECT_EQ(layout.place(1024), one);
  layout.give_back(three, 600);
  EXPECT_EQ(layout.place(4096), three);
  EXPECT_THROW(static_cast<void>(layout.place(UINT64_MAX)), trace_error);
}

}  // namespace
}  // namespace arcalloc::trace
