// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/text_rows.hpp"

#include <algorithm>

#include "trace/formats/trace_error.hpp"
#include "trace/scenario_words.hpp"
#include "trace/size_text.hpp"

namespace arcalloc::trace {

text_rows::text_rows(byte_source& from, std::string_view columns) : from_(from) {
  if (from_.ahead_of(3).starts_with("\xef\xbb\xbf")) from_.skip(3);
  columns_ = static_cast<std::size_t>(std::count(columns.begin(), columns.end(), ',')) + 1;
  if (!read_line() || line_text_ != columns) {
    refuse_in(from_, 1,
              "expected the columns " + std::string(columns) + ", found " +
                  (line_ == 0 ? std::string("the end of the file") : word_text(line_text_)));
  }
}

bool text_rows::next() {
  if (!read_line()) return false;
  if (line_text_.empty()) refuse("expected a row, found an empty line");
  std::size_t begin = 0;
  for (std::size_t column = 0; column < columns_; ++column) {
    const std::size_t comma = line_text_.find(',', begin);
    const bool is_last = column + 1 == columns_;
    if (is_last != (comma == std::string_view::npos)) {
      refuse("expected " + std::to_string(columns_) + " fields, found " +
             std::to_string(std::count(line_text_.begin(), line_text_.end(), ',') + 1));
    }
    fields_[column] = line_text_.substr(begin, is_last ? std::string_view::npos : comma - begin);
    begin = comma + 1;
  }
  return true;
}

std::uint64_t text_rows::number(std::size_t column, const char* expected, std::uint64_t most) const {
  const auto value = count_from(fields_[column], most);
  if (!value) refuse_field(column, expected);
  return *value;
}

void text_rows::refuse_field(std::size_t column, const std::string& expected) const {
  refuse("expected " + expected + ", found " + word_text(fields_[column]));
}

void text_rows::refuse_in(const byte_source& from, std::uint64_t line, const std::string& what) {
  throw trace_error{from.name() + ':' + std::to_string(line) + ": " + what};
}

bool text_rows::read_line() {
  from_.skip(passing_);
  passing_ = 0;
  // What is buffered is nearly always enough.
  std::string_view ahead = from_.ahead();
  std::size_t end = ahead.substr(0, line_bytes_max).find('\n');
  if (end == std::string_view::npos) {
    ahead = from_.ahead_of(line_bytes_max);
    end = ahead.substr(0, line_bytes_max).find('\n');
  }
  if (ahead.empty()) return false;
  ++line_;
  if (end == std::string_view::npos) {
    refuse(ahead.size() < line_bytes_max ? "the last line does not end: the file is cut"
                                         : "a line of more than " + std::to_string(line_bytes_max) + " bytes");
  }
  passing_ = end + 1;
  if (end > 0 && ahead[end - 1] == '\r') --end;
  line_text_ = ahead.substr(0, end);
  return true;
}

}  // namespace arcalloc::trace
