// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/read_trace.hpp"

#include <gtest/gtest.h>

#include "reading.hpp"
#include "trace/formats/own_writer.hpp"

namespace arcalloc::trace {
namespace {

trace_format format_of(std::string_view bytes) { return trace::format_of(*source_of("t", bytes)); }

TEST(read_trace, the_content_says_what_a_file_is) {
  string_sink own;
  own_writer(own).finish();
  EXPECT_EQ(format_of(own.bytes()), trace_format::own);
  EXPECT_EQ(format_of("t_us,op,id,size,stream\n"), trace_format::csv);
  EXPECT_EQ(format_of("id,lower,upper,size\n"), trace_format::lifetimes);
  EXPECT_EQ(format_of("Thread,Time,Action,Pointer,Size,Stream\n"), trace_format::rmm);
  EXPECT_EQ(format_of(" \n{\"traceEvents\": []}"), trace_format::profiler);
  EXPECT_EQ(format_of("[]"), trace_format::profiler);
  EXPECT_EQ(format_of("\x80\x04."), trace_format::snapshot) << "a pickle, whatever it is called";
  EXPECT_EQ(format_of(gzipped("t_us,op,id,size,stream\n")), trace_format::csv);
}

TEST(read_trace, what_is_no_trace_is_refused) {
  EXPECT_EQ(refusal_of(""), "t at byte 0: expected a trace, found an empty file");
  const std::vector<std::string> none{"hello\n", "\x7f\x45LF", "t_us;op;id\n", std::string(4, '\0')};
  for (const std::string& text : none) {
    EXPECT_EQ(refusal_of(text).rfind("t at byte 0: expected a trace: ", 0), 0U);
  }
}

TEST(read_trace, a_format_that_was_asked_for_is_what_the_file_must_be) {
  read_options options;
  for (int i = 0; i < trace_format_count; ++i) {
    options.format = static_cast<trace_format>(i);
    const bool is_it = *options.format == trace_format::csv;
    const reading read = read_text("t_us,op,id,size,stream\n1,a,1,1,0\n", options);
    EXPECT_EQ(read.refusal.empty(), is_it) << trace_format_name(*options.format);
  }
}

}  // namespace
}  // namespace arcalloc::trace
