// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan.hpp"
#include "simulation.hpp"

namespace arcalloc::testing {

/// A plan that was played, in the scenario language of docs/scenarios.md: each call with the answer that it had, the
/// violation in the first line. The last operation, which the violation is of, has to answer as it
/// should have, so that `arcalloc replay` fails where it did.
///
/// What the language cannot say (actors, peaks that are reset, bounds set on the way) is a comment that names it, and
/// what did nothing is left out.
[[nodiscard]] std::string scenario_lines(const plan& of, const simulation_result& came_to);

}  // namespace arcalloc::testing
