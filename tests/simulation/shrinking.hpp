// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "plan.hpp"

namespace arcalloc::testing {

/// Says what is wrong with a plan once it was played; empty: nothing.
using judgement = std::function<std::string(const plan&)>;

/// What may be spent on making a plan small. Nothing but a failing run comes here, so time may count.
struct shrinking_budget {
  std::uint64_t replays = 2000;
  std::chrono::seconds time{20};
};

struct shrunk_plan {
  plan smallest;
  std::string violation;
  std::uint64_t replays = 0;
};

/// Makes a failing plan small, so that it still fails in the same way: the same sentence, whatever numbers are in it.
///
/// Delta debugging: operations are left out by halves, quarters, ... and singles, until none can be spared; then
/// what is left is made plain (one actor, default settings, round sizes), and singles are tried again.
/// Requires: `judged` blames `failing`. Returns the smallest that the budget allowed.
[[nodiscard]] shrunk_plan shrink(const plan& failing, const judgement& judged, const shrinking_budget& budget = {});

}  // namespace arcalloc::testing
