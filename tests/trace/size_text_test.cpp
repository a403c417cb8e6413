// SPDX-License-Identifier: Apache-2.0
#include "trace/size_text.hpp"

#include <gtest/gtest.h>

namespace arcalloc::trace {
namespace {

TEST(size_text, units_are_powers_of_two) {
  EXPECT_EQ(size_from("0"), 0U);
  EXPECT_EQ(size_from("512"), 512U);
  EXPECT_EQ(size_from("3KiB"), 3072U);
  EXPECT_EQ(size_from("64MiB"), std::uint64_t{64} << 20);
  EXPECT_EQ(size_from("24GiB"), std::uint64_t{24} << 30);
}

TEST(size_text, the_largest_sizes_fit_and_nothing_above) {
  EXPECT_EQ(size_from("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(size_from("18446744073709551616"), std::nullopt);
  EXPECT_EQ(size_from("17179869183GiB"), std::uint64_t{17179869183} << 30);
  EXPECT_EQ(size_from("17179869184GiB"), std::nullopt);
  EXPECT_EQ(size_from("18446744073709551615KiB"), std::nullopt);
}

TEST(size_text, nothing_is_read_in_part) {
  for (const char* text : {"", "KiB", "4Gi", "4gib", "4 MiB", " 4", "4 ", "-1", "+4", "08", "00", "1e9", "0x100",
                           "4TiB", "4MiBMiB", "4.5MiB", "abc", "4MB", "0KiBs"}) {
    EXPECT_EQ(size_from(text), std::nullopt) << text;
  }
}

TEST(size_text, a_count_has_a_largest_value) {
  EXPECT_EQ(count_from("7", 7), 7U);
  EXPECT_EQ(count_from("8", 7), std::nullopt);
  EXPECT_EQ(count_from("7KiB", 100000), std::nullopt);
}

}  // namespace
}  // namespace arcalloc::trace
