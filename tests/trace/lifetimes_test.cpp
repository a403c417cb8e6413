// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reading.hpp"
#include "trace/formats/trace_summary.hpp"

namespace arcalloc::trace {
namespace {

const std::string lifetimes_head = "id,lower,upper,size\n";

TEST(lifetimes, what_ends_is_freed_before_what_begins_at_the_same_time) {
  const reading read = read_text(lifetimes_head + "1,5,9,100\n0,2,5,50\n2,5,6,7\n");
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(read.facts.format, trace_format::lifetimes);
  EXPECT_EQ(lines_of(read.events),
            "allocate 0: 50 bytes @0 t=2000\nfree 0: 50 bytes @0 t=5000\nallocate 1: 100 bytes @0 t=5000\n"
            "allocate 2: 7 bytes @0 t=5000\nfree 2: 7 bytes @0 t=6000\nfree 1: 100 bytes @0 t=9000\n");
}

TEST(lifetimes, a_unit_of_size_is_what_the_caller_says) {
  read_options options;
  options.unit_bytes = 1024;
  EXPECT_EQ(read_text(lifetimes_head + "0,0,1,3\n", options).events[0].bytes, 3072U);
  EXPECT_EQ(refusal_of(lifetimes_head + "0,0,1,18014398509481984\n", options),
            "t:2: expected a size: a whole number that fits in 64 bits as bytes, found \"18014398509481984\"");
}

TEST(lifetimes, a_garbled_row_is_refused_by_its_line) {
  EXPECT_EQ(refusal_of(lifetimes_head + "0,0,1,3\n1,4,4,3\n"), "t:3: upper is not above lower");
  EXPECT_EQ(refusal_of(lifetimes_head + "0,0,1\n"), "t:2: expected 4 fields, found 3");
  EXPECT_EQ(refusal_of(lifetimes_head + "a,0,1,3\n"), "t:2: expected an id: a whole number, found \"a\"");
  EXPECT_EQ(refusal_of(lifetimes_head + "0,0,18000000000000001,3\n"),
            "t:2: expected a time: a whole number, found \"18000000000000001\"");
  EXPECT_EQ(refusal_of(lifetimes_head + "7,0,9,3\n7,4,6,3\n"), "t:3: allocates 7, which is live");
  EXPECT_EQ(refusal_of(lifetimes_head + "7,0,9,3"), "t:2: the last line does not end: the file is cut");
}

TEST(lifetimes, an_id_may_come_again_when_its_first_life_has_ended) {
  EXPECT_EQ(read_text(lifetimes_head + "7,4,6,3\n7,0,4,3\n").events.size(), 4U);
}

}  // namespace
}  // namespace arcalloc::trace
