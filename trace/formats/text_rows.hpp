// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/formats/byte_source.hpp"

namespace arcalloc::trace {

/// A text of rows, each a line of fields with a comma between, below one line that names the columns.
///
/// Called by the readers of CSV, lifetimes and RMM's log. A line ends with a line feed, before which a carriage return
/// may stand; a byte order mark at the beginning is passed over. Lines count from 1. The last line must end, too: where
/// it does not the file was cut. Cost: lines are looked at where they are buffered. Fields hold no commas: none of
/// these formats quotes.
class text_rows {
 public:
  static constexpr std::size_t line_bytes_max = 4096;
  static constexpr std::size_t fields_max = 6;

  /// Reads the first line, and refuses unless it is `columns`.
  text_rows(byte_source& from, std::string_view columns);

  /// Goes to the next line; false at the end. An empty line is refused.
  bool next();
  [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column]; }
  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }

  /// A field that is a whole number: decimal digits alone, at most `most`.
  [[nodiscard]] std::uint64_t number(std::size_t column, const char* expected, std::uint64_t most = UINT64_MAX) const;

  /// Throws trace_error: "NAME:LINE: expected EXPECTED, found FIELD".
  [[noreturn]] void refuse_field(std::size_t column, const std::string& expected) const;
  [[noreturn]] void refuse(const std::string& what) const { refuse_in(from_, line_, what); }
  [[noreturn]] static void refuse_in(const byte_source& from, std::uint64_t line, const std::string& what);

 private:
  bool read_line();

  byte_source& from_;
  std::string_view line_text_;
  std::size_t passing_ = 0;  ///< bytes of the present line, not yet skipped
  std::uint64_t line_ = 0;
  std::size_t columns_ = 1;
  std::array<std::string_view, fields_max> fields_;
};

}  // namespace arcalloc::trace
