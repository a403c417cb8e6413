// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "decode_result.hpp"

namespace arcalloc::cli {

/// A column of a table with one row a leg. The terminal and the page print the same columns.
struct leg_column {
  std::string heading;  ///< what it is
  std::string unit;     ///< may be empty
  bool is_number = true;
  std::string (*cell)(const leg_result& leg) = nullptr;
};

/// What each leg came to: the figures to look at first.
const std::vector<leg_column>& result_columns();

/// What each leg did per decode step, and where its requests went.
const std::vector<leg_column>& step_columns();

/// What each leg had from the driver at most, and of what.
const std::vector<leg_column>& peak_columns();

/// The heading of a column with one round's figures: "#1" for the first.
std::string round_heading(std::uint64_t index);

/// One sentence each, for the lines under the tables. Dashes where a leg is missing or died.
std::string bound_cost_text(const decode_result& result);
std::string gain_kept_text(const decode_result& result);
std::string tokens_text(const decode_result& result);
std::string accounting_text(const decode_result& result);

/// The whole result in plain words: what `bounded` held and what `unbounded` kept.
std::string verdict_text(const decode_result& result);

/// What must not happen and did: a line each, for the top of the page and for stderr.
std::vector<std::string> complaints(const decode_result& result);

/// The text that the legs produced: of the first leg whose process told it. Bytes as the model made them.
std::string produced_text(const decode_result& result);

}  // namespace arcalloc::cli
