// SPDX-License-Identifier: Apache-2.0
#include "trace/tune/eviction_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

namespace arcalloc::trace {
namespace {

using intervals = std::vector<idle_interval>;

/// Every choice of what is kept, tried.
std::uint64_t by_brute_force(const intervals& all, std::uint64_t cached_bytes_max) {
  std::uint64_t least = all.size();
  for (std::uint32_t kept = 0; kept < (1U << all.size()); ++kept) {
    const bool fits = std::all_of(all.begin(), all.end(), [&](const idle_interval& moment) {
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool idles = all[i].begin <= moment.begin && moment.begin < all[i].end;
        if (idles && (kept & (1U << i)) != 0) bytes += all[i].bytes;
      }
      return bytes <= cached_bytes_max;
    });
    if (fits) least = std::min(least, all.size() - static_cast<std::uint64_t>(std::popcount(kept)));
  }
  return least;
}

TEST(eviction_bound, nothing_goes_where_everything_fits) {
  EXPECT_EQ(least_evictions({}, 0).evictions, 0U);
  EXPECT_EQ(least_evictions({{1, 5, 10}, {2, 6, 10}}, 20).evictions, 0U);
  EXPECT_EQ(least_evictions({{1, 5, 10}, {5, 6, 10}}, 10).evictions, 0U);  // one after the other
}

TEST(eviction_bound, what_does_not_fit_by_itself_goes) {
  EXPECT_EQ(least_evictions({{1, 5, 30}, {2, 6, 10}}, 20).evictions, 1U);
  EXPECT_EQ(least_evictions({{1, 5, 30}, {2, 6, 10}}, 0).evictions, 2U);
}

TEST(eviction_bound, one_large_one_goes_instead_of_two_small_ones) {
  const eviction_bound found = least_evictions({{1, 10, 40}, {2, 8, 20}, {3, 9, 20}}, 45);
  EXPECT_EQ(found.evictions, 1U);
  EXPECT_TRUE(found.exact);
}

TEST(eviction_bound, is_that_of_brute_force_on_small_ones) {
  std::mt19937_64 random(1);
  std::uint64_t some = 0;
  for (int round = 0; round < 400; ++round) {
    intervals all;
    const std::size_t count = 1 + random() % 11;
    const bool one_size = round % 4 == 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t begin = 1 + random() % 20;
      all.push_back({begin, begin + 1 + random() % 12, one_size ? 2 : 1 + random() % 6});
    }
    const std::uint64_t cap = random() % 14;
    const eviction_bound found = least_evictions(all, cap);
    EXPECT_TRUE(found.exact);
    EXPECT_EQ(found.evictions, by_brute_force(all, cap)) << "round " << round;
    some += found.evictions;
  }
  EXPECT_GT(some, 400U);
}

/// Repeated, so that there is too much to try: what is needed is known, since rounds do not touch each other.
TEST(eviction_bound, is_a_bound_where_there_is_too_much_to_try) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20; ++round) {
    intervals of_a_round;
    for (std::size_t i = 0; i < 14; ++i) {
      const std::uint64_t begin = 1 + random() % 10;
      of_a_round.push_back({begin, 30 + random() % 10, 1 + random() % 50});
    }
    const std::uint64_t cap = 60 + random() % 100;
    const std::uint64_t needed = by_brute_force(of_a_round, cap);
    intervals all;
    for (std::uint64_t again = 0; again < 50; ++again) {
      for (idle_interval one : of_a_round) {
        one.begin += again * 100;
        one.end += again * 100;
        all.push_back(one);
      }
    }
    const eviction_bound found = least_evictions(all, cap);
    EXPECT_LE(found.evictions, 50 * needed);
    EXPECT_GE(found.evictions * 10, 50 * needed * 7) << "far from what is needed, round " << round;
    EXPECT_TRUE(!found.exact || found.evictions == 50 * needed);
  }
}

TEST(eviction_bound, a_long_interval_does_not_join_what_is_apart) {
  // Five hundred rounds of 40 different segments, of which about half must go; and one that idles over all of them.
  intervals all{{1, 1'000'000, 10}};
  for (std::uint64_t again = 0; again < 500; ++again) {
    for (std::uint64_t i = 0; i < 40; ++i) all.push_back({again * 1000 + 10 + i, again * 1000 + 500 + i, 10 + i});
  }
  const eviction_bound found = least_evictions(all, 600);
  EXPECT_FALSE(found.exact);
  EXPECT_GT(found.evictions, 500U * 10);
}

}  // namespace
}  // namespace arcalloc::trace
