// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/device_timeline.hpp"
#include "decode/executor.hpp"

namespace arcalloc::decode {

/// Computes nothing: charges each operation to the clock of a simulated device, whose memory is addresses only.
///
/// Every operation reads its inputs and writes its output once, in single precision. The token that it answers with is
/// a seeded number below the vocabulary: which one depends on how many there were alone, so all legs have the same.
/// Concurrency: one thread.
class sim_executor final : public executor {
 public:
  explicit sim_executor(device_timeline& time) noexcept : time_(&time) {}

  [[nodiscard]] std::uint64_t now_ns() const override { return time_->now_ns(); }

  void fill(tensor_output out, std::size_t count, const value_source& values) override;
  void write_index(tensor_output place, std::int32_t value) override;
  /// Waits for the card: the host cannot know the token before.
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
  void charge(std::uint64_t bytes, std::uint64_t operations);

  device_timeline* time_;
  std::size_t vocabulary_ = 1;
  std::uint64_t tokens_ = 0;
};

}  // namespace arcalloc::decode
