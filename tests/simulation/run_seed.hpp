// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <arcalloc/version.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "simulation.hpp"

namespace arcalloc::testing {

/// Simulates a seed twice: clean, and the second run makes the same calls and gets the same answers.
inline void run_seed(std::uint64_t seed, std::uint64_t steps) {
  const simulation_result first = simulate(seed, steps);
  ASSERT_TRUE(first.violation.empty()) << first.violation << "\nagain: ARCALLOC_SIMULATION_SEED=" << seed
                                       << " ARCALLOC_SIMULATION_STEPS=" << steps
                                       << " simulation_tests --gtest_filter=simulation.the_seed_of_the_environment";
  const simulation_result second = simulate(seed, steps);
  ASSERT_EQ(first.history_hash, second.history_hash) << "seed " << seed << " is not one run";
}

/// Seeds follow the commit, so that every commit looks somewhere else, and each can be run again.
inline std::uint64_t first_seed() {
  const std::string commit = built_as().commit;
  return commit.size() < 8 ? 1 : std::strtoull(commit.substr(0, 8).c_str(), nullptr, 16) % 1000000007U;
}

}  // namespace arcalloc::testing
