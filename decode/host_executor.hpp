// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/executor.hpp"

namespace arcalloc::decode {

/// Computes on the host, in place on the tensors' memory, on the calling thread.
///
/// Matrix products go through Eigen maps; reductions are in one fixed order, so that two runs of one
/// binary on one machine agree to the bit. It keeps no state and no scratch memory.
class host_executor final : public executor {
 public:
  void fill(tensor& out, std::size_t count, const value_source& values) override;
  void gather_row(const tensor& table, std::size_t row, tensor& out) override;
  void mean_of_squares(const tensor& x, tensor& out) override;
  void normalise(const tensor& x, const tensor& mean, const tensor& weight, tensor& out) override;
  void matrix_vector(const tensor& weight, const tensor& x, tensor& out) override;
  void rotate_pairs(const tensor& x, const tensor& cosines, const tensor& sines, tensor& out) override;
  void concatenate(const tensor& before, const tensor& row, tensor& out) override;
  void write_row(tensor& table, std::size_t index, const tensor& row) override;
  void expand_heads(const tensor& cache, tensor& out) override;
  void scores(const tensor& keys, const tensor& query, tensor& out) override;
  void scale(const tensor& x, float factor, tensor& out) override;
  void softmax_rows(const tensor& x, tensor& out) override;
  void weighted_sum(const tensor& weights, const tensor& values, tensor& out) override;
  void swap_outer(const tensor& x, tensor& out) override;
  void add(const tensor& left, const tensor& right, tensor& out) override;
  void multiply(const tensor& left, const tensor& right, tensor& out) override;
  void silu(const tensor& x, tensor& out) override;
  [[nodiscard]] std::int32_t index_of_greatest(const tensor& x) override;
};

}  // namespace arcalloc::decode
