// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arcalloc::trace {

/// A scenario that cannot be read: `message` is one line, "FILE:LINE:COLUMN: expected ..., found ...".
struct scenario_error {
  std::string message;
};

/// Where in a scenario; lines and columns count from 1, columns in bytes.
struct text_place {
  std::uint64_t line = 1;
  std::uint64_t column = 1;
};

[[noreturn]] void refuse_scenario(const std::string& file, text_place at, const std::string& what);

/// One word of a line, quotes taken off. `bare` is how much of the text stands before any quote, so that
/// a quoted "->" or "=" is never taken for one of the language.
struct scenario_word {
  std::string text;
  std::uint64_t column = 1;
  std::size_t bare = 0;

  /// True for the unquoted text itself.
  [[nodiscard]] bool is(std::string_view other) const { return bare == text.size() && text == other; }
};

/// The words of one line that has any, and the column after its last.
struct scenario_line {
  std::uint64_t number = 1;
  std::uint64_t end_column = 1;
  std::vector<scenario_word> words;
};

/// Cuts text into lines of words: blanks separate them, `#` starts a comment, quotes hold blanks and `#`
/// together. Throws scenario_error for an open quote and for bytes that no text has.
[[nodiscard]] std::vector<scenario_line> words_of(const std::string& file, std::string_view text);

/// The word for a message: in quotes, cut short, control characters as points.
[[nodiscard]] std::string word_text(std::string_view text);

}  // namespace arcalloc::trace
