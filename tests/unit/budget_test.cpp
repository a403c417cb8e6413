// SPDX-License-Identifier: Apache-2.0
#include "budget.hpp"

#include <gtest/gtest.h>

namespace arcalloc::detail {
namespace {

TEST(derive_cap, has_the_documented_arithmetic_at_262_mebibytes_free) {
  const cap_arithmetic cap = derive_cap({262 * mebibyte, 141 * gibibyte}, 0);
  EXPECT_EQ(cap.reserve_bytes, 262 * mebibyte / 4);
  EXPECT_EQ(cap.reserve_bytes * 2, 131 * mebibyte);     // 65.5 MiB
  EXPECT_EQ(cap.cached_bytes_max * 4, 393 * mebibyte);  // 98.25 MiB
  EXPECT_EQ(cap.cap_source, static_cast<std::uint64_t>(ARCALLOC_CAP_DERIVED));
}

TEST(derive_cap, is_never_above_free_and_never_wraps) {
  const std::uint64_t total = 24 * gibibyte;
  EXPECT_EQ(derive_cap({20 * gibibyte, total}, 0).cached_bytes_max, gibibyte);
  EXPECT_EQ(derive_cap({6 * gibibyte, total}, 0).cached_bytes_max, gibibyte);
  const std::uint64_t little = gibibyte * 3 / 10;
  EXPECT_EQ(derive_cap({little, total}, 0).cached_bytes_max, (little - little / 4) / 2);
  EXPECT_EQ(derive_cap({0, total}, 0).cached_bytes_max, 0U);
  EXPECT_EQ(derive_cap({0, 0}, 0).cached_bytes_max, 0U);
  EXPECT_EQ(derive_cap({UINT64_MAX, total}, UINT64_MAX).free_bytes, total);
  EXPECT_EQ(derive_cap({UINT64_MAX, UINT64_MAX}, UINT64_MAX).cached_bytes_max, gibibyte);
}

TEST(derive_cap, sets_no_more_than_256_mebibytes_aside) {
  const cap_arithmetic cap = derive_cap({1536 * mebibyte, 24 * gibibyte}, 0);
  EXPECT_EQ(cap.reserve_bytes, 256 * mebibyte);
  EXPECT_EQ(cap.cached_bytes_max, 640 * mebibyte);
}

TEST(derive_cap, says_what_it_was_derived_from) {
  const cap_arithmetic cap = derive_cap({100 * mebibyte, gibibyte}, 30 * mebibyte);
  EXPECT_EQ(cap.driver_free_bytes, 100 * mebibyte);
  EXPECT_EQ(cap.own_cached_bytes, 30 * mebibyte);
  EXPECT_EQ(cap.free_bytes, 130 * mebibyte);
}

TEST(derive_cap, counts_our_own_cache_as_free) {
  EXPECT_EQ(derive_cap({100 * mebibyte, gibibyte}, 162 * mebibyte).free_bytes, 262 * mebibyte);
}

TEST(budget, reserves_before_asking_and_never_beyond_the_capacity) {
  budget bounds;
  ASSERT_TRUE(bounds.try_set_capacity(100));
  EXPECT_TRUE(bounds.try_reserve(60));
  EXPECT_FALSE(bounds.try_reserve(41));
  EXPECT_EQ(bounds.shortfall(50), 10U);
  bounds.confirm(60);
  EXPECT_TRUE(bounds.try_reserve(40));
  bounds.unreserve(40);
  EXPECT_FALSE(bounds.try_set_capacity(59));
  EXPECT_TRUE(bounds.try_set_capacity(60));
  EXPECT_EQ(bounds.reserved_bytes_peak(), 60U);
  bounds.returned(60);
  EXPECT_EQ(bounds.reserved_bytes(), 0U);
  EXPECT_FALSE(bounds.try_reserve(UINT64_MAX));
}

TEST(budget, leases_no_more_than_the_cached_max) {
  budget bounds;
  cap_arithmetic cap;
  cap.cached_bytes_max = 100;
  bounds.set_cap(cap);
  EXPECT_EQ(bounds.lease(10, 80), 80U);
  EXPECT_EQ(bounds.lease(21, 50), 0U);
  EXPECT_EQ(bounds.lease(15, 50), 20U);
  bounds.change_lease(80, 5);
  EXPECT_EQ(bounds.leased_bytes(), 25U);
  bounds.set_caching(false);
  EXPECT_EQ(bounds.lease(1, 1), 0U);
}

}  // namespace
}  // namespace arcalloc::detail
