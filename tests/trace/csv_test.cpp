// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reading.hpp"
#include "trace/formats/csv_writer.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/trace_summary.hpp"

namespace arcalloc::trace {
namespace {

const std::string csv_head = "t_us,op,id,size,stream\n";

TEST(csv, a_row_is_an_event) {
  const reading read = read_text(csv_head + "10,a,5,256,1\n12,f,5,256,2\n");
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(read.facts.format, trace_format::csv);
  EXPECT_EQ(lines_of(read.events), "allocate 5: 256 bytes @1 t=10000\nfree 5: 256 bytes @2 t=12000\n");
}

TEST(csv, an_empty_time_is_not_known_and_a_free_may_say_its_id_alone) {
  const reading read = read_text(csv_head + ",a,5,256,7\n,f,5,,\n");
  EXPECT_EQ(lines_of(read.events), "allocate 5: 256 bytes @7\nfree 5: 256 bytes @7\n");
}

TEST(csv, an_id_may_mean_another_block_after_its_free) {
  const reading read = read_text(csv_head + "1,a,5,256,0\n2,f,5,256,0\n3,a,5,512,0\n");
  EXPECT_EQ(read.events.size(), 3U);
  EXPECT_EQ(refusal_of(csv_head + "1,a,5,256,0\n2,a,5,512,0\n"), "t:3: allocates 5, which is live");
}

TEST(csv, a_block_freed_and_never_allocated_was_there_before) {
  const std::string text = csv_head + "1,a,1,10,0\n2,f,9,64,3\n3,f,8,32,0\n";
  const reading read = read_text(text);
  EXPECT_EQ(lines_of(read.events),
            "allocate before 8: 32 bytes @0\nallocate before 9: 64 bytes @3\nallocate 1: 10 bytes @0 t=1000\n"
            "free 9: 64 bytes @3 t=2000\nfree 8: 32 bytes @0 t=3000\n");
  EXPECT_EQ(read.facts.blocks_before, 2U);
  EXPECT_EQ(read.facts.bytes_before, 96U);
  EXPECT_EQ(read.facts.frees_skipped, 0U);

  read_options from_empty;
  from_empty.from_empty = true;
  const reading skipped = read_text(text, from_empty);
  EXPECT_EQ(lines_of(skipped.events), "allocate 1: 10 bytes @0 t=1000\n");
  EXPECT_EQ(skipped.facts.frees_skipped, 2U);
  EXPECT_EQ(skipped.facts.blocks_before, 0U);
}

TEST(csv, a_block_of_which_nobody_says_the_size_is_skipped_and_counted) {
  const reading read = read_text(csv_head + "1,f,9,,\n2,f,9,,\n");
  EXPECT_EQ(read.events.size(), 0U);
  EXPECT_EQ(read.facts.frees_skipped, 2U);
}

TEST(csv, the_second_free_of_a_block_that_was_there_before_is_skipped) {
  const reading read = read_text(csv_head + "1,f,9,64,0\n2,f,9,64,0\n");
  EXPECT_EQ(lines_of(read.events), "allocate before 9: 64 bytes @0\nfree 9: 64 bytes @0 t=1000\n");
  EXPECT_EQ(read.facts.frees_skipped, 1U);
}

TEST(csv, line_ends_and_a_byte_order_mark_of_other_systems_are_taken) {
  const reading read = read_text("\xef\xbb\xbft_us,op,id,size,stream\r\n1,a,5,256,1\r\n");
  EXPECT_EQ(lines_of(read.events), "allocate 5: 256 bytes @1 t=1000\n");
}

TEST(csv, a_garbled_row_is_refused_by_its_line) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"1,a,5,256\n", "t:2: expected 5 fields, found 4"},
      {"1,a,5,256,0,0\n", "t:2: expected 5 fields, found 6"},
      {"1,b,5,256,0\n", "t:2: expected a or f, found \"b\""},
      {"1,a,-5,256,0\n", "t:2: expected an id: a whole number, found \"-5\""},
      {"1,a,5,,0\n", "t:2: expected a size in bytes: a whole number, found \"\""},
      {"1,a,5,256,\n", "t:2: expected a stream: a whole number, found \"\""},
      {"1.5,a,5,256,0\n", "t:2: expected a time in whole microseconds, or nothing, found \"1.5\""},
      {"1,a,5,18446744073709551616,0\n",
       "t:2: expected a size in bytes: a whole number, found \"18446744073709551616\""},
      {"18000000000000001,a,5,1,0\n",
       "t:2: expected a time in whole microseconds, or nothing, found \"18000000000000001\""},
      {"\n", "t:2: expected a row, found an empty line"},
      {"1,a,5,256,0\n2,f,5,255,0\n", "t:3: frees 5 with 255 bytes, which has 256"},
      {"1,a,5,256,0", "t:2: the last line does not end: the file is cut"},
      {"1,a,5,2", "t:2: the last line does not end: the file is cut"},
      {"1,a,\x01\n5,256,0\n", "t:2: expected 5 fields, found 3"},
      {std::string(5000, '1') + "\n", "t:2: a line of more than 4096 bytes"},
  };
  for (const auto& [rows, message] : all) EXPECT_EQ(refusal_of(csv_head + rows), message);
  EXPECT_EQ(refusal_of("t_us,op,id,size,stream"), "t:1: the last line does not end: the file is cut");
  EXPECT_EQ(refusal_of("t_us,op,id,size,stream,more\n"),
            "t:1: expected the columns t_us,op,id,size,stream, found \"t_us,op,id,size,stream,more\"");
}

TEST(csv, a_file_of_the_columns_alone_holds_nothing) { EXPECT_EQ(read_text(csv_head).events.size(), 0U); }

/// Rows that are longer than any buffer, together.
std::string many_rows(std::size_t pairs) {
  std::string text = csv_head;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::string id = std::to_string(i);
    text += id + ",a," + id + ",4096,0\n" + id + ",f," + id + ",4096,0\n";
  }
  return text;
}

TEST(csv, what_is_written_reads_the_same) {
  const std::string text = many_rows(20000);
  const auto from = source_of("t", text);
  string_sink out;
  csv_writer writer(out);
  trace_summary first(&writer);
  read_trace(*from, {}, first);
  writer.finish();
  EXPECT_EQ(writer.events(), 40000U);
  EXPECT_EQ(out.bytes(), text);
}

TEST(csv, a_trace_of_two_devices_is_not_written_and_other_kinds_are_left_out) {
  string_sink out;
  csv_writer writer(out);
  event one;
  one.bytes = 1;
  writer.take(one);
  event step;
  step.kind = event_kind::step;
  writer.take(step);
  EXPECT_EQ(writer.left_out(), 1U);
  one.device = 1;
  one.id = 1;
  try {
    writer.take(one);
    ADD_FAILURE() << "was taken";
  } catch (const trace_error& error) {
    EXPECT_EQ(error.message, "CSV holds one device, and the trace has 0 and 1; choose one with --device");
  }
}

TEST(csv, own_and_back_is_the_same_life) {
  const reading read = read_text(csv_head + "10,a,5,256,1\n,a,6,100,1\n11,f,9,64,3\n12,f,5,256,2\n13,a,5,1,0\n");
  string_sink own;
  own_writer writer(own);
  trace_summary before(&writer);
  for (const event& one : read.events) before.take(one);
  writer.finish();
  string_sink rows;
  csv_writer csv(rows);
  trace_summary between(&csv);
  read_trace(*source_of("t", own.bytes()), {}, between);
  csv.finish();
  trace_summary after;
  read_trace(*source_of("t", rows.bytes()), {}, after);
  EXPECT_EQ(before.events(), 6U);
  EXPECT_EQ(before.blocks_hash(), between.blocks_hash());
  EXPECT_EQ(before.blocks_hash(), after.blocks_hash());
}

}  // namespace
}  // namespace arcalloc::trace
