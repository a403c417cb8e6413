// SPDX-License-Identifier: Apache-2.0
#include "decode/host_executor.hpp"

// Eigen must not reach for the heap: any temporary it would need is a mistake here.
#define EIGEN_NO_MALLOC
#include <algorithm>
#include <cmath>
#include <cstring>

#include <Eigen/Core>

namespace arcalloc::decode {

namespace {

// Every block starts at a multiple of 512 bytes, which Eigen's largest packet divides.
static_assert(block_alignment % Eigen::AlignedMax == 0);

using row_matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Index extent(std::size_t value) noexcept { return static_cast<Eigen::Index>(value); }

auto flat(tensor_input x) {
  return Eigen::Map<const Eigen::ArrayXf, Eigen::AlignedMax>(x.data(), extent(x.elements()));
}
auto flat(tensor_output x) { return Eigen::Map<Eigen::ArrayXf, Eigen::AlignedMax>(x.data(), extent(x.elements())); }

auto vector(const float* data, std::size_t size) { return Eigen::Map<const Eigen::VectorXf>(data, extent(size)); }
auto vector(float* data, std::size_t size) { return Eigen::Map<Eigen::VectorXf>(data, extent(size)); }

std::int32_t index_in(tensor_input place) noexcept {
  std::int32_t value = 0;
  std::memcpy(&value, place.data(), sizeof value);
  return value;
}

std::size_t value_of(tensor_input place) noexcept { return static_cast<std::size_t>(index_in(place)); }

void copy(const float* from, std::size_t count, float* to) { std::memcpy(to, from, count * sizeof(float)); }

/// So many columns of `rows`, weighted and summed up, in registers. One position after the other: a weight of 0 adds
/// +0 or -0 to a sum that began as +0, and changes no bit.
template <int columns>
void sum_weighted(const float* weights, const float* rows, std::size_t positions, std::size_t head_dim, float* out) {
  using sums = Eigen::Array<float, columns, 1>;
  sums all = sums::Zero();
  for (std::size_t row = 0; row < positions; ++row) {
    all += weights[row] * Eigen::Map<const sums>(rows + row * head_dim);
  }
  Eigen::Map<sums>{out} = all;
}

}  // namespace

void host_executor::fill(tensor_output out, std::size_t count, const value_source& values) {
  values.write(out.data(), count);
}

void host_executor::write_index(tensor_output place, std::int32_t value) {
  static_assert(sizeof value == sizeof(float));
  std::memcpy(place.data(), &value, sizeof value);
}

std::int32_t host_executor::read_index(tensor_input place) { return index_in(place); }

void host_executor::gather_row(tensor_input table, tensor_input index, tensor_output out) {
  const std::size_t columns = table.extents().columns;
  copy(table.data() + value_of(index) * columns, columns, out.data());
}

void host_executor::mean_of_squares(tensor_input x, tensor_output out) {
  out.data()[0] = flat(x).square().sum() / static_cast<float>(x.elements());
}

void host_executor::normalise(tensor_input x, tensor_input mean, tensor_input weight, tensor_output out) {
  const float factor = 1.0F / std::sqrt(mean.data()[0] + 1e-5F);
  flat(out) = flat(weight) * (flat(x) * factor);
}

void host_executor::matrix_vector(tensor_input weight, tensor_input x, tensor_output out) {
  const Eigen::Map<const row_matrix, Eigen::AlignedMax> matrix(weight.data(), extent(weight.extents().rows),
                                                               extent(weight.extents().columns));
  vector(out.data(), out.elements()).noalias() = matrix * vector(x.data(), x.elements());
}

void host_executor::rotate_pairs(tensor_input x, tensor_input cosines, tensor_input sines, tensor_output out) {
  const std::size_t pairs = cosines.elements();
  for (std::size_t i = 0; i < x.elements() / 2; ++i) {
    const float cosine = cosines.data()[i % pairs];
    const float sine = sines.data()[i % pairs];
    const float even = x.data()[2 * i];
    const float odd = x.data()[2 * i + 1];
    out.data()[2 * i] = even * cosine - odd * sine;
    out.data()[2 * i + 1] = even * sine + odd * cosine;
  }
}

void host_executor::concatenate(tensor_input before, tensor_input row, tensor_output out) {
  if (before) copy(before.data(), before.elements(), out.data());
  copy(row.data(), row.elements(), out.data() + before.elements());
}

void host_executor::write_row(tensor_output table, tensor_input index, tensor_input row) {
  copy(row.data(), row.elements(), table.data() + value_of(index) * table.extents().columns);
}

void host_executor::expand_heads(tensor_input cache, tensor_output out) {
  const auto [heads, positions, head_dim] = out.extents();
  const std::size_t columns = cache.extents().columns;
  const std::size_t group = heads * head_dim / columns;
  for (std::size_t head = 0; head < heads; ++head) {
    const float* from = cache.data() + (head / group) * head_dim;
    float* to = out.data() + head * positions * head_dim;
    for (std::size_t position = 0; position < positions; ++position) {
      copy(from + position * columns, head_dim, to + position * head_dim);
    }
  }
}

void host_executor::scores(tensor_input keys, tensor_input query, tensor_output out) {
  const auto [heads, positions, head_dim] = keys.extents();
  for (std::size_t head = 0; head < heads; ++head) {
    const auto of_head = vector(query.data() + head * head_dim, head_dim);
    // A product of matrix and vector would sum a row up in another order where fewer rows follow it.
    for (std::size_t row = head * positions; row < (head + 1) * positions; ++row) {
      out.data()[row] = vector(keys.data() + row * head_dim, head_dim).dot(of_head);
    }
  }
}

void host_executor::scale(tensor_input x, float factor, tensor_output out) { flat(out) = flat(x) * factor; }

void host_executor::softmax_rows(tensor_input x, tensor_input last, tensor_output out) {
  const std::size_t columns = x.extents().columns;
  const std::size_t used = value_of(last) + 1;
  for (std::size_t start = 0; start < x.elements(); start += columns) {
    const float* from = x.data() + start;
    float* to = out.data() + start;
    const float greatest = *std::max_element(from, from + used);
    float sum = 0;
    for (std::size_t i = 0; i < used; ++i) {
      to[i] = std::exp(from[i] - greatest);
      sum += to[i];
    }
    for (std::size_t i = 0; i < used; ++i) to[i] /= sum;
    std::fill(to + used, to + columns, 0.0F);
  }
}

void host_executor::weighted_sum(tensor_input weights, tensor_input values, tensor_output out) {
  const auto [heads, positions, head_dim] = values.extents();
  for (std::size_t head = 0; head < heads; ++head) {
    const float* of_head = weights.data() + head * positions;
    const float* rows = values.data() + head * positions * head_dim;
    float* to = out.data() + head * head_dim;
    std::size_t at = 0;
    for (; at + 32 <= head_dim; at += 32) sum_weighted<32>(of_head, rows + at, positions, head_dim, to + at);
    for (; at + 8 <= head_dim; at += 8) sum_weighted<8>(of_head, rows + at, positions, head_dim, to + at);
    for (; at < head_dim; ++at) sum_weighted<1>(of_head, rows + at, positions, head_dim, to + at);
  }
}

void host_executor::swap_outer(tensor_input x, tensor_output out) {
  const auto [planes, rows, columns] = x.extents();
  for (std::size_t plane = 0; plane < planes; ++plane) {
    for (std::size_t row = 0; row < rows; ++row) {
      copy(x.data() + (plane * rows + row) * columns, columns, out.data() + (row * planes + plane) * columns);
    }
  }
}

void host_executor::add(tensor_input left, tensor_input right, tensor_output out) {
  flat(out) = flat(left) + flat(right);
}

void host_executor::multiply(tensor_input left, tensor_input right, tensor_output out) {
  flat(out) = flat(left) * flat(right);
}

void host_executor::silu(tensor_input x, tensor_output out) {
  for (std::size_t i = 0; i < x.elements(); ++i) out.data()[i] = x.data()[i] / (1.0F + std::exp(-x.data()[i]));
}

void host_executor::index_of_greatest(tensor_input x, tensor_output place) {
  const float* end = x.data() + x.elements();
  write_index(place, static_cast<std::int32_t>(std::max_element(x.data(), end) - x.data()));
}

}  // namespace arcalloc::decode
