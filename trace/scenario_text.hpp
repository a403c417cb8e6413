// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "trace/scenario.hpp"
#include "trace/scenario_words.hpp"

namespace arcalloc::trace {

/// Reads the scenario language (.ops) of docs/scenarios.md.
///
/// A pure function from text to a scenario: it runs nothing. Called by the program and by tests.
/// What it returns can be run: every ID that a line uses is one that an earlier line allocated, unless the
/// line expects to be refused. Anything else throws scenario_error, at the first word that is wrong.
/// Concurrency: none of its own. Cost: linear in the text, but for one look-up a line.
[[nodiscard]] scenario parse_scenario(const std::string& file, std::string_view text);

/// The same over the content of a file; a file that cannot be read is a scenario_error, too.
[[nodiscard]] scenario read_scenario(const std::string& file);

}  // namespace arcalloc::trace
