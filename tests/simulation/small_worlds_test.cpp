// SPDX-License-Identifier: Apache-2.0
// Every short sequence of operations, on devices where three blocks are a crowd: what no seed happens to draw is
// here, as far as it is short.
#include <gtest/gtest.h>

#include "small_devices.hpp"

namespace arcalloc {
namespace {

using testing::small_device;
using testing::small_devices;
using testing::walk_small_worlds;

// Where a build is slow, all are a step shorter.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr std::size_t shorter = 1;
#else
constexpr std::size_t shorter = 0;
#endif

class small_worlds_of : public ::testing::TestWithParam<small_device> {};

TEST_P(small_worlds_of, are_all_clean_to_four_operations) { walk_small_worlds(GetParam(), 4 - shorter); }

INSTANTIATE_TEST_SUITE_P(devices, small_worlds_of, ::testing::ValuesIn(small_devices),
                         [](const auto& one) { return one.param.name; });

TEST(small_worlds, are_all_clean_to_five_operations_on_the_tightest_device) {
  walk_small_worlds(small_devices[0], 5 - shorter);
}

TEST(small_worlds, are_as_many_as_the_alphabet_makes) {
  for (std::size_t depth = 0; depth < 4; ++depth) walk_small_worlds(small_devices[0], depth);
}

}  // namespace
}  // namespace arcalloc
