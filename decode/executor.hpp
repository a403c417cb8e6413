// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/tensor.hpp"
#include "decode/values.hpp"

namespace arcalloc::decode {

/// Who computes: the arithmetic of every operation, on outputs that are there already.
///
/// `operations` allocates each output and then calls one function here, so that two executors see the
/// same requests in the same order, whether they compute or only charge time.
/// Requires: the shapes that `operations` passes; `out` never overlaps an input. Every element of
/// `out` is written, unless said otherwise. Nothing here allocates: neither from the allocator nor from the host's
/// heap.
class executor {
 public:
  virtual ~executor() = default;

  /// Fills the first `count` elements, and leaves the others.
  virtual void fill(tensor& out, std::size_t count, const value_source& values) = 0;
  virtual void gather_row(const tensor& table, std::size_t row, tensor& out) = 0;
  virtual void mean_of_squares(const tensor& x, tensor& out) = 0;
  /// weight * (x / sqrt(mean + 1e-5))
  virtual void normalise(const tensor& x, const tensor& mean, const tensor& weight, tensor& out) = 0;
  virtual void matrix_vector(const tensor& weight, const tensor& x, tensor& out) = 0;
  /// Rotates each pair (2j, 2j + 1) of every head by the angle of column j.
  virtual void rotate_pairs(const tensor& x, const tensor& cosines, const tensor& sines, tensor& out) = 0;
  /// All rows of `before` (which may be no tensor), then `row`.
  virtual void concatenate(const tensor& before, const tensor& row, tensor& out) = 0;
  virtual void write_row(tensor& table, std::size_t index, const tensor& row) = 0;
  /// (position, kv head x dim) to (head, position, dim), each kv head repeated for its group.
  virtual void expand_heads(const tensor& cache, tensor& out) = 0;
  /// Row h of `out`: keys of head h times query of head h.
  virtual void scores(const tensor& keys, const tensor& query, tensor& out) = 0;
  virtual void scale(const tensor& x, float factor, tensor& out) = 0;
  virtual void softmax_rows(const tensor& x, tensor& out) = 0;
  /// Plane h of `out`: the values of head h, weighted by row h of `weights`.
  virtual void weighted_sum(const tensor& weights, const tensor& values, tensor& out) = 0;
  /// (a, b, c) to (b, a, c)
  virtual void swap_outer(const tensor& x, tensor& out) = 0;
  virtual void add(const tensor& left, const tensor& right, tensor& out) = 0;
  virtual void multiply(const tensor& left, const tensor& right, tensor& out) = 0;
  virtual void silu(const tensor& x, tensor& out) = 0;
  /// The index of the greatest element, the lowest of equals.
  [[nodiscard]] virtual std::int32_t index_of_greatest(const tensor& x) = 0;
};

}  // namespace arcalloc::decode
