// SPDX-License-Identifier: Apache-2.0
// The long tier: a thousand seeds of ten thousand steps, in four parts that can run side by side, and small worlds one
// operation longer.
#include <gtest/gtest.h>

#include "run_seed.hpp"
#include "small_devices.hpp"

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

class long_small_worlds : public ::testing::TestWithParam<testing::small_device> {};

TEST_P(long_small_worlds, are_all_clean_to_five_operations) { testing::walk_small_worlds(GetParam(), 5); }

INSTANTIATE_TEST_SUITE_P(devices, long_small_worlds, ::testing::ValuesIn(testing::small_devices),
                         [](const auto& one) { return one.param.name; });

TEST(longest_small_worlds, are_all_clean_to_six_operations_on_the_tightest_device) {
  testing::walk_small_worlds(testing::small_devices[0], 6);
}

}  // namespace
}  // namespace arcalloc
