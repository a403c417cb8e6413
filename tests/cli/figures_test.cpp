// SPDX-License-Identifier: Apache-2.0
#include "cli/figures.hpp"

#include <gtest/gtest.h>

namespace arcalloc::cli {
namespace {

TEST(figures, the_median_is_the_middle_or_the_mean_of_the_two_in_the_middle) {
  EXPECT_FALSE(median({}));
  EXPECT_EQ(median({4}), 4);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 5, 7}), 6);
}

TEST(figures, a_spread_has_the_least_and_the_most) {
  const auto found = spread_of({3, 1, 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->median, 2);
  EXPECT_EQ(found->least, 1);
  EXPECT_EQ(found->most, 3);
  EXPECT_FALSE(spread_of({}));
}

/// Twice a second for `seconds`, growing by `before` bytes a sample in the first half and `after` in the second.
std::vector<memory_sample> samples_over(double seconds, std::uint64_t before, std::uint64_t after) {
  std::vector<memory_sample> samples;
  std::uint64_t bytes = 1'000'000;
  for (double at = 0; at <= seconds; at += 0.5) {
    samples.push_back({at, 0, bytes});
    bytes += at < seconds / 2 ? before : after;
  }
  return samples;
}

TEST(figures, the_slope_is_that_of_the_second_half) {
  const auto slope = second_half_slope(samples_over(20, 50'000, 1000));
  ASSERT_TRUE(slope);
  EXPECT_NEAR(*slope, 2000, 1e-6);
}

TEST(figures, a_falling_or_a_flat_memory_has_a_slope_too) {
  EXPECT_NEAR(second_half_slope(samples_over(12, 7, 0)).value_or(1), 0, 1e-6);
  std::vector<memory_sample> falling = samples_over(20, 0, 0);
  for (memory_sample& sample : falling) sample.resident_bytes -= static_cast<std::uint64_t>(sample.seconds * 100);
  EXPECT_NEAR(second_half_slope(falling).value_or(0), -100, 1e-6);
}

TEST(figures, a_leg_shorter_than_ten_seconds_has_no_slope) {
  EXPECT_FALSE(second_half_slope({}));
  EXPECT_FALSE(second_half_slope(samples_over(9.5, 1000, 1000)));
  EXPECT_TRUE(second_half_slope(samples_over(10, 1000, 1000)));
}

TEST(figures, a_fall_after_the_last_token_is_dropped_and_one_before_it_is_not) {
  std::vector<memory_sample> samples{{0, 0, 100}, {0.5, 4, 90}, {1, 8, 200}, {1.5, 9, 210}, {2, 9, 150}, {2.5, 9, 20}};
  drop_fall_at_the_end(samples, 9);
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(samples.back().resident_bytes, 210U);
  std::vector<memory_sample> falling{{0, 0, 100}, {0.5, 4, 90}};
  drop_fall_at_the_end(falling, 9);
  EXPECT_EQ(falling.size(), 2U);
  std::vector<memory_sample> none;
  drop_fall_at_the_end(none, 9);
  EXPECT_TRUE(none.empty());
}

TEST(figures, deciles_split_the_tokens_evenly) {
  EXPECT_EQ(decile_tokens(0, 256), 0U);
  EXPECT_EQ(decile_tokens(1, 256), 25U);
  EXPECT_EQ(decile_tokens(5, 256), 128U);
  EXPECT_EQ(decile_tokens(10, 256), 256U);
  EXPECT_EQ(decile_tokens(10, 3), 3U);
  EXPECT_EQ(decile_tokens(9, 3), 2U);
  EXPECT_EQ(decile_tokens(10, UINT64_MAX), UINT64_MAX);
}

}  // namespace
}  // namespace arcalloc::cli
