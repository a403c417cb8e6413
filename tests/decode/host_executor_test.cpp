// SPDX-License-Identifier: Apache-2.0
#include "decode/host_executor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "decode/ops.hpp"
#include "devices.hpp"

namespace arcalloc::decode {
namespace {

using numbers = std::vector<double>;

/// Every operation against a loop that says what it means, in double precision.
class host_operations : public testing::Test {
 protected:
  [[nodiscard]] tensor seeded(const shape& extents) { return ops_.filled(extents, seeded_values{++seed_, 2.0F}); }

  static numbers read(const tensor& x) { return {x.data(), x.data() + x.elements()}; }

  static void expect(const tensor& found, const shape& extents, const numbers& expected) {
    EXPECT_EQ(found.extents(), extents);
    ASSERT_EQ(found.elements(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(found.data()[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << "element " << i;
    }
  }

  void expect_pairwise(const std::function<tensor(const tensor&, const tensor&)>& operation,
                       const std::function<double(double, double)>& meaning) {
    const tensor left = seeded({.rows = 3, .columns = 37});
    const tensor right = seeded({.rows = 3, .columns = 37});
    numbers expected;
    for (std::size_t i = 0; i < left.elements(); ++i) expected.push_back(meaning(left.data()[i], right.data()[i]));
    expect(operation(left, right), left.extents(), expected);
  }

  host_backend device_{64 * mebibyte};
  allocator_ptr memory_ = make_allocator(device_);
  tensor_source tensors_{*memory_, default_stream};
  host_executor compute_;
  operations ops_{tensors_, compute_};
  std::uint64_t seed_ = 0;
};

TEST_F(host_operations, gather_row_copies_one_row) {
  const tensor table = seeded({.rows = 9, .columns = 5});
  const numbers all = read(table);
  for (std::size_t row = 0; row < 9; ++row) {
    expect(ops_.gather_row(table, ops_.index(static_cast<std::int32_t>(row))), {.columns = 5},
           {&all[row * 5], &all[row * 5] + 5});
  }
}

TEST_F(host_operations, norm_divides_by_the_root_of_the_mean_square) {
  for (const std::size_t size : {1U, 7U, 64U, 1001U}) {
    const tensor x = seeded({.columns = size});
    const tensor weight = seeded({.columns = size});
    double mean = 0;
    for (const double value : read(x)) mean += value * value / static_cast<double>(size);
    const tensor found = ops_.mean_of_squares(x);
    expect(found, {}, {mean});
    numbers expected;
    for (std::size_t i = 0; i < size; ++i) {
      expected.push_back(double{weight.data()[i]} * double{x.data()[i]} / std::sqrt(mean + 1e-5));
    }
    expect(ops_.normalise(x, found, weight), {.columns = size}, expected);
  }
}

TEST_F(host_operations, norm_of_zeros_is_zero) {
  const tensor x = ops_.filled({.columns = 12}, constant_values{0});
  const tensor weight = seeded({.columns = 12});
  expect(ops_.normalise(x, ops_.mean_of_squares(x), weight), {.columns = 12}, numbers(12, 0.0));
}

TEST_F(host_operations, matrix_vector_multiplies_rows_by_the_vector) {
  for (const std::size_t rows : {1U, 5U, 32U}) {
    for (const std::size_t columns : {1U, 3U, 64U, 173U}) {
      const tensor weight = seeded({.rows = rows, .columns = columns});
      const tensor x = seeded({.columns = columns});
      numbers expected(rows, 0.0);
      for (std::size_t i = 0; i < rows * columns; ++i) {
        expected[i / columns] += double{weight.data()[i]} * double{x.data()[i % columns]};
      }
      expect(ops_.matrix_vector(weight, x), {.columns = rows}, expected);
    }
  }
}

TEST_F(host_operations, rotate_pairs_turns_each_pair_of_each_head_by_its_angle) {
  const tensor x = seeded({.columns = 24});
  const tensor cosines = seeded({.columns = 4});
  const tensor sines = seeded({.columns = 4});
  numbers expected;
  for (std::size_t head = 0; head < 3; ++head) {
    for (std::size_t pair = 0; pair < 4; ++pair) {
      const double even = x.data()[head * 8 + 2 * pair];
      const double odd = x.data()[head * 8 + 2 * pair + 1];
      expected.push_back(even * double{cosines.data()[pair]} - odd * double{sines.data()[pair]});
      expected.push_back(even * double{sines.data()[pair]} + odd * double{cosines.data()[pair]});
    }
  }
  expect(ops_.rotate_pairs(x, cosines, sines), {.columns = 24}, expected);
}

TEST_F(host_operations, concatenate_puts_a_row_after_the_others_and_starts_from_nothing) {
  tensor grown;
  numbers expected;
  for (std::size_t rows = 1; rows <= 20; ++rows) {
    const tensor row = seeded({.columns = 6});
    for (const double value : read(row)) expected.push_back(value);
    grown = ops_.concatenate(grown, row);
    expect(grown, {.rows = rows, .columns = 6}, expected);
  }
}

TEST_F(host_operations, write_row_and_fill_rows_leave_the_other_rows) {
  tensor table = ops_.filled({.rows = 4, .columns = 3}, constant_values{7});
  const tensor row = seeded({.columns = 3});
  ops_.write_row(table, ops_.index(2), row);
  ops_.fill_rows(table, 1, constant_values{1});
  numbers expected{1, 1, 1, 7, 7, 7, 0, 0, 0, 7, 7, 7};
  for (std::size_t i = 0; i < 3; ++i) expected[6 + i] = row.data()[i];
  expect(table, {.rows = 4, .columns = 3}, expected);
}

TEST_F(host_operations, expand_heads_repeats_each_kv_head_for_its_group) {
  const std::size_t heads = 6;
  const std::size_t kv_heads = 2;
  const std::size_t head_dim = 5;
  // More rows than positions: a preallocated cache is expanded as far as it is filled.
  const tensor cache = seeded({.rows = 9, .columns = kv_heads * head_dim});
  for (const std::size_t positions : {1U, 4U, 9U}) {
    numbers expected;
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t position = 0; position < positions; ++position) {
        for (std::size_t i = 0; i < head_dim; ++i) {
          expected.push_back(cache.data()[position * kv_heads * head_dim + head / (heads / kv_heads) * head_dim + i]);
        }
      }
    }
    const shape extents{.planes = heads, .rows = positions, .columns = head_dim};
    expect(ops_.expand_heads(cache, extents), extents, expected);
  }
}

TEST_F(host_operations, scores_are_dot_products_of_keys_and_query_head_by_head) {
  const tensor keys = seeded({.planes = 3, .rows = 11, .columns = 8});
  const tensor query = seeded({.columns = 24});
  numbers expected(33, 0.0);
  for (std::size_t i = 0; i < keys.elements(); ++i) {
    expected[i / 8] += double{keys.data()[i]} * double{query.data()[i / 88 * 8 + i % 8]};
  }
  expect(ops_.scores(keys, query), {.rows = 3, .columns = 11}, expected);
}

TEST_F(host_operations, softmax_makes_each_row_sum_to_one_whatever_its_size) {
  const tensor x = seeded({.rows = 3, .columns = 13});
  const tensor large = ops_.scale(x, 500.0F);  // exp(1000) is beyond float32
  for (const tensor* each : {&x, &large}) {
    numbers expected;
    for (std::size_t row = 0; row < 3; ++row) {
      double greatest = -1e30;
      double sum = 0;
      for (std::size_t i = 0; i < 13; ++i) greatest = std::max(greatest, double{each->data()[row * 13 + i]});
      for (std::size_t i = 0; i < 13; ++i) sum += std::exp(double{each->data()[row * 13 + i]} - greatest);
      for (std::size_t i = 0; i < 13; ++i) {
        expected.push_back(std::exp(double{each->data()[row * 13 + i]} - greatest) / sum);
      }
    }
    expect(ops_.softmax_rows(*each, ops_.index(12)), x.extents(), expected);
  }
}

TEST_F(host_operations, softmax_gives_what_comes_after_the_last_column_a_zero_and_the_others_the_same_bits) {
  tensor x = seeded({.rows = 3, .columns = 13});
  for (std::size_t last = 0; last < 13; ++last) {
    tensor beginning = ops_.filled({.rows = 3, .columns = last + 1}, constant_values{0});
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t i = 0; i <= last; ++i) beginning.data()[row * (last + 1) + i] = x.data()[row * 13 + i];
      // Whatever lies beyond, and however great, is not looked at.
      for (std::size_t i = last + 1; i < 13; ++i) x.data()[row * 13 + i] = i % 2 == 0 ? 1e30F : std::nanf("");
    }
    const tensor index = ops_.index(static_cast<std::int32_t>(last));
    const tensor expected = ops_.softmax_rows(beginning, index);
    const tensor found = ops_.softmax_rows(x, index);
    for (std::size_t i = 0; i < 39; ++i) {
      const float value = i % 13 <= last ? expected.data()[i / 13 * (last + 1) + i % 13] : 0.0F;
      ASSERT_EQ(std::memcmp(&found.data()[i], &value, sizeof value), 0) << last << ", " << i;
    }
    x = seeded({.rows = 3, .columns = 13});
  }
}

TEST_F(host_operations, weighted_sum_mixes_the_values_of_each_head) {
  const tensor weights = seeded({.rows = 3, .columns = 11});
  const tensor values = seeded({.planes = 3, .rows = 11, .columns = 8});
  numbers expected(24, 0.0);
  for (std::size_t i = 0; i < values.elements(); ++i) {
    expected[i / 88 * 8 + i % 8] += double{weights.data()[i / 8]} * double{values.data()[i]};
  }
  expect(ops_.weighted_sum(weights, values), {.planes = 3, .columns = 8}, expected);
}

TEST_F(host_operations, swap_outer_exchanges_the_first_two_extents) {
  const tensor x = seeded({.planes = 2, .rows = 3, .columns = 4});
  numbers expected(24);
  for (std::size_t i = 0; i < 24; ++i) expected[(i / 4 % 3) * 8 + i / 12 * 4 + i % 4] = x.data()[i];
  expect(ops_.swap_outer(x), {.planes = 3, .rows = 2, .columns = 4}, expected);
}

TEST_F(host_operations, the_elementwise_ones_do_what_they_are_called) {
  expect_pairwise([this](const tensor& a, const tensor& b) { return ops_.add(a, b); },
                  [](double a, double b) { return a + b; });
  expect_pairwise([this](const tensor& a, const tensor& b) { return ops_.multiply(a, b); },
                  [](double a, double b) { return a * b; });
  expect_pairwise([this](const tensor& a, const tensor&) { return ops_.silu(a); },
                  [](double a, double) { return a / (1 + std::exp(-a)); });
  expect_pairwise([this](const tensor& a, const tensor&) { return ops_.scale(a, 0.125F); },
                  [](double a, double) { return a * 0.125; });
}

TEST_F(host_operations, the_greatest_element_is_the_first_of_equals) {
  tensor place = ops_.index(-1);
  const auto greatest = [&](const tensor& x) {
    ops_.index_of_greatest(x, place);
    return ops_.read_index(place);
  };
  tensor x = ops_.filled({.columns = 50}, constant_values{-3});
  EXPECT_EQ(greatest(x), 0);
  x.data()[17] = 2;
  x.data()[40] = 2;
  EXPECT_EQ(greatest(x), 17);
  x.data()[49] = 3;
  EXPECT_EQ(greatest(x), 49);
}

TEST_F(host_operations, an_index_is_read_as_it_was_written) {
  tensor place = ops_.index(7);
  EXPECT_EQ(place.elements(), 1U);
  for (const std::int32_t value : {0, 1, -1, INT32_MAX, INT32_MIN}) {
    ops_.write_index(place, value);
    EXPECT_EQ(ops_.read_index(place), value);
  }
}

}  // namespace
}  // namespace arcalloc::decode
