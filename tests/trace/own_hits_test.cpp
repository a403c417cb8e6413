// SPDX-License-Identifier: Apache-2.0
// Version 2 of the own format, which recordings are written in: chunks of hits, by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "reading.hpp"
#include "recorded_bytes.hpp"
#include "trace/formats/own_format.hpp"
#include "trace/formats/own_writer.hpp"

namespace arcalloc::trace {
namespace {

using testing::recorded_chunk;
using testing::recorded_header;
using testing::stretch_of_hits;

constexpr std::uint64_t base = 0x7f00'0000'0000U;

std::string count_of(char events) { return recorded_chunk(own::end_type, std::string(1, events)); }
std::string hits_of(const std::string& payload) { return recorded_chunk(own::hits_type, payload); }

/// A file of one chunk of hits.
std::string with_hits(const std::string& payload, char count) {
  return recorded_header() + hits_of(payload) + count_of(count);
}

/// An allocate of the block 3 steps from the base, one at the base, and the free of the first.
stretch_of_hits three_hits() {
  return {.time_ns = 64, .on = 7, .base = base, .notes = {6, 0, 7}, .sizes = {300, 70'000}};
}

TEST(own_hits, come_back_as_events) {
  const reading read = read_text(with_hits(three_hits().bytes(), 3));
  EXPECT_EQ(read.refusal, "");
  EXPECT_FALSE(read.facts.cut_at.has_value());
  ASSERT_EQ(read.events.size(), 3U);
  const event& first = read.events[0];
  EXPECT_EQ(first.kind, event_kind::allocate);
  EXPECT_EQ(first.id, base + 3 * 512);
  EXPECT_EQ(first.address, base + 3 * 512);
  EXPECT_EQ(first.bytes, 300U);
  EXPECT_EQ(first.stream, 7U);
  EXPECT_EQ(first.device, 0U);
  EXPECT_EQ(first.time_ns, 64U);
  EXPECT_EQ(read.events[1].id, base);
  EXPECT_EQ(read.events[1].bytes, 70'000U);
  EXPECT_EQ(read.events[2].kind, event_kind::free);
  EXPECT_EQ(read.events[2].id, base + 3 * 512);
  EXPECT_EQ(read.events[2].bytes, 300U) << "a free has the bytes of its block";
}

TEST(own_hits, the_bytes_are_those_of_the_documentation) {
  stretch_of_hits one{.time_ns = 0x0102, .on = 1, .base = 0x20000, .notes = {4, 5}, .sizes = {300}};
  one.note_width = one.size_width = 2;
  const std::string payload(
      "\x02\x00\x01\x00\x02\x02\x00\x00"
      "\x02\x01\x00\x00\x00\x00\x00\x00"
      "\x01\x00\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x02\x00\x00\x00\x00\x00"
      "\x04\x00\x05\x00\x2c\x01\x00\x00",
      40);
  EXPECT_EQ(one.bytes(), payload);
  // The checksum, worked out by another program.
  EXPECT_EQ(hits_of(payload),
            std::string("\x28\x00\x00\x00H\x00\x00\x00", 8) + std::string("\x63\xbf\x0a\x5d", 4) + payload);
  EXPECT_EQ(lines_of(read_text(with_hits(payload, 2)).events),
            "allocate 132096: 300 bytes @1 t=258\nfree 132096: 300 bytes @1 t=258\n");
}

TEST(own_hits, numbers_of_either_width) {
  for (const unsigned note_width : {2U, 4U}) {
    for (const unsigned size_width : {2U, 4U}) {
      stretch_of_hits hits{.base = base, .notes = {0xfffe, 0}, .sizes = {0xffff, 0}};
      hits.note_width = note_width;
      hits.size_width = size_width;
      const reading read = read_text(with_hits(hits.bytes(), 2));
      ASSERT_EQ(read.refusal, "");
      ASSERT_EQ(read.events.size(), 2U);
      EXPECT_EQ(read.events[0].id, base + 0x7fffU * 512U);
      EXPECT_EQ(read.events[0].bytes, 0xffffU);
      EXPECT_EQ(read.events[1].id, base);
      EXPECT_EQ(read.events[1].bytes, 0U);
    }
  }
  const stretch_of_hits far{.notes = {0xffff'fffe}, .sizes = {0xffff'ffff}};
  const reading read = read_text(with_hits(far.bytes(), 1));
  ASSERT_EQ(read.events.size(), 1U);
  EXPECT_EQ(read.events[0].id, std::uint64_t{0x7fff'ffff} * 512);
  EXPECT_EQ(read.events[0].bytes, 0xffff'ffffU);
}

TEST(own_hits, stand_beside_events_in_any_order) {
  const std::string step = recorded_chunk(own::events_type, "\x04");
  const std::string three = three_hits().bytes();
  stretch_of_hits last{.time_ns = 99, .on = 7, .base = base, .notes = {1}};
  const reading read =
      read_text(recorded_header() + step + hits_of(three + last.bytes()) + hits_of("") + step + count_of(6));
  EXPECT_EQ(read.refusal, "");
  ASSERT_EQ(read.events.size(), 6U);
  EXPECT_EQ(read.events[0].kind, event_kind::step);
  EXPECT_EQ(read.events[4].kind, event_kind::free);
  EXPECT_EQ(read.events[4].time_ns, 99U);
  EXPECT_EQ(read.events[5].kind, event_kind::step);
}

TEST(own_hits, are_written_small_in_version_1_without_a_difference) {
  const reading read = read_text(with_hits(three_hits().bytes(), 3));
  string_sink out;
  own_writer writer(out);
  for (const event& one : read.events) writer.take(one);
  writer.finish();
  EXPECT_EQ(out.bytes()[8], '\x01');
  EXPECT_TRUE(read_text(out.bytes()).events == read.events);
}

TEST(own_hits, what_makes_no_sense_is_refused_by_the_byte_of_its_stretch) {
  const auto refused = [](const std::string& payload) { return refusal_of(with_hits(payload, 3)); };
  const std::string good = three_hits().bytes();
  const std::string counts = "a stretch of hits with wrong counts";
  EXPECT_EQ(read_text(with_hits(good, 3)).refusal, "");
  EXPECT_EQ(refused(good.substr(0, 31)), "t at byte 28: a stretch of hits goes beyond its chunk");
  EXPECT_EQ(refused(good.substr(0, good.size() - 1)), "t at byte 28: a stretch of hits goes beyond its chunk");
  stretch_of_hits second = three_hits();
  second.notes = {6};
  second.sizes = {};
  const std::string at_second = "t at byte " + std::to_string(28 + good.size()) + ": ";
  EXPECT_EQ(refused(good + second.bytes()), at_second + counts);
  second.sizes = {1, 2};
  EXPECT_EQ(refused(good + second.bytes()), at_second + counts) << "more allocates than hits";
  second.notes = {7, 7};
  EXPECT_EQ(refused(good + second.bytes()), at_second + counts) << "a size for a free";
  second.notes = {};
  second.sizes = {};
  EXPECT_EQ(refused(good + second.bytes()), at_second + counts) << "of nothing";
  for (const unsigned width : {0U, 1U, 3U, 8U, 255U}) {
    stretch_of_hits odd = three_hits();
    odd.note_width = width;
    EXPECT_EQ(refused(odd.bytes()), "t at byte 28: a stretch of hits with a width that is not known") << width;
    odd.note_width = 4;
    odd.size_width = width;
    EXPECT_EQ(refused(odd.bytes()), "t at byte 28: a stretch of hits with a width that is not known") << width;
  }
  stretch_of_hits late = three_hits();
  late.time_ns = time_ns_max + 1;
  EXPECT_EQ(refused(late.bytes()), "t at byte 28: a time out of range");
  stretch_of_hits high = three_hits();
  high.base = UINT64_MAX - 3 * 512 + 1;
  EXPECT_EQ(refused(high.bytes()), "t at byte 28: an address out of range");
  stretch_of_hits filled{.base = base, .notes = {1}};
  std::string unclean = filled.bytes();
  unclean.back() = '\x01';
  EXPECT_EQ(refused(unclean), "t at byte 28: what fills up a stretch is not zero");
  std::string reserved = good;
  reserved[6] = '\x01';
  EXPECT_EQ(refused(reserved), "t at byte 28: a stretch of hits with a width that is not known");
}

TEST(own_hits, ids_are_held_to_what_is_live) {
  stretch_of_hits twice{.base = base, .notes = {0, 0}, .sizes = {1, 1}};
  EXPECT_EQ(refusal_of(with_hits(twice.bytes(), 2)),
            "t at byte 28: allocates " + std::to_string(base) + ", which is live");
}

TEST(own_hits, what_was_there_before_comes_before_them) {
  const std::string before = recorded_chunk(own::events_type, std::string("\x80\x05\x02\x01", 4));
  const std::string three = hits_of(three_hits().bytes());
  EXPECT_EQ(read_text(recorded_header() + before + three + count_of(4)).events.size(), 4U);
  EXPECT_NE(refusal_of(recorded_header() + three + before + count_of(4)).find("comes behind it"), std::string::npos);
}

TEST(own_hits, belong_to_version_2) {
  std::string bytes = with_hits(three_hits().bytes(), 3);
  bytes[8] = '\x01';
  EXPECT_EQ(refusal_of(bytes), "t at byte 16: the checksum of a chunk does not fit: the file is damaged");
  bytes[8] = '\x03';
  EXPECT_EQ(refusal_of(bytes), "t at byte 0: format version 3; this program reads 1 and 2");
}

TEST(own_hits, no_damaged_byte_is_read_as_something_else) {
  const std::string bytes = recorded_header() + hits_of(three_hits().bytes()) +
                            recorded_chunk(own::events_type, "\x04\x04\x04") + count_of(6);
  const std::vector<event> all = read_text(bytes).events;
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      read_options own;
      own.format = trace_format::own;
      const reading read = read_text(damaged, own);
      EXPECT_TRUE(!read.refusal.empty() || read.facts.cut_at.has_value()) << "byte " << i << " bit " << bit;
      if (read.refusal.empty()) {
        EXPECT_TRUE(std::equal(read.events.begin(), read.events.end(), all.begin()));
      }
    }
  }
}

TEST(own_hits, numbers_that_change_places_are_noticed) {
  stretch_of_hits many{.base = base};
  for (std::uint32_t i = 0; i < 64; ++i) many.notes.push_back(i % 2 == 0 ? 4 * i : 4 * (i - 1) + 1);
  for (std::uint32_t i = 0; i < 32; ++i) many.sizes.push_back(i);
  std::string bytes = with_hits(many.bytes(), 64);
  ASSERT_EQ(read_text(bytes).refusal, "");
  const std::size_t notes = own::header_bytes + own::chunk_header_bytes + own::stretch_header_bytes;
  for (const std::size_t apart : {8U, 16U, 32U, 64U}) {
    std::string damaged = bytes;
    std::swap_ranges(damaged.begin() + static_cast<std::ptrdiff_t>(notes),
                     damaged.begin() + static_cast<std::ptrdiff_t>(notes + 8),
                     damaged.begin() + static_cast<std::ptrdiff_t>(notes + apart));
    EXPECT_EQ(refusal_of(damaged), "t at byte 16: the checksum of a chunk does not fit: the file is damaged") << apart;
  }
}

TEST(own_hits, a_file_that_is_cut_is_read_as_far_as_it_is_whole) {
  stretch_of_hits free{.base = base, .notes = {1}};
  const std::string first = hits_of(three_hits().bytes());
  const std::string bytes = recorded_header() + first + hits_of(free.bytes()) + count_of(4);
  const std::size_t first_ends = own::header_bytes + first.size();
  for (std::size_t size = own::header_bytes; size < bytes.size(); ++size) {
    const reading read = read_text(std::string_view(bytes).substr(0, size));
    ASSERT_EQ(read.refusal, "") << size;
    ASSERT_TRUE(read.facts.cut_at.has_value()) << size;
    EXPECT_LE(*read.facts.cut_at, size);
    EXPECT_EQ(read.events.size(), size < first_ends ? 0U : size < bytes.size() - 13 ? 3U : 4U) << size;
  }
}

}  // namespace
}  // namespace arcalloc::trace
