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
/// same requests in the same order, whether they compute, only charge time, or take down what to do later.
/// Requires: the shapes that `operations` passes; `out` never overlaps an input. Every element of
/// `out` is written, unless said otherwise. An index is a tensor of one element whose four bytes are an int32: it
/// is read when the operation is done, from where it lies. Nothing here allocates from the allocator; nor, where
/// it computes, from the host's heap.
class executor {
 public:
  virtual ~executor() = default;

  /// The clock that a step is timed by; a device without arithmetic has its own.
  [[nodiscard]] virtual std::uint64_t now_ns() const;

  /// Fills the first `count` elements, and leaves the others.
  virtual void fill(tensor_output out, std::size_t count, const value_source& values) = 0;
  /// The two transfers between the host and an index.
  virtual void write_index(tensor_output place, std::int32_t value) = 0;
  [[nodiscard]] virtual std::int32_t read_index(tensor_input place) = 0;
  virtual void gather_row(tensor_input table, tensor_input index, tensor_output out) = 0;
  virtual void mean_of_squares(tensor_input x, tensor_output out) = 0;
  /// weight * (x / sqrt(mean + 1e-5))
  virtual void normalise(tensor_input x, tensor_input mean, tensor_input weight, tensor_output out) = 0;
  virtual void matrix_vector(tensor_input weight, tensor_input x, tensor_output out) = 0;
  /// Rotates each pair (2j, 2j + 1) of every head by the angle of column j.
  virtual void rotate_pairs(tensor_input x, tensor_input cosines, tensor_input sines, tensor_output out) = 0;
  /// All rows of `before` (which may be no tensor), then `row`.
  virtual void concatenate(tensor_input before, tensor_input row, tensor_output out) = 0;
  /// Writes that row and leaves the others.
  virtual void write_row(tensor_output table, tensor_input index, tensor_input row) = 0;
  /// (position, kv head x dim) to (head, position, dim), each kv head repeated for its group.
  virtual void expand_heads(tensor_input cache, tensor_output out) = 0;
  /// Row h of `out`: keys of head h times query of head h.
  virtual void scores(tensor_input keys, tensor_input query, tensor_output out) = 0;
  virtual void scale(tensor_input x, float factor, tensor_output out) = 0;
  /// Over the columns up to `last` inclusive, an index; the columns after it are 0 exactly, whatever `x` has there.
  virtual void softmax_rows(tensor_input x, tensor_input last, tensor_output out) = 0;
  /// Plane h of `out`: the values of head h, weighted by row h of `weights`, summed up in the order of the positions.
  virtual void weighted_sum(tensor_input weights, tensor_input values, tensor_output out) = 0;
  /// (a, b, c) to (b, a, c)
  virtual void swap_outer(tensor_input x, tensor_output out) = 0;
  virtual void add(tensor_input left, tensor_input right, tensor_output out) = 0;
  virtual void multiply(tensor_input left, tensor_input right, tensor_output out) = 0;
  virtual void silu(tensor_input x, tensor_output out) = 0;
  /// Writes the index of the greatest element, the lowest of equals.
  virtual void index_of_greatest(tensor_input x, tensor_output place) = 0;
};

}  // namespace arcalloc::decode
