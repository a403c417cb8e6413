// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/load.hpp"
#include "decode/model_shape.hpp"

namespace arcalloc::decode {

/// The keys and values of one sequence on one rank, in bf16: two tensors a layer, or one latent row's.
struct cached_sequence {
  std::uint64_t positions = 0;
  std::uint64_t room = 0;  ///< positions that preallocated tensors have
  std::vector<tensor> keys;
  std::vector<tensor> values;  ///< none with latent rows
};

/// So many new positions of a sequence in one pass over the model.
struct pass_part {
  cached_sequence* sequence;
  std::uint64_t rows;
};

/// What a rank has of a model.
struct model_share {
  std::uint64_t ranks = 1;
  std::uint64_t rank = 0;
  kv_mode kv = kv_mode::concat;
};

/// A model of a published shape on one rank, run eagerly without arithmetic: one fresh tensor an operation.
///
/// Heads, hidden columns and the vocabulary are divided among the ranks, latent rows and norms are not; experts are
/// whole, each on the rank of its number modulo the ranks. Which experts a token goes to is seeded, the same on every
/// rank, and skewed: the i-th most popular of a layer is chosen in proportion to 1 / sqrt(i). Attention repeats grouped
/// heads, and makes keys and values of heads from latent rows, as the reference code of the models does. Activations
/// are bf16; of fp8 weights only the elements are counted, not the scales of their blocks. Concurrency: one thread.
/// Throws memory_refused.
class model_load final : public load {
 public:
  model_load(const charged_memory& memory, const model_shape& model, const model_share& share);

  void begin(std::size_t context) override;
  load_step step(std::uint64_t now_ns) override;

  void load_weights();
  [[nodiscard]] cached_sequence add_sequence(std::uint64_t positions, std::uint64_t room);
  /// Runs the parts through all layers, and samples one token of each.
  void pass(std::span<const pass_part> parts);

  [[nodiscard]] std::uint64_t weight_bytes() const noexcept override { return weight_bytes_; }

 private:
  [[nodiscard]] tensor matrix(const weight_tensor& weight, std::uint64_t rows, std::uint64_t out_columns) const;
  [[nodiscard]] tensor rows_of(std::uint64_t rows, std::uint64_t columns) const;
  [[nodiscard]] tensor norm(std::uint64_t rows, std::uint64_t columns) const;
  [[nodiscard]] tensor reduce(std::uint64_t rows, tensor partial) const;
  void extend(tensor& cache, const cached_sequence& sequence, std::uint64_t rows, std::uint64_t row_bytes) const;
  void attention(std::uint64_t layer, std::span<const pass_part> parts, std::uint64_t rows);
  void grouped_projections(std::uint64_t rows, tensor& query, tensor& key, tensor& value) const;
  void latent_projections(std::uint64_t rows, tensor& query, tensor& row) const;
  [[nodiscard]] tensor attend(std::uint64_t layer, const pass_part& part) const;
  void feed_forward(std::uint64_t layer, std::uint64_t rows);
  [[nodiscard]] tensor gated(std::uint64_t rows, std::uint64_t hidden) const;
  void route(std::uint64_t layer, std::uint64_t rows);
  void run_experts(std::uint64_t rows) const;

  [[nodiscard]] std::uint64_t heads() const noexcept { return model_.heads / share_.ranks; }
  /// A rank has a key head at least, though others may have the same.
  [[nodiscard]] std::uint64_t kv_heads() const noexcept {
    return model_.kv_heads > share_.ranks ? model_.kv_heads / share_.ranks : 1;
  }
  [[nodiscard]] std::uint64_t key_row_bytes() const noexcept;

  charged_memory memory_;
  model_shape model_;
  model_share share_;
  std::vector<tensor> weights_;
  std::uint64_t weight_bytes_ = 0;
  std::vector<cached_sequence> own_;  ///< of a plain decode: one
  std::vector<double> popularity_;    ///< cumulative, of the experts
  std::vector<std::uint32_t> tokens_of_;
  std::uint64_t chance_ = 0x2545f4914f6cdd1d;
};

/// Nothing, or why the model cannot be divided so.
[[nodiscard]] std::string division_refusal(const model_shape& model, std::uint64_t ranks);

}  // namespace arcalloc::decode
