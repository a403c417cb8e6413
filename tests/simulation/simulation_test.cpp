// SPDX-License-Identifier: Apache-2.0
// Seeds by the hundred, each twice: the second run must make the same calls and get the same answers.
#include <gtest/gtest.h>

#include <cstdlib>

#include "run_seed.hpp"

namespace arcalloc {
namespace {

using testing::first_seed;
using testing::run_seed;

TEST(simulation, keeps_every_invariant_over_its_seeds) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    run_seed(seed, 600);
    if (HasFatalFailure()) return;
  }
}

TEST(simulation, of_the_commits_own_seeds_is_clean) {
  for (std::uint64_t i = 0; i < 40; ++i) {
    run_seed(first_seed() + i, 600);
    if (HasFatalFailure()) return;
  }
}

TEST(simulation, of_the_seeds_that_once_failed_is_clean) {
  // 116238541: a thread's stamps lagged behind an event's, and new work passed for finished.
  for (const std::uint64_t seed : {116238541U}) {
    run_seed(seed, 600);
    if (HasFatalFailure()) return;
  }
}

TEST(simulation, the_seed_of_the_environment) {
  const char* const seed = std::getenv("ARCALLOC_SIMULATION_SEED");
  if (seed == nullptr) GTEST_SKIP() << "ARCALLOC_SIMULATION_SEED is not set: there is no failure to run again";
  const char* const steps = std::getenv("ARCALLOC_SIMULATION_STEPS");
  testing::run_seed_apart(std::strtoull(seed, nullptr, 10),
                          steps == nullptr ? 10000 : std::strtoull(steps, nullptr, 10));
}

}  // namespace
}  // namespace arcalloc
