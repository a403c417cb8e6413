// SPDX-License-Identifier: Apache-2.0
#include "trace/word_cursor.hpp"

#include <algorithm>

#include "trace/size_text.hpp"

namespace arcalloc::trace {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool goes_on_a_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; }

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), goes_on_a_name);
}

std::optional<status> status_from(std::string_view text) {
  for (int i = 0; i < status_count; ++i) {
    if (text == status_name(static_cast<status>(i))) return static_cast<status>(i);
  }
  return std::nullopt;
}

status word_cursor::take_expected_status() {
  const auto arrow = std::find_if(line_.words.begin(), line_.words.end(), [](const auto& one) { return one.is("->"); });
  if (arrow == line_.words.end()) return status::ok;
  next_ = static_cast<std::size_t>(arrow - line_.words.begin()) + 1;
  const std::string& text = word("a status after \"->\"").text;
  const auto found = status_from(text);
  if (!found) refuse_last("a status after \"->\"");
  end();
  count_ = static_cast<std::size_t>(arrow - line_.words.begin());
  next_ = 0;
  return *found;
}

const scenario_word& word_cursor::word(const char* expected) {
  if (at_end()) refuse_next(expected);
  return line_.words[next_++];
}

void word_cursor::keyword(const char* text) {
  if (!next_is(text)) refuse_next(word_text(text));
  ++next_;
}

std::string word_cursor::name(const char* expected) {
  const scenario_word& one = word(expected);
  if (!is_name(one.text)) refuse_last(expected);
  return one.text;
}

std::string word_cursor::stream_name() {
  constexpr const char* expected = "a stream, as in @s1";
  const scenario_word& one = word(expected);
  if (!one.text.starts_with('@') || !is_name(std::string_view(one.text).substr(1))) refuse_last(expected);
  return one.text.substr(1);
}

std::uint64_t word_cursor::size(const char* expected) {
  const auto bytes = size_from(word(expected).text);
  if (!bytes) refuse_last(expected);
  return *bytes;
}

assignment word_cursor::key_and_value(const char* expected) {
  const scenario_word& one = word(expected);
  const std::size_t sign = one.text.find('=');
  if (sign == std::string::npos || sign >= one.bare) refuse_last(expected);
  scenario_word value{one.text.substr(sign + 1), one.column + sign + 1, one.bare - sign - 1};
  return {one.text.substr(0, sign), std::move(value), one.column};
}

void word_cursor::end() {
  if (!at_end()) refuse_next("the end of the line");
}

void word_cursor::refuse_last(const std::string& expected) const {
  const scenario_word& one = line_.words[next_ - 1];
  refuse_at(one.column, "expected " + expected + ", found " + word_text(one.text));
}

void word_cursor::refuse_at(std::uint64_t column, const std::string& what) const {
  refuse_scenario(file_, {line_.number, column}, what);
}

void word_cursor::refuse_next(const std::string& expected) const {
  // With a status set apart, the end of the line is where its arrow stands.
  const bool any = next_ < line_.words.size();
  const std::uint64_t column = any ? line_.words[next_].column : line_.end_column;
  refuse_at(column,
            "expected " + expected + ", found " + (any ? word_text(line_.words[next_].text) : "the end of the line"));
}

}  // namespace arcalloc::trace
