// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/capturing_executor.hpp"
#include "decode/cuda_stream.hpp"

namespace arcalloc::decode {

/// Operations as memory traffic on a CUDA stream: each writes all of its output, from its input as far as that goes and
/// set to a byte beyond; nothing is computed, so its tokens are no text.
///
/// They say something all the same. The first word of each output is that of the operation's input, the second one that
/// of the softmax's `last`, which is the step's position: it goes through every tensor from there to the logits, and is
/// the token. So the token of a step is its position, in every leg and replay, unless some memory on the way was
/// somebody else's. The bytes read from weights are not moved: a copy needs a place to go to.
/// While it records, the stream is captured, and what was recorded is the driver's graph.
/// Concurrency: the stream's thread. Cost: one to three driver calls an operation.
class traffic_executor final : public capturing_executor {
 public:
  explicit traffic_executor(cuda_stream& on) noexcept : on_(on) {}

  void start() override;
  [[nodiscard]] recorded_operations stop() override;
  void drop() noexcept override;
  [[nodiscard]] executor& compute() noexcept override { return *this; }

  /// The values are not written, but the transfer's bytes are.
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
  void pass_on(tensor_input x, tensor_output out);
  void refuse_while_recording(const char* what) const;

  cuda_stream& on_;
  bool recording_ = false;
  std::size_t recorded_ = 0;
};

}  // namespace arcalloc::decode
