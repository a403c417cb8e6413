// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/decode_result.hpp"

namespace arcalloc::cli::page {

/// The parts of the report page below the curves, and the figures above them. Each returns markup.

/// The four figures to look at first.
std::string key_figures(const decode_result& result);

/// The tables with one row a leg: results, deciles, steps, peaks, captures, rounds; and the comparison.
std::string result_sections(const decode_result& result);

/// What bound each leg ran under, and how it came about.
std::string bounds_section(const decode_result& result);

/// The text that the legs produced.
std::string text_section(const decode_result& result);

/// What it was measured with.
std::string provenance_section(const decode_result& result);

}  // namespace arcalloc::cli::page
