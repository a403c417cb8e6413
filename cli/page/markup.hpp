// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arcalloc::cli::page {

/// `text` as it may stand between tags and in a quoted attribute. Control characters other than the
/// line feed and the tab, which HTML has no way to write, become U+FFFD.
std::string escaped(std::string_view text);

/// A cell or heading of an HTML table; `text` is not yet escaped.
struct cell {
  std::string text;
  bool is_number = false;
  std::string note;  ///< small print under it: a unit
  std::string leg;   ///< the leg that the row is about: marks the cell with its colour
};

inline cell text_cell(std::string text) { return {std::move(text), false, {}, {}}; }
inline cell number_cell(std::string text) { return {std::move(text), true, {}, {}}; }

/// A table in a frame that scrolls sideways by itself where the window is narrow.
std::string table(const std::vector<cell>& headings, const std::vector<std::vector<cell>>& rows);

/// A length or place of a drawing, in its own units.
std::string coordinate(double value);

/// A section with its heading; `content` is markup.
std::string section(const std::string& heading, const std::string& content);

}  // namespace arcalloc::cli::page
