// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

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
std::string provenance_section(const provenance& from);

/// Names and values, as a list.
std::string facts(const std::vector<std::pair<std::string, std::string>>& list);

/// One of the large figures at the head of a page.
std::string key_figure(const std::string& name, const std::string& value, const std::string& unit);

/// A whole page with our style: `body` stands in its main part.
std::string page_around(const std::string& title, const std::string& body);

}  // namespace arcalloc::cli::page
