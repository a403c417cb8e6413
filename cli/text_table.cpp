// SPDX-License-Identifier: Apache-2.0
#include "text_table.hpp"

#include <algorithm>
#include <utility>

namespace arcalloc::cli {

void text_table::add_column(std::string heading, std::string unit, bool is_number) {
  columns_.push_back({std::move(heading), std::move(unit), is_number});
}

void text_table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string text_table::text() const {
  std::vector<std::vector<std::string>> lines(1);
  for (const column& one : columns_) lines[0].push_back(one.heading);
  const bool has_units = std::any_of(columns_.begin(), columns_.end(), [](const column& c) { return !c.unit.empty(); });
  if (has_units) {
    lines.emplace_back();
    for (const column& one : columns_) lines[1].push_back(one.unit);
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i > 0) row += "  ";
      const std::string padding(widths[i] - line[i].size(), ' ');
      row += columns_[i].is_number ? padding + line[i] : line[i] + padding;
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

}  // namespace arcalloc::cli
