// SPDX-License-Identifier: Apache-2.0
#include "decode/values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace arcalloc::decode {
namespace {

std::vector<float> written(const value_source& values, std::size_t count) {
  std::vector<float> out(count, NAN);
  values.write(out.data(), count);
  return out;
}

TEST(values, scramble_is_the_output_function_of_splitmix64) {
  EXPECT_EQ(scramble(1), 0x5692161d100b05e5U);
  EXPECT_EQ(scramble(0x9e3779b97f4a7c15), 0xe220a8397b1dcdafU);  // the first output for seed 0
}

TEST(values, seeded_values_are_the_same_on_every_machine) {
  const std::vector<float> expected{0x1.89b3fp-3F, -0x1.b3d7e8p-1F, -0x1.5bc93p-1F, 0x1.f92b8p-2F, -0x1.559bd4p-1F};
  EXPECT_EQ(written(seeded_values{42, 1.0F}, 5), expected);
}

TEST(values, fewer_seeded_values_are_a_prefix_of_more) {
  const std::vector<float> all = written(seeded_values{3, 2.0F}, 100);
  for (std::size_t count = 0; count < 100; ++count) {
    const std::vector<float> some = written(seeded_values{3, 2.0F}, count);
    ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << count;
  }
}

TEST(values, seeded_values_fill_their_range_and_keep_inside_it) {
  const std::vector<float> all = written(seeded_values{9, 0.5F}, 10000);
  const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
  EXPECT_GE(*least, -0.5F);
  EXPECT_LT(*greatest, 0.5F);
  EXPECT_LT(*least, -0.49F);
  EXPECT_GT(*greatest, 0.49F);
}

TEST(values, two_seeds_differ) { EXPECT_NE(written(seeded_values{1, 1.0F}, 8), written(seeded_values{2, 1.0F}, 8)); }

TEST(values, rotary_tables_hold_cosine_and_sine_of_position_over_wavelength) {
  const std::size_t head_dim = 8;
  const std::vector<float> cosines = written(rotary_values{rotary_part::cosine, head_dim}, 50 * head_dim / 2);
  const std::vector<float> sines = written(rotary_values{rotary_part::sine, head_dim}, 50 * head_dim / 2);
  for (std::size_t position = 0; position < 50; ++position) {
    for (std::size_t column = 0; column < head_dim / 2; ++column) {
      const double wavelength = std::pow(10000.0, 2.0 * static_cast<double>(column) / static_cast<double>(head_dim));
      const double angle = static_cast<double>(position) / wavelength;
      EXPECT_NEAR(cosines[position * head_dim / 2 + column], std::cos(angle), 1e-5);
      EXPECT_NEAR(sines[position * head_dim / 2 + column], std::sin(angle), 1e-5);
    }
  }
}

}  // namespace
}  // namespace arcalloc::decode
