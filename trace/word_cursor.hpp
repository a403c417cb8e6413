// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <arcalloc/status.hpp>
#include "trace/scenario_words.hpp"

namespace arcalloc::trace {

/// A word of the form KEY=VALUE, taken apart.
struct assignment {
  std::string key;
  scenario_word value;
  std::uint64_t column = 1;
};

/// Goes through the words of one line of a scenario, left to right.
///
/// Called by the parser. Each function takes the next word as what it must be, or throws scenario_error with the
/// word's place, what was expected, and what was found. It knows forms (sizes, names), no operations.
/// Concurrency: one thread; the line must outlive it.
class word_cursor {
 public:
  word_cursor(const std::string& file, const scenario_line& line)
      : file_(file), line_(line), count_(line.words.size()) {}

  [[nodiscard]] bool at_end() const { return next_ == count_; }
  [[nodiscard]] bool next_is(std::string_view text) const { return !at_end() && line_.words[next_].is(text); }
  [[nodiscard]] bool next_is_stream() const { return !at_end() && line_.words[next_].text.starts_with('@'); }
  [[nodiscard]] std::uint64_t line() const { return line_.number; }

  /// Sets `-> STATUS` at the end of the line apart; `ok` without it.
  status take_expected_status();

  const scenario_word& word(const char* expected);
  void keyword(const char* text);
  /// A letter or `_`, then letters, digits, `_`, `.` and `-`.
  std::string name(const char* expected);
  /// `@NAME`; returns the name.
  std::string stream_name();
  std::uint64_t size(const char* expected);
  /// KEY=VALUE, without blanks around the sign.
  assignment key_and_value(const char* expected);
  void end();

  /// For words that have been taken: the last one is not what it must be.
  [[noreturn]] void refuse_last(const std::string& expected) const;
  [[noreturn]] void refuse_at(std::uint64_t column, const std::string& what) const;
  /// The next word, or the end of the line, is not what it must be.
  [[noreturn]] void refuse_next(const std::string& expected) const;

 private:
  const std::string& file_;
  const scenario_line& line_;
  std::size_t count_;
  std::size_t next_ = 0;
};

/// What a size looks like, for messages.
inline constexpr const char* a_size = "a size: a whole number, then nothing, KiB, MiB or GiB";

/// Whether it has the form of an ID or a stream's name.
[[nodiscard]] bool is_name(std::string_view text);

/// The status of that name.
[[nodiscard]] std::optional<status> status_from(std::string_view text);

}  // namespace arcalloc::trace
