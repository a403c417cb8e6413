// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <zlib.h>

#include "reading.hpp"
#include "trace/formats/own_format.hpp"
#include "trace/formats/own_writer.hpp"

namespace arcalloc::trace {
namespace {

std::string written(const std::vector<event>& events) {
  string_sink out;
  own_writer writer(out);
  for (const event& one : events) writer.take(one);
  writer.finish();
  return out.bytes();
}

event of(event_kind kind) {
  event one;
  one.kind = kind;
  return one;
}

/// One event of every kind, every field that the kind has set to something.
std::vector<event> one_of_every_kind() {
  std::vector<event> all;
  const auto add = [&](event_kind kind, auto set) {
    event one = of(kind);
    one.time_ns = 1'700'000'000'000'000'000U + all.size() * 1001;
    one.stream = 0x7f00'0000'1000U;
    one.device = 3;
    set(one);
    all.push_back(one);
  };
  const auto block = [](event& one) {
    one.id = one.address = 0x7f12'3456'7800U;
    one.bytes = std::uint64_t{5} << 40;
  };
  add(event_kind::allocate, [&](event& one) {
    block(one);
    one.before_recording = true;
    one.time_ns = no_time;
  });
  add(event_kind::use, [&](event& one) {
    block(one);
    one.stream = 9;
  });
  add(event_kind::free, block);
  add(event_kind::refusal, [](event& one) {
    one.bytes = UINT64_MAX;
    one.outcome = status::capacity_exceeded;
    one.other = 17;
  });
  add(event_kind::step, [](event&) {});
  add(event_kind::phase, [](event& one) { one.entered = phase::decode; });
  add(event_kind::capture_begin, [](event& one) {
    one.policy = capture_policy::refuse;
    one.other = 4;
  });
  add(event_kind::capture_join, [](event& one) { one.other = 0x7f00'0000'1000U; });
  add(event_kind::capture_end, [](event& one) { one.id = 12; });
  add(event_kind::capture_abort, [](event&) {});
  add(event_kind::graph_launch, [](event& one) { one.id = 12; });
  add(event_kind::release_graph, [](event& one) { one.id = 12; });
  add(event_kind::stream_end, [](event&) {});
  add(event_kind::trim, [](event& one) { one.bytes = 1U << 20; });
  add(event_kind::drain, [](event&) {});
  for (const event_kind kind :
       {event_kind::segment_allocate, event_kind::segment_free, event_kind::segment_map, event_kind::segment_unmap}) {
    add(kind, [](event& one) {
      one.id = one.address = 0x7f12'0000'0000U;
      one.bytes = 20U << 20;
    });
  }
  add(event_kind::snapshot, [](event&) {});
  return all;
}

TEST(own_format, every_kind_of_event_comes_back_field_by_field) {
  const std::vector<event> all = one_of_every_kind();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(event_kind_count));
  const reading read = read_text(written(all));
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(read.facts.format, trace_format::own);
  EXPECT_FALSE(read.facts.cut_at.has_value());
  ASSERT_EQ(read.events.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(read.events[i] == all[i]) << lines_of({read.events[i], all[i]});
  }
}

TEST(own_format, ids_and_addresses_in_every_relation) {
  std::vector<event> all;
  for (const auto& [id, address] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {1, 0}, {4096, 4096}, {8192, 8192}, {2, 0}, {3, 77}, {12288, 12288}, {5, 12288}, {0, 0}, {UINT64_MAX, 1}}) {
    event one;
    one.id = id;
    one.address = address;
    one.bytes = id;
    all.push_back(one);
  }
  const reading read = read_text(written(all));
  EXPECT_EQ(read.refusal, "");
  EXPECT_TRUE(read.events == all) << lines_of(read.events);
}

std::vector<event> many(std::size_t count) {
  std::vector<event> all;
  for (std::size_t i = 0; i < count; ++i) {
    event one;
    one.id = i;
    one.bytes = i * 37;
    one.time_ns = i * 1000;
    all.push_back(one);
  }
  return all;
}

TEST(own_format, chunks_stand_alone) {
  const std::vector<event> all = many(50000);
  const std::string bytes = written(all);
  EXPECT_GT(bytes.size(), 3 * (std::size_t{32} << 10)) << "several chunks were meant";
  EXPECT_TRUE(read_text(bytes).events == all);
}

TEST(own_format, a_file_that_is_cut_is_read_as_far_as_it_is_whole_and_says_how_far) {
  const std::vector<event> all = many(9000);
  const std::string bytes = written(all);
  const std::size_t first_ends = own::header_bytes + own::chunk_header_bytes + (std::size_t{32} << 10);
  std::size_t events_at_last = 0;
  for (std::size_t size = own::header_bytes; size < bytes.size(); size += size < 64 ? 1 : 977) {
    const reading read = read_text(std::string_view(bytes).substr(0, size));
    ASSERT_EQ(read.refusal, "") << size;
    ASSERT_TRUE(read.facts.cut_at.has_value()) << size;
    EXPECT_LE(*read.facts.cut_at, size);
    EXPECT_GE(read.events.size(), events_at_last);
    events_at_last = read.events.size();
    EXPECT_TRUE(std::equal(read.events.begin(), read.events.end(), all.begin()));
    // What is beyond the place is what was not read.
    const reading again = read_text(std::string_view(bytes).substr(0, *read.facts.cut_at));
    EXPECT_EQ(again.events.size(), read.events.size());
    if (size > first_ends + 8) {
      EXPECT_GT(read.events.size(), 0U) << size;
    }
  }
  EXPECT_GT(events_at_last, 0U);
}

TEST(own_format, zeros_behind_are_what_a_machine_that_stopped_leaves) {
  const std::vector<event> all = many(10);
  std::string bytes = written(all);
  const std::size_t whole = bytes.size();
  const std::size_t end_chunk = whole - own::chunk_header_bytes - 1;
  std::string without_end = bytes.substr(0, end_chunk);
  const reading read = read_text(without_end + std::string(5000, '\0'));
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(read.facts.cut_at, end_chunk);
  EXPECT_EQ(read.events.size(), 10U);
  // A page of the last chunk that never reached the disk.
  without_end.back() = '\0';
  const reading torn = read_text(without_end + std::string(5000, '\0'));
  EXPECT_EQ(torn.facts.cut_at, own::header_bytes);
  EXPECT_EQ(torn.events.size(), 0U);
}

TEST(own_format, no_damaged_byte_is_read_as_something_else) {
  const std::vector<event> all = one_of_every_kind();
  const std::string bytes = written(all);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char flip : {'\x01', '\x80'}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      read_options own;
      own.format = trace_format::own;
      const reading read = read_text(damaged, own);
      const bool is_told = !read.refusal.empty() || read.facts.cut_at.has_value();
      EXPECT_TRUE(is_told) << "byte " << i;
      if (read.refusal.empty()) {
        EXPECT_TRUE(std::equal(read.events.begin(), read.events.end(), all.begin()));
      }
    }
  }
}

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string header() { return std::string(own::magic) + little_endian(1) + little_endian(0); }

std::string chunk(char type, const std::string& payload) {
  std::string head = little_endian(static_cast<std::uint32_t>(payload.size())) + type + std::string(3, '\0');
  const std::string summed = head + payload;
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return head + little_endian(static_cast<std::uint32_t>(sum)) + payload;
}

/// A file of one chunk of events.
std::string with_events(const std::string& payload, char count) {
  return header() + chunk('E', payload) + chunk('Z', std::string(1, count));
}

TEST(own_format, the_bytes_are_those_of_the_documentation) {
  event one;
  one.id = 5;
  one.bytes = 300;
  one.stream = 1;
  one.time_ns = 64;
  // allocate with time and place; +64; stream 1, device 0; id +5; 300 bytes.
  EXPECT_EQ(written({one}), with_events(std::string("\x60\x80\x01\x01\x00\x0a\xac\x02", 8), 1));
}

TEST(own_format, a_lower_case_chunk_is_passed_over_and_an_upper_case_one_refused) {
  const std::string step = chunk('E', "\x04");
  const reading read = read_text(header() + chunk('m', "anything") + step + chunk('Z', "\x01"));
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(read.events.size(), 1U);
  EXPECT_EQ(refusal_of(header() + step + chunk('Q', "anything") + chunk('Z', "\x01")),
            "t at byte 29: a chunk of type Q, which this program does not know");
  EXPECT_EQ(refusal_of(header() + step + chunk('H', "") + chunk('Z', "\x01")),
            "t at byte 29: a chunk of type H, which this program does not know")
      << "it belongs to version 2";
}

TEST(own_format, what_makes_no_sense_is_refused_by_its_byte) {
  const auto events = [](const std::string& payload) { return refusal_of(with_events(payload, 1)); };
  EXPECT_EQ(events("\x1f"), "t at byte 28: there is no kind of event 31");
  EXPECT_EQ(events("\x04\x05\x03"), "t at byte 29: there is no phase 3");
  EXPECT_EQ(events(std::string("\x03\x01\x0b\x00", 4)), "t at byte 28: there is no status 11");
  EXPECT_EQ(events(std::string("\x06\x03\x00", 3)), "t at byte 28: there is no capture policy 3");
  EXPECT_EQ(events("\x44\x01"), "t at byte 28: an event goes beyond its chunk");
  EXPECT_EQ(events(std::string(1, '\x0d') + std::string(9, '\xff') + "\x02"),
            "t at byte 28: a number of more than 64 bits");
  EXPECT_EQ(events(std::string(1, '\x0d') + std::string(20, '\xff')), "t at byte 28: a number of more than 64 bits");
  EXPECT_EQ(events("\x24\x01"), "t at byte 28: a time out of range");
  EXPECT_EQ(events("\x84\x10"), "t at byte 28: unknown marks on an event");
  EXPECT_EQ(events("\x84\x01"), "t at byte 28: marks on an event that has none");
  EXPECT_EQ(events("\x44\x01\x80\x80\x80\x80\x10"), "t at byte 28: there is no device 4294967296");
}

TEST(own_format, what_is_around_the_events_is_looked_at) {
  const std::string step = chunk('E', "\x04");
  EXPECT_EQ(refusal_of(std::string(own::magic) + little_endian(3) + little_endian(0)),
            "t at byte 0: format version 3; this program reads 1 and 2");
  EXPECT_EQ(refusal_of(std::string(own::magic) + little_endian(1) + little_endian(1)),
            "t at byte 0: reserved bytes of the header are not zero");
  EXPECT_EQ(refusal_of(own::magic), "t at byte 0: the header is cut");
  EXPECT_EQ(refusal_of(header() + step + chunk('Z', "\x02")), "t at byte 41: closed after 2 events, but holds 1");
  EXPECT_EQ(refusal_of(header() + step + chunk('Z', "\x01\x01")), "t at byte 41: more than a number in the last chunk");
  EXPECT_EQ(refusal_of(header() + step + chunk('Z', "\x01") + "x"), "t at byte 42: the file goes on after its end");
  EXPECT_EQ(refusal_of(header() + little_endian(0x7fffffff) + "E" + std::string(7, '\0')),
            "t at byte 16: expected a chunk");
  std::string damaged = header() + chunk('E', "\x04") + chunk('Z', "\x01");
  damaged[28] = '\x05';
  EXPECT_EQ(refusal_of(damaged), "t at byte 16: the checksum of a chunk does not fit: the file is damaged");
}

TEST(own_format, ids_are_held_to_what_is_live) {
  event one;
  one.id = 7;
  one.bytes = 1;
  EXPECT_EQ(refusal_of(written({one, one})), "t at byte 31: allocates 7, which is live");
  event other = one;
  other.device = 1;
  EXPECT_EQ(read_text(written({one, other})).events.size(), 2U) << "the id of another device is another";
  event free = of(event_kind::free);
  free.id = 9;
  event use = of(event_kind::use);
  use.id = 9;
  const reading read = read_text(written({one, free, use}));
  EXPECT_EQ(read.events.size(), 1U);
  EXPECT_EQ(read.facts.frees_skipped, 2U);
}

TEST(own_format, what_was_there_before_is_marked_and_can_be_left_out) {
  event block;
  block.id = 1;
  block.bytes = 10;
  block.before_recording = true;
  event segment = of(event_kind::segment_allocate);
  segment.address = segment.id = 4096;
  segment.bytes = 20;
  segment.before_recording = true;
  event free = of(event_kind::free);
  free.id = 1;
  const std::string bytes = written({segment, block, free});
  const reading read = read_text(bytes);
  EXPECT_EQ(read.events.size(), 3U);
  EXPECT_EQ(read.facts.blocks_before, 1U);
  EXPECT_EQ(read.facts.bytes_before, 10U);
  EXPECT_EQ(read.facts.reserved_before, 20U);
  read_options from_empty;
  from_empty.from_empty = true;
  const reading skipped = read_text(bytes, from_empty);
  EXPECT_EQ(skipped.events.size(), 0U);
  EXPECT_EQ(skipped.facts.frees_skipped, 1U);
}

TEST(own_format, what_was_there_before_comes_first) {
  event before;
  before.before_recording = true;
  EXPECT_EQ(refusal_of(written({of(event_kind::step), before})),
            "t at byte 29: what was there before the recording comes behind it");
  before.time_ns = 1;
  EXPECT_EQ(refusal_of(written({before})), "t at byte 28: what was there before the recording has no time in it");
}

TEST(own_format, one_device_of_several_can_be_asked_for) {
  event one;
  one.id = 1;
  event other;
  other.id = 1;
  other.device = 2;
  read_options options;
  options.device = 2;
  const reading read = read_text(written({one, other}), options);
  EXPECT_EQ(lines_of(read.events), "allocate 1: 0 bytes @0 d2\n");
  EXPECT_EQ(read.facts.elsewhere_skipped, 1U);
}

}  // namespace
}  // namespace arcalloc::trace
