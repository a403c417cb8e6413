// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace arcalloc::cli {

/// Columns of text for a terminal: as wide as their widest cell, two spaces between them.
class text_table {
 public:
  /// Adds a column; `heading` may have two lines, the second being the unit.
  void add_column(std::string heading, std::string unit, bool is_number);
  void add_row(std::vector<std::string> cells);

  /// Every line ends with a line feed.
  [[nodiscard]] std::string text() const;

 private:
  struct column {
    std::string heading;
    std::string unit;
    bool is_number;
  };
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace arcalloc::cli
