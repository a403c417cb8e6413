// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/capturing_executor.hpp"

namespace arcalloc::decode {

/// Passes every operation on to another executor; while it records, it takes the operation down instead and
/// computes nothing, as a stream does that is being captured.
///
/// Concurrency: one thread. Cost: a virtual call more; while it records, host memory for each operation.
class recording_executor final : public capturing_executor {
 public:
  explicit recording_executor(executor& compute) noexcept : compute_(&compute) {}

  void start() override;
  [[nodiscard]] recorded_operations stop() override;
  void drop() noexcept override;
  /// Who computes when it does not record, too.
  [[nodiscard]] executor& compute() noexcept override { return *compute_; }

  [[nodiscard]] std::uint64_t now_ns() const override { return compute_->now_ns(); }

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

 private:
  template <typename Operation>
  void take(const Operation& operation);
  void refuse_while_recording(const char* what) const;

  executor* compute_;
  bool recording_ = false;
  recorded_operations taken_;
};

}  // namespace arcalloc::decode
