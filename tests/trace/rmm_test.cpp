// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reading.hpp"

namespace arcalloc::trace {
namespace {

const std::string rmm_head = "Thread,Time,Action,Pointer,Size,Stream\n";

TEST(rmm, allocate_free_and_failure) {
  const reading read = read_text(rmm_head +
                                 "2342727,15:47:02.841961,allocate,0x1000,256,0x7f00\n"
                                 "2342727,15:47:02.841962,allocate failure,(nil),1024,0x0\n"
                                 "2342728,15:47:02.841977,free,0x1000,256,0x0\n");
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(read.facts.format, trace_format::rmm);
  EXPECT_EQ(lines_of(read.events),
            "allocate 4096: 256 bytes @32512 t=56822841961000\n"
            "refusal 0: 1024 bytes @0 t=56822841962000 device_out_of_memory\n"
            "free 4096: 256 bytes @0 t=56822841977000\n");
  EXPECT_EQ(read.events[0].address, 4096U);
}

TEST(rmm, a_free_may_be_called_deallocate_and_streams_be_decimal) {
  const reading read =
      read_text(rmm_head + "1,15:47:02:841961,allocate,0xABC0,8,12\n1,15:47:02:9,deallocate,0xabc0,8,12\n");
  EXPECT_EQ(lines_of(read.events),
            "allocate 43968: 8 bytes @12 t=56822841961000\nfree 43968: 8 bytes @12 t=56822900000000\n");
}

TEST(rmm, times_are_of_a_day_or_seconds) {
  const auto time_of = [](const std::string& text) {
    const reading read = read_text(rmm_head + "1," + text + ",allocate,0x10,8,0\n");
    return read.refusal.empty() ? read.events[0].time_ns : no_time;
  };
  EXPECT_EQ(time_of("00:00:00"), 0U);
  EXPECT_EQ(time_of("00:00:01.5"), 1'500'000'000U);
  EXPECT_EQ(time_of("1634567890.123456"), 1'634'567'890'123'456'000U);
  EXPECT_EQ(time_of("12"), 12'000'000'000U);
  for (const char* wrong : {"", "24:00:00", "1:00:00", "00:60:00", "00:00:61", "00:00:00.", "00:00:00.1234567890", "-1",
                            "1.", "0x10", "00:00:00,5", "00.00.00"}) {
    EXPECT_EQ(time_of(wrong), no_time) << wrong;
  }
}

TEST(rmm, a_log_goes_on_at_midnight) {
  const reading read = read_text(rmm_head +
                                 "1,23:59:59.5,allocate,0x10,8,0\n1,00:00:00.5,allocate,0x20,8,0\n"
                                 "1,00:00:00.4,free,0x10,8,0\n");
  EXPECT_EQ(read.events[1].time_ns - read.events[0].time_ns, 1'000'000'000U);
  EXPECT_EQ(read.events[2].time_ns, read.events[1].time_ns - 100'000'000U) << "two threads, not another day";
}

TEST(rmm, requests_of_nothing_get_a_null_pointer_and_are_skipped) {
  const reading read =
      read_text(rmm_head + "1,00:00:01,allocate,(nil),0,0\n1,00:00:01,allocate,0x0,0,0\n1,00:00:02,free,(nil),0,0\n");
  EXPECT_EQ(read.events.size(), 0U);
  EXPECT_EQ(read.facts.null_skipped, 3U);
}

TEST(rmm, what_was_there_before_is_put_in_front) {
  const reading read = read_text(rmm_head + "1,00:00:01,allocate,0x10,8,0\n1,00:00:02,free,0x5000,64,0\n");
  EXPECT_EQ(lines_of(read.events),
            "allocate before 20480: 64 bytes @0\nallocate 16: 8 bytes @0 t=1000000000\n"
            "free 20480: 64 bytes @0 t=2000000000\n");
}

TEST(rmm, an_address_handed_out_again_was_freed) {
  const reading read = read_text(rmm_head + "1,00:00:01,allocate,0x10,8,3\n1,00:00:02,allocate,0x10,16,0\n");
  EXPECT_EQ(lines_of(read.events),
            "allocate 16: 8 bytes @3 t=1000000000\nfree 16: 8 bytes @3 t=2000000000\n"
            "allocate 16: 16 bytes @0 t=2000000000\n");
  EXPECT_EQ(read.facts.frees_made_up, 1U);
}

TEST(rmm, a_garbled_row_is_refused_by_its_line) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"1,00:00:01,alloc,0x10,8,0\n", "t:2: expected allocate, allocate failure or free, found \"alloc\""},
      {"1,now,allocate,0x10,8,0\n", "t:2: expected a time, as in 13:45:01.123456, found \"now\""},
      {"1,00:00:01,allocate,0xZ,8,0\n", "t:2: expected a pointer, as in 0x7f0000000000 or (nil), found \"0xZ\""},
      {"1,00:00:01,allocate,0x,8,0\n", "t:2: expected a pointer, as in 0x7f0000000000 or (nil), found \"0x\""},
      {"1,00:00:01,allocate,0x10000000000000000,8,0\n",
       "t:2: expected a pointer, as in 0x7f0000000000 or (nil), found \"0x10000000000000000\""},
      {"1,00:00:01,allocate,0x10,-8,0\n", "t:2: expected a size in bytes: a whole number, found \"-8\""},
      {"1,00:00:01,allocate,0x10,8,main\n", "t:2: expected a stream, as in 0x0, found \"main\""},
      {"1,00:00:01,allocate,(nil),8,0\n", "t:2: expected the address of the block, found \"(nil)\""},
      {"1,00:00:01,free,0x10\n", "t:2: expected 6 fields, found 4"},
      {"1,00:00:01,free,0x10,8,", "t:2: the last line does not end: the file is cut"},
  };
  for (const auto& [rows, message] : all) EXPECT_EQ(refusal_of(rmm_head + rows), message);
}

}  // namespace
}  // namespace arcalloc::trace
