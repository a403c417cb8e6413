// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/json_scanner.hpp"

#include <gtest/gtest.h>

#include <random>

#include "json_oracle.hpp"
#include "reading.hpp"
#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {
namespace {

using arcalloc::testing::judge_json;
using arcalloc::testing::scanned;
using arcalloc::testing::scanned_by_library;

std::string scan_refusal_of(std::string_view bytes) {
  const auto from = source_of("t", bytes);
  try {
    json_scanner json(*from);
    while (json.next() != json_token::end) {
    }
  } catch (const trace_error& error) {
    return error.message;
  }
  return "";
}

const std::vector<std::string>& odd_texts() {
  static const std::vector<std::string> all{
      // Read.
      "{}", "[]", " [ ] ", "0", "-0", "-0.0", "\"\"", "null", "[true,false,null]", "{\"a\":{\"b\":[1,{}]},\"a\":2}",
      "[1.5,-2e3,0.25E-2,1e+9,18446744073709551615,18446744073709551616,-9223372036854775809,0e0]", "\xef\xbb\xbf[1]",
      "\t\r\n [1\t,\r2\n] ", R"(["\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00"])", R"({"na\u006de":1})",
      "[\"\xc3\xa9 \xe2\x82\xac \xed\x9f\xbf \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\"]",
      "[\"" + std::string(64, 'x') + "\",\"" + std::string(65, 'x') + "\",\"" + std::string(63, 'x') + "\\n\"]",
      "[\"" + std::string(63, 'x') + "\xc3\xa9\"]", std::string(64, '[') + std::string(64, ']'), "[1e308,-1e308]",
      "[1e-400]", "[" + std::string(305, '1') + "]", "[0." + std::string(400, '1') + "]",
      // Refused.
      "", " ", "{", "[", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "\"", "\"\\", "\"\\u12", "[1]]",
      "{}{}", "[1,]", "{\"a\":1,}", "[,1]", "{,}", "{1:2}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1 2]", "01", "-", "-a",
      "+1", ".5", "1.", "1.e3", "1e", "1e+", "tru", "trux", "nul", "falsy", "TRUE", "NaN", "Infinity", "'a'",
      "[\"\x01\"]", "[\"\n\"]", "[\"\x7f\"]", R"(["\a"])", R"(["\u12g4"])", R"(["\ud83d"])", R"(["\ud83dx"])",
      R"(["\ud83d\n"])", R"(["\ud83d\u0041"])", R"(["\ude00"])", "[\"\x80\"]", "[\"\xc1\xbf\"]", "[\"\xc3\"]",
      "[\"\xe0\x9f\xbf\"]", "[\"\xed\xa0\x80\"]", "[\"\xf0\x8f\xbf\xbf\"]", "[\"\xf4\x90\x80\x80\"]",
      "[\"\xf5\x80\x80\x80\"]", "[\"\xff\"]", "[\"\xe2\x82\"]", "\xef\xbb[1]", "\xef\xbb\xbf", "[1]\xef\xbb\xbf",
      std::string(65, '['), "[1e309]", "[-1e999]", "[" + std::string(310, '9') + "]", "// a\n1", "[1]/**/",
      "[\xc2\xa0"
      "1]",
      "\x0b[1]"};
  return all;
}

TEST(json_scanner, finds_what_the_library_finds) {
  std::size_t read = 0;
  for (const std::string& text : odd_texts()) {
    EXPECT_EQ(scanned(text), scanned_by_library(text)) << text;
    judge_json(text);
    read += scanned(text) != "refused" ? 1U : 0U;
  }
  EXPECT_EQ(read, 24U) << "the others are refused";
}

TEST(json_scanner, finds_what_the_library_finds_wherever_a_text_is_cut_or_changed) {
  std::mt19937 random(1);
  for (const std::string& text : odd_texts()) {
    if (text.size() > 200) continue;
    for (std::size_t size = 0; size < text.size(); ++size) judge_json(std::string_view(text).substr(0, size));
    for (int i = 0; i < 200 && !text.empty(); ++i) {
      std::string changed = text;
      constexpr std::string_view likely = "{}[]\",:\\u019.eE+-tfn \x80\xc3\xed\xf0\xbf\x01";
      changed[random() % changed.size()] = likely[random() % likely.size()];
      if (i % 2 == 0) changed.insert(random() % changed.size(), 1, likely[random() % likely.size()]);
      judge_json(changed);
    }
  }
}

TEST(json_scanner, a_zero_byte_ends_nothing) {
  EXPECT_EQ(scanned(std::string("[1]\0", 4)), "refused");
  EXPECT_EQ(scanned(std::string("[\"\0\"]", 5)), "refused");
}

TEST(json_scanner, refuses_by_the_byte_and_says_what_was_expected) {
  EXPECT_EQ(scan_refusal_of(""), "t at byte 1: not JSON: expected a value, found the end");
  EXPECT_EQ(scan_refusal_of("{\"a\": 1"), "t at byte 8: not JSON: expected ',' or '}', found the end");
  EXPECT_EQ(scan_refusal_of("{\"a\" 1}"), "t at byte 6: not JSON: expected ':' behind a key, found '1'");
  EXPECT_EQ(scan_refusal_of("[1, ]"), "t at byte 5: not JSON: expected a value behind ',', found ']'");
  EXPECT_EQ(scan_refusal_of("[1;"), "t at byte 3: not JSON: expected ',' or ']', found ';'");
  EXPECT_EQ(scan_refusal_of("[1] x"), "t at byte 5: not JSON: expected nothing behind the value, found 'x'");
  EXPECT_EQ(scan_refusal_of("[-]"), "t at byte 3: not JSON: expected a digit, found ']'");
  EXPECT_EQ(scan_refusal_of("[\"ab\x01\"]"),
            "t at byte 5: not JSON: expected an escape for a control character, found byte 0x01");
  EXPECT_EQ(scan_refusal_of("[\"\xc3(\"]"), "t at byte 4: not JSON: expected UTF-8, found '('");
  EXPECT_EQ(scan_refusal_of("[\"\\x\"]"), "t at byte 4: not JSON: expected an escape: one of \"\\/bfnrtu, found 'x'");
  EXPECT_EQ(scan_refusal_of("[\"\\ude00\"]"),
            "t at byte 8: not JSON: expected the two halves of a surrogate, found one");
  EXPECT_EQ(scan_refusal_of("[1e999]"),
            "t at byte 6: not JSON: expected a number that a double can hold, found a larger one");
  EXPECT_EQ(scan_refusal_of(std::string(65, '[')), "t at byte 65: nested more than 64 deep");
}

TEST(json_scanner, what_has_no_end_is_refused_before_it_fills_the_memory) {
  const std::size_t much = std::size_t{5} << 20;
  for (const std::string& text : {"\"" + std::string(much, 'x'), "\"" + std::string(much, '\xff'),
                                  std::string(much, '1'), std::string(much, ' '), "[" + std::string(much, '\n')}) {
    EXPECT_NE(scan_refusal_of(text).find(text[1] == '\xff' ? "expected UTF-8" : "a single value of more than 4 MiB"),
              std::string::npos)
        << scan_refusal_of(text);
  }
}

}  // namespace
}  // namespace arcalloc::trace
