// SPDX-License-Identifier: Apache-2.0
#include "trace/scenario_words.hpp"

#include <gtest/gtest.h>

namespace arcalloc::trace {
namespace {

std::string refusal_of(std::string_view text) {
  try {
    (void)words_of("f.ops", text);
  } catch (const scenario_error& error) {
    return error.message;
  }
  return "no refusal";
}

TEST(scenario_words, blanks_separate_and_columns_count_from_one) {
  const auto lines = words_of("f.ops", "alloc  A\t4MiB\n\n  # nothing\n free A # done");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].number, 1U);
  ASSERT_EQ(lines[0].words.size(), 3U);
  EXPECT_EQ(lines[0].words[0].text, "alloc");
  EXPECT_EQ(lines[0].words[0].column, 1U);
  EXPECT_EQ(lines[0].words[1].column, 8U);
  EXPECT_EQ(lines[0].words[2].text, "4MiB");
  EXPECT_EQ(lines[0].words[2].column, 10U);
  EXPECT_EQ(lines[0].end_column, 14U);
  EXPECT_EQ(lines[1].number, 4U);
  ASSERT_EQ(lines[1].words.size(), 2U);
  EXPECT_EQ(lines[1].words[1].text, "A");
  EXPECT_EQ(lines[1].end_column, 8U);
}

TEST(scenario_words, a_comment_starts_anywhere_but_in_quotes) {
  const auto lines = words_of("f.ops", "free A#B\nenv X=\"a # b\" # c\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].words.back().text, "A");
  EXPECT_EQ(lines[1].words.back().text, "X=a # b");
  EXPECT_EQ(lines[1].words.back().bare, 2U);
}

TEST(scenario_words, what_is_quoted_is_no_word_of_the_language) {
  const auto lines = words_of("f.ops", "-> \"->\" \"\"");
  EXPECT_TRUE(lines[0].words[0].is("->"));
  EXPECT_FALSE(lines[0].words[1].is("->"));
  EXPECT_EQ(lines[0].words[1].text, "->");
  ASSERT_EQ(lines[0].words.size(), 3U);
  EXPECT_EQ(lines[0].words[2].text, "");
}

TEST(scenario_words, line_ends_of_other_systems_are_line_ends) {
  const auto lines = words_of("f.ops", "step\r\ndrain\r\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].words[0].text, "step");
  EXPECT_EQ(lines[1].number, 2U);
}

TEST(scenario_words, an_open_quote_is_refused_where_it_opens) {
  EXPECT_EQ(refusal_of("step\nenv X=\"4Gi"), "f.ops:2:7: expected a closing quote, found the end of the line");
}

TEST(scenario_words, bytes_that_no_text_has_are_refused) {
  EXPECT_EQ(refusal_of(std::string_view("st\0ep", 5)),
            "f.ops:1:3: expected a printable character, found the byte 0x00");
  EXPECT_EQ(refusal_of("step\x7f"), "f.ops:1:5: expected a printable character, found the byte 0x7f");
  EXPECT_EQ(refusal_of("\xef\xbb\xbfstep"), "f.ops:1:1: expected a printable character, found the byte 0xef");
  EXPECT_EQ(refusal_of("a\rb"), "f.ops:1:2: expected a printable character, found the byte 0x0d");
  EXPECT_EQ(refusal_of("env X=\"\x01\""), "f.ops:1:8: expected text, found the byte 0x01");
  EXPECT_EQ(refusal_of("# caf\xc3\xa9"), "no refusal");
}

TEST(scenario_words, a_word_in_a_message_is_one_short_line) {
  EXPECT_EQ(word_text("abc"), "\"abc\"");
  EXPECT_EQ(word_text("a\nb"), "\"a.b\"");
  EXPECT_EQ(word_text(std::string(1000, 'x')).size(), 65U);
}

}  // namespace
}  // namespace arcalloc::trace
