// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/executor.hpp"
#include "decode/tensor.hpp"

namespace arcalloc::decode {

/// The eager operations of the decoder: each makes a fresh output tensor and has the executor fill it.
///
/// Called by `model`. The output is requested while all inputs are alive, as eager engines do; inputs
/// are freed by whoever owns them. Each function says the output's shape and nothing of arithmetic,
/// so the sequence of requests does not depend on the executor.
/// Concurrency: one thread. Throws memory_refused; a half-made output is freed on the way.
class operations {
 public:
  operations(tensor_source& memory, executor& compute) noexcept : memory_(&memory), compute_(&compute) {}

  [[nodiscard]] std::uint64_t now_ns() const { return compute_->now_ns(); }

  [[nodiscard]] tensor filled(const shape& extents, const value_source& values) const;
  [[nodiscard]] tensor gather_row(const tensor& table, const tensor& index) const;
  [[nodiscard]] tensor mean_of_squares(const tensor& x) const;
  [[nodiscard]] tensor normalise(const tensor& x, const tensor& mean, const tensor& weight) const;
  [[nodiscard]] tensor matrix_vector(const tensor& weight, const tensor& x) const;
  [[nodiscard]] tensor rotate_pairs(const tensor& x, const tensor& cosines, const tensor& sines) const;
  [[nodiscard]] tensor concatenate(const tensor& before, const tensor& row) const;
  /// The first `positions` rows of a cache as (heads, positions, head dim).
  [[nodiscard]] tensor expand_heads(const tensor& cache, const shape& extents) const;
  [[nodiscard]] tensor scores(const tensor& keys, const tensor& query) const;
  [[nodiscard]] tensor scale(const tensor& x, float factor) const;
  [[nodiscard]] tensor softmax_rows(const tensor& x, const tensor& last) const;
  [[nodiscard]] tensor weighted_sum(const tensor& weights, const tensor& values) const;
  [[nodiscard]] tensor swap_outer(const tensor& x) const;
  [[nodiscard]] tensor add(const tensor& left, const tensor& right) const;
  [[nodiscard]] tensor multiply(const tensor& left, const tensor& right) const;
  [[nodiscard]] tensor silu(const tensor& x) const;

  /// A place for an index that is written and read from the host.
  [[nodiscard]] tensor index(std::int32_t value) const;

  /// Those that make no tensor: rows and indexes written in place, and the answer of a greedy sampler.
  void fill_rows(tensor& table, std::size_t rows, const value_source& values) const;
  void write_row(tensor& table, const tensor& index, const tensor& row) const;
  void write_index(tensor& place, std::int32_t value) const;
  [[nodiscard]] std::int32_t read_index(const tensor& place) const;
  void index_of_greatest(const tensor& x, tensor& place) const;

 private:
  tensor_source* memory_;
  executor* compute_;
};

}  // namespace arcalloc::decode
