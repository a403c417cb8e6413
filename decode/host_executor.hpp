// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/executor.hpp"

namespace arcalloc::decode {

/// Computes on the host, in place on the tensors' memory, on the calling thread.
///
/// Matrix products go through Eigen maps; reductions are in one fixed order, so that two runs of one
/// binary on one machine agree to the bit. In attention that order is one position after the other, so that
/// positions which weigh nothing may follow without changing a bit. It keeps no state and no scratch memory.
class host_executor final : public executor {
 public:
  void fill(tensor_output out, std::size_t count, const value_source& values) override;
  void write_index(tensor_output place, std::int32_t value) override;
  [[nodiscard]] std::int32_t read_index(tensor_input place) override;
  void gather_row(tensor_input table, tensor_input index, tensor_output out) override;
  void mean_of_squares(tensor_input x, tensor_output out) override;
  void normalise(tensor_input x, tensor_input mean, tensor_input weight, tensor_output out) override;
  void matrix_vector(tensor_input weight, tensor_input x, tensor_output out) override;
  void rotate_pairs(tensor_input x, tensor_input cosines, tensor_input sines, tensor_output out) override;
  void concatenate(tensor_input before, tensor_input row, tensor_output out) override;
  void write_row(tensor_output table, tensor_input index, tensor_input row) override;
  void expand_heads(tensor_input cache, tensor_output out) override;
  void scores(tensor_input keys, tensor_input query, tensor_output out) override;
  void scale(tensor_input x, float factor, tensor_output out) override;
  void softmax_rows(tensor_input x, tensor_input last, tensor_output out) override;
  void weighted_sum(tensor_input weights, tensor_input values, tensor_output out) override;
  void swap_outer(tensor_input x, tensor_output out) override;
  void add(tensor_input left, tensor_input right, tensor_output out) override;
  void multiply(tensor_input left, tensor_input right, tensor_output out) override;
  void silu(tensor_input x, tensor_output out) override;
  void index_of_greatest(tensor_input x, tensor_output place) override;
};

}  // namespace arcalloc::decode
