// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "decode_columns.hpp"

namespace arcalloc::cli {

/// What a run with --capture found, for people: one table with a row a leg, and a line for each leg's profile and
/// misses. The terminal and the page print the same.

/// True where a leg captured a step, or tried to.
bool has_captures(const decode_result& result);

const std::vector<leg_column>& capture_columns();

/// "profile of bounded: ..." and "capture misses of bounded: ...", a line each.
std::vector<std::string> capture_notes(const decode_result& result);

/// What a window came to: "replayed", or why the rest was eager.
std::string capture_outcome_text(const decode::capture_report& report);

}  // namespace arcalloc::cli
