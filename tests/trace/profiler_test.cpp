// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reading.hpp"

namespace arcalloc::trace {
namespace {

/// A [memory] event of device 0.
std::string memory(const std::string& time, const std::string& bytes, const std::string& more = "") {
  return R"({"ph":"i","name":"[memory]","ts":)" + time + R"(,"args":{"Device Type":1,"Device Id":0,"Bytes":)" + bytes +
         (more.empty() ? std::string() : std::string(",").append(more)) + "}}";
}

std::string at(std::uint64_t address) { return "\"Addr\":" + std::to_string(address); }

std::string whole(const std::string& events) { return R"({"schemaVersion":1,"traceEvents":[)" + events + "]}"; }

TEST(profiler, negative_bytes_are_frees) {
  const reading read = read_text(whole(memory("10", "256", at(4096)) + "," + memory("12", "-256", at(4096))));
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(read.facts.format, trace_format::profiler);
  EXPECT_EQ(lines_of(read.events), "allocate 4096: 256 bytes @0 t=10000\nfree 4096: 256 bytes @0 t=12000\n");
}

TEST(profiler, other_events_are_passed_over_whatever_they_hold) {
  const std::string other =
      R"({"ph":"X","name":"aten::mm","ts":1,"args":{"Bytes":7,"Device Type":1,"Input Dims":[[1,2],{"a":[{}]}]}})";
  const std::string nested = R"({"name":"x","args":{"name":"[memory]","args":{"Bytes":1}}})";
  const std::string text = R"({"a":{"traceEvents":[)" + memory("1", "1") + R"(]},"traceEvents":[)" + other + "," +
                           nested + "," + memory("5", "8", at(16)) + R"(, 7, null, [], "s"],"b":[)" + memory("9", "9") +
                           "]}";
  const reading read = read_text(text);
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(lines_of(read.events), "allocate 16: 8 bytes @0 t=5000\n");
}

TEST(profiler, a_bare_array_of_events_is_a_trace_too) {
  EXPECT_EQ(read_text(std::string("[") + memory("5", "8", at(16)) + "]").events.size(), 1U);
}

TEST(profiler, times_are_micro_or_nanoseconds) {
  const auto time_of = [](const std::string& text) {
    return read_text(whole(memory(text, "8", at(1)))).events[0].time_ns;
  };
  EXPECT_EQ(time_of("1669783687464300"), 1'669'783'687'464'300'000U);
  EXPECT_EQ(time_of("1669783687464300.125"), 1'669'783'687'464'300'125U);
  EXPECT_EQ(time_of("1669783687464300125"), 1'669'783'687'464'300'125U);
  EXPECT_EQ(time_of("0.5"), 500U);
}

TEST(profiler, the_order_is_that_of_time) {
  const reading read = read_text(whole(memory("20", "-8", at(16)) + "," + memory("10", "8", at(16))));
  EXPECT_EQ(lines_of(read.events), "allocate 16: 8 bytes @0 t=10000\nfree 16: 8 bytes @0 t=20000\n");
}

TEST(profiler, memory_of_the_host_is_counted_and_left_out) {
  std::string host = memory("1", "8");
  host.replace(host.find("Type\":1"), 7, "Type\":0");
  const reading read = read_text(whole(host + "," + memory("2", "8", at(16))));
  EXPECT_EQ(read.events.size(), 1U);
  EXPECT_EQ(read.facts.elsewhere_skipped, 1U);
}

TEST(profiler, without_addresses_a_free_is_that_of_the_latest_block_of_its_size) {
  const reading read = read_text(whole(memory("1", "8") + "," + memory("2", "8") + "," + memory("3", "16") + "," +
                                       memory("4", "-8") + "," + memory("5", "-32")));
  EXPECT_EQ(lines_of(read.events),
            "allocate before 4: 32 bytes @0\nallocate 1: 8 bytes @0 t=1000\nallocate 2: 8 bytes @0 t=2000\n"
            "allocate 3: 16 bytes @0 t=3000\nfree 2: 8 bytes @0 t=4000\nfree 4: 32 bytes @0 t=5000\n");
  EXPECT_EQ(read.facts.matched_by_size, 2U);
}

TEST(profiler, what_was_reserved_is_there_as_segments) {
  const auto reserved = [](std::uint64_t bytes) { return "\"Total Reserved\":" + std::to_string(bytes); };
  const reading read = read_text(whole(memory("1", "8", at(16) + "," + reserved(100)) + "," +
                                       memory("2", "8", at(32) + "," + reserved(150)) + "," +
                                       memory("3", "-8", at(16) + "," + reserved(50))));
  EXPECT_EQ(lines_of(read.events),
            "segment_allocate before 0: 100 bytes @0\nallocate 16: 8 bytes @0 t=1000\n"
            "segment_allocate 0: 50 bytes @0 t=2000\nallocate 32: 8 bytes @0 t=2000\n"
            "segment_free 0: 100 bytes @0 t=3000\nfree 16: 8 bytes @0 t=3000\n");
  EXPECT_EQ(read.facts.reserved_before, 100U);
}

TEST(profiler, one_block_stands_for_what_was_there_and_is_never_freed) {
  const std::string text =
      whole(memory("1", "8", at(16) + R"(,"Total Allocated":1000)") + "," + memory("2", "-92", at(64)));
  const reading read = read_text(text);
  EXPECT_EQ(lines_of(read.events),
            "allocate before 0: 900 bytes @0\nallocate before 64: 92 bytes @0\nallocate 16: 8 bytes @0 t=1000\n"
            "free 64: 92 bytes @0 t=2000\n");
  EXPECT_EQ(read.facts.bytes_lumped, 900U);
  read_options from_empty;
  from_empty.from_empty = true;
  EXPECT_EQ(lines_of(read_text(text, from_empty).events), "allocate 16: 8 bytes @0 t=1000\n");
}

TEST(profiler, events_of_nothing_are_skipped) {
  EXPECT_EQ(read_text(whole(memory("1", "0", at(16)))).facts.null_skipped, 1U);
}

TEST(profiler, what_cannot_be_understood_is_refused) {
  EXPECT_EQ(refusal_of(whole(memory("1", "1.5"))).find("expected a whole number as Bytes") != std::string::npos, true);
  EXPECT_NE(refusal_of(whole(memory("-1", "1"))).find("expected a time as ts"), std::string::npos);
  EXPECT_NE(refusal_of(whole(memory("1e300", "1"))).find("a time out of range"), std::string::npos);
  EXPECT_NE(refusal_of(whole(memory("1", "1e30", at(1)))).find("expected a whole number as Bytes"), std::string::npos);
  EXPECT_NE(refusal_of(whole(R"({"name":"[memory]","ts":1,"args":{"Device Type":1,"Device Id":0}})"))
                .find("expected a whole number as Bytes"),
            std::string::npos);
  EXPECT_NE(refusal_of(whole(R"({"name":"[memory]","ts":1,"args":{"Bytes":1}})"))
                .find("expected a whole number as Device Type"),
            std::string::npos);
  EXPECT_EQ(refusal_of("{\"a\": 1}"), "t at byte 8: JSON without traceEvents: not a trace of PyTorch's profiler");
}

TEST(profiler, what_is_no_json_is_refused_by_its_byte) {
  const std::string text = whole(memory("1", "8", at(16)));
  for (std::size_t size = 1; size < text.size(); size += 7) {
    const std::string message = refusal_of(std::string_view(text).substr(0, size));
    EXPECT_EQ(message.rfind(std::string("t at byte ").append(std::to_string(size + 1)), 0), 0U) << message;
    EXPECT_NE(message.find("not JSON"), std::string::npos) << message;
  }
  EXPECT_NE(refusal_of(text + "x").find("not JSON"), std::string::npos);
  EXPECT_NE(refusal_of("{\"\x01\": 1}").find("not JSON"), std::string::npos);
}

TEST(profiler, nesting_and_values_beyond_all_traces_are_refused) {
  EXPECT_NE(refusal_of(std::string(100000, '[')).find("nested more than 64 deep"), std::string::npos);
  const std::string large =
      std::string("{\"a\": \"") + std::string(std::size_t{8} << 20, 'x') + "\", \"traceEvents\": []}";
  EXPECT_NE(refusal_of(large).find("a single value of more than 4 MiB"), std::string::npos);
  const std::string blank = std::string("[") + std::string(std::size_t{8} << 20, ' ') + "]";
  EXPECT_NE(refusal_of(blank).find("a single value of more than 4 MiB"), std::string::npos);
}

TEST(profiler, an_event_that_cannot_be_is_refused_where_it_ends) {
  const std::string text = whole(memory("1", "8") + "," + memory("2", "1.5") + "," + memory("3", "-8"));
  const std::size_t end = text.find("1.5}}") + 5;
  EXPECT_EQ(refusal_of(text),
            "t at byte " + std::to_string(end) + ": a [memory] event just before: expected a whole number as Bytes");
}

TEST(profiler, packed_it_is_refused_the_same) {
  EXPECT_EQ(refusal_of(gzipped(std::string(100000, '['))), "t at unpacked byte 65: nested more than 64 deep");
  const std::string packed = gzipped(whole(memory("10", "256", at(4096))));
  EXPECT_NE(refusal_of(std::string_view(packed).substr(0, packed.size() - 9)).find("the gzip data ends early"),
            std::string::npos);
}

TEST(profiler, packed_it_is_the_same) {
  EXPECT_EQ(read_text(gzipped(whole(memory("10", "256", at(4096))))).events.size(), 1U);
}

}  // namespace
}  // namespace arcalloc::trace
