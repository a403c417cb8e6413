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
using column_matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

Eigen::Index index(std::size_t value) noexcept { return static_cast<Eigen::Index>(value); }

auto flat(const tensor& x) {
  return Eigen::Map<const Eigen::ArrayXf, Eigen::AlignedMax>(x.data(), index(x.elements()));
}
auto flat(tensor& x) { return Eigen::Map<Eigen::ArrayXf, Eigen::AlignedMax>(x.data(), index(x.elements())); }

auto vector(const float* data, std::size_t size) { return Eigen::Map<const Eigen::VectorXf>(data, index(size)); }
auto vector(float* data, std::size_t size) { return Eigen::Map<Eigen::VectorXf>(data, index(size)); }

void copy(const float* from, std::size_t count, float* to) { std::memcpy(to, from, count * sizeof(float)); }

}  // namespace

void host_executor::fill(tensor& out, std::size_t count, const value_source& values) {
  values.write(out.data(), count);
}

void host_executor::gather_row(const tensor& table, std::size_t row, tensor& out) {
  const std::size_t columns = table.extents().columns;
  copy(table.data() + row * columns, columns, out.data());
}

void host_executor::mean_of_squares(const tensor& x, tensor& out) {
  out.data()[0] = flat(x).square().sum() / static_cast<float>(x.elements());
}

void host_executor::normalise(const tensor& x, const tensor& mean, const tensor& weight, tensor& out) {
  const float factor = 1.0F / std::sqrt(mean.data()[0] + 1e-5F);
  flat(out) = flat(weight) * (flat(x) * factor);
}

void host_executor::matrix_vector(const tensor& weight, const tensor& x, tensor& out) {
  const Eigen::Map<const row_matrix, Eigen::AlignedMax> matrix(weight.data(), index(weight.extents().rows),
                                                               index(weight.extents().columns));
  vector(out.data(), out.elements()).noalias() = matrix * vector(x.data(), x.elements());
}

void host_executor::rotate_pairs(const tensor& x, const tensor& cosines, const tensor& sines, tensor& out) {
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

void host_executor::concatenate(const tensor& before, const tensor& row, tensor& out) {
  if (before) copy(before.data(), before.elements(), out.data());
  copy(row.data(), row.elements(), out.data() + before.elements());
}

void host_executor::write_row(tensor& table, std::size_t at, const tensor& row) {
  copy(row.data(), row.elements(), table.data() + at * table.extents().columns);
}

void host_executor::expand_heads(const tensor& cache, tensor& out) {
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

void host_executor::scores(const tensor& keys, const tensor& query, tensor& out) {
  const auto [heads, positions, head_dim] = keys.extents();
  for (std::size_t head = 0; head < heads; ++head) {
    const Eigen::Map<const row_matrix> matrix(keys.data() + head * positions * head_dim, index(positions),
                                              index(head_dim));
    vector(out.data() + head * positions, positions).noalias() =
        matrix * vector(query.data() + head * head_dim, head_dim);
  }
}

void host_executor::scale(const tensor& x, float factor, tensor& out) { flat(out) = flat(x) * factor; }

void host_executor::softmax_rows(const tensor& x, tensor& out) {
  const std::size_t columns = x.extents().columns;
  for (std::size_t start = 0; start < x.elements(); start += columns) {
    const float* from = x.data() + start;
    float* to = out.data() + start;
    const float greatest = *std::max_element(from, from + columns);
    float sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      to[i] = std::exp(from[i] - greatest);
      sum += to[i];
    }
    for (std::size_t i = 0; i < columns; ++i) to[i] /= sum;
  }
}

void host_executor::weighted_sum(const tensor& weights, const tensor& values, tensor& out) {
  const auto [heads, positions, head_dim] = values.extents();
  for (std::size_t head = 0; head < heads; ++head) {
    // Row-major positions x head_dim is column-major head_dim x positions: no transpose is made.
    const Eigen::Map<const column_matrix> matrix(values.data() + head * positions * head_dim, index(head_dim),
                                                 index(positions));
    vector(out.data() + head * head_dim, head_dim).noalias() =
        matrix * vector(weights.data() + head * positions, positions);
  }
}

void host_executor::swap_outer(const tensor& x, tensor& out) {
  const auto [planes, rows, columns] = x.extents();
  for (std::size_t plane = 0; plane < planes; ++plane) {
    for (std::size_t row = 0; row < rows; ++row) {
      copy(x.data() + (plane * rows + row) * columns, columns, out.data() + (row * planes + plane) * columns);
    }
  }
}

void host_executor::add(const tensor& left, const tensor& right, tensor& out) { flat(out) = flat(left) + flat(right); }

void host_executor::multiply(const tensor& left, const tensor& right, tensor& out) {
  flat(out) = flat(left) * flat(right);
}

void host_executor::silu(const tensor& x, tensor& out) {
  for (std::size_t i = 0; i < x.elements(); ++i) out.data()[i] = x.data()[i] / (1.0F + std::exp(-x.data()[i]));
}

std::int32_t host_executor::index_of_greatest(const tensor& x) {
  const float* end = x.data() + x.elements();
  return static_cast<std::int32_t>(std::max_element(x.data(), end) - x.data());
}

}  // namespace arcalloc::decode
