// SPDX-License-Identifier: Apache-2.0
#include "size_class.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arcalloc::detail {
namespace {

constexpr geometry with_classes[] = {geometry::classes_1, geometry::classes_2, geometry::classes_4, geometry::classes_8,
                                     geometry::classes_16};

std::uint64_t per_doubling(geometry shape) { return std::stoull(geometry_name(shape)); }

/// The formula of the documentation, by search: the smallest (P + k) * 2^n / P that is large enough.
std::uint64_t by_formula(std::uint64_t bytes, std::uint64_t classes) {
  for (std::uint64_t power = 1;; power *= 2) {
    std::uint64_t step = power / classes;
    step = step < class_step_min ? class_step_min : step;
    step = step > class_step_max ? class_step_max : step;
    if (bytes > 2 * power && power < (std::uint64_t{1} << 47)) continue;
    return (bytes + step - 1) / step * step;
  }
}

TEST(size_class, is_the_formula_for_every_geometry) {
  for (const geometry shape : with_classes) {
    const size_classes classes(shape);
    for (std::uint64_t power = 512; power <= (std::uint64_t{1} << 40); power *= 2) {
      for (const std::uint64_t near : {power - 1, power, power + 1, power + power / 3, power + power / 2 + 7}) {
        EXPECT_EQ(classes.rounded(near), by_formula(near, per_doubling(shape))) << near;
      }
    }
  }
}

TEST(size_class, index_and_bytes_are_inverse_and_ordered) {
  for (const geometry shape : with_classes) {
    const size_classes classes(shape);
    std::uint64_t before = 0;
    for (std::uint32_t index = 0; index <= classes.index_of(shared_bytes_max); ++index) {
      const std::uint64_t bytes = classes.bytes_of(index);
      EXPECT_EQ(bytes % 512, 0U);
      EXPECT_EQ(classes.index_of(bytes), index);
      EXPECT_EQ(classes.index_of(before + 1), index);
      EXPECT_EQ(classes.rounded(bytes), bytes);
      EXPECT_GT(bytes, before);
      before = bytes;
    }
    EXPECT_EQ(before, shared_bytes_max);
  }
}

TEST(size_class, the_tables_of_the_hit_path_agree_with_the_formula) {
  for (const geometry shape : with_classes) {
    const size_classes classes(shape);
    for (std::uint64_t edge = class_step_min; edge <= run_block_bytes_max; edge += class_step_min) {
      for (const std::uint64_t bytes : {edge - class_step_min + 1, edge - 1, edge}) {
        ASSERT_EQ(classes.look_up(bytes), classes.index_of(bytes)) << bytes;
      }
    }
    for (const std::uint64_t none : {std::uint64_t{0}, run_block_bytes_max + 1, UINT64_MAX - 511, UINT64_MAX}) {
      EXPECT_EQ(classes.look_up(none), no_class) << none;
    }
  }
  const size_classes exact(geometry::exact);
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, 256 * kibibyte, 256 * kibibyte + 1, 16 * mebibyte}) {
    EXPECT_EQ(exact.look_up(bytes), no_class) << bytes;
  }
}

TEST(size_class, rounding_stays_below_one_part_in_the_classes_per_doubling) {
  const size_classes classes(geometry::classes_8);
  for (std::uint64_t bytes = 4097; bytes < (std::uint64_t{1} << 45); bytes += bytes / 37 + 1) {
    const std::uint64_t rounded = classes.rounded(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_LT((rounded - bytes) * 8, bytes) << bytes;
  }
}

TEST(size_class, steps_are_never_more_than_sixteen_mebibytes) {
  const size_classes classes(geometry::classes_8);
  EXPECT_EQ(classes.rounded((std::uint64_t{100} << 30) + 1), (std::uint64_t{100} << 30) + (16 << 20));
  EXPECT_EQ(classes.rounded(std::uint64_t{1} << 47), std::uint64_t{1} << 47);
}

TEST(size_class, exact_rounds_to_512_and_shares_nothing) {
  const size_classes classes(geometry::exact);
  EXPECT_EQ(classes.shared_max(), 0U);
  EXPECT_EQ(classes.rounded(1), 512U);
  EXPECT_EQ(classes.rounded(512), 512U);
  EXPECT_EQ(classes.rounded(393217), 393728U);
}

TEST(size_class, rounded_down_is_the_largest_class_not_above) {
  for (const geometry shape : with_classes) {
    const size_classes classes(shape);
    for (std::uint64_t bytes = 512; bytes < (std::uint64_t{1} << 36); bytes += bytes / 11 + 512) {
      const std::uint64_t down = classes.rounded_down(bytes);
      EXPECT_LE(down, bytes);
      EXPECT_EQ(classes.rounded(down), down) << bytes;
      EXPECT_GT(classes.rounded(down + 1), bytes) << bytes;
    }
  }
}

}  // namespace
}  // namespace arcalloc::detail
