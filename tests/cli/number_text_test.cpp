// SPDX-License-Identifier: Apache-2.0
#include "cli/number_text.hpp"

#include <gtest/gtest.h>

namespace arcalloc::cli {
namespace {

TEST(number_text, separates_thousands) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(18446744073709551615U), "18,446,744,073,709,551,615");
  EXPECT_EQ(fixed_text(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(fixed_text(-1234.5, 1), "-1,234.5");
  EXPECT_EQ(fixed_text(-0.0001, 1), "0.0");
  EXPECT_EQ(fixed_text(std::optional<double>{}, 1), "-");
}

TEST(number_text, writes_mebibytes) {
  EXPECT_EQ(mib_text(std::uint64_t{262} << 20), "262.0");
  EXPECT_EQ(mib_text(103022592), "98.25");
  EXPECT_EQ(mib_text(0), "0.0");
  EXPECT_EQ(growth_text(0), "0");
  EXPECT_EQ(growth_text(std::int64_t{15700} << 20), "+15,700");
  EXPECT_EQ(growth_text(2516582), "+2.4");
  EXPECT_EQ(growth_text(-(std::int64_t{32} << 20)), "-32");
  EXPECT_EQ(growth_text(100), "0");
}

TEST(number_text, gives_small_rates_more_digits) {
  EXPECT_EQ(rate_text(std::nullopt), "-");
  EXPECT_EQ(rate_text(0.0), "0");
  EXPECT_EQ(rate_text(0.0123), "0.0123");
  EXPECT_EQ(rate_text(3.4), "3.40");
  EXPECT_EQ(rate_text(144.0), "144.0");
}

TEST(number_text, writes_out_how_the_bound_came_about) {
  cap_arithmetic cap;
  cap.cap_source = ARCALLOC_CAP_DERIVED;
  cap.free_bytes = std::uint64_t{262} << 20;
  cap.reserve_bytes = cap.free_bytes / 4;
  cap.cached_bytes_max = (cap.free_bytes - cap.reserve_bytes) / 2;
  EXPECT_EQ(cap_text(cap), "min(1024 MiB, (262.0 - 65.5) / 2) = 98.25 MiB");
  cap.cap_source = ARCALLOC_CAP_UNBOUNDED;
  EXPECT_EQ(cap_text(cap), "unbounded");
  cap.cached_bytes_max = std::uint64_t{64} << 20;
  cap.cap_source = ARCALLOC_CAP_ENVIRONMENT;
  EXPECT_EQ(cap_text(cap), "64.0 MiB, set by ARC_ALLOC_CACHE_MAX_MB");
  cap.cap_source = ARCALLOC_CAP_EXPLICIT;
  EXPECT_EQ(cap_text(cap), "64.0 MiB, set explicitly");
  cap.cap_source = ARCALLOC_CAP_FALLBACK;
  cap.query = status::backend_failed;
  EXPECT_EQ(cap_text(cap), "64.0 MiB, because the device did not say how much is free (backend_failed)");
}

}  // namespace
}  // namespace arcalloc::cli
