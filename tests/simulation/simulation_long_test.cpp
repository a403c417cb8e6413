// SPDX-License-Identifier: Apache-2.0
// The long tier: a thousand seeds of ten thousand steps, in four parts that can run side by side.
#include <gtest/gtest.h>

#include "run_seed.hpp"

namespace arcalloc {
namespace {

constexpr std::uint64_t seeds_a_part = 250;

class long_simulation : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(long_simulation, of_the_commits_own_seeds_is_clean) {
  const std::uint64_t first = testing::first_seed() + 1000 + GetParam() * seeds_a_part;
  for (std::uint64_t seed = first; seed < first + seeds_a_part; ++seed) {
    testing::run_seed(seed, 10000);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(parts, long_simulation, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace arcalloc
