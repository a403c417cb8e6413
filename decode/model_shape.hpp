// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decode/device_model.hpp"

namespace arcalloc::decode {

/// Keys and values compressed into one row a position (multi-head latent attention); rank 0: the heads have their own.
struct latent_shape {
  std::uint64_t query_rank = 0;
  std::uint64_t row_rank = 0;
  std::uint64_t plain_dim = 0;   ///< of a head, without a position
  std::uint64_t rotary_dim = 0;  ///< of a head, and of the row
  std::uint64_t value_dim = 0;   ///< of a head
};

/// A feed-forward part that is one of many for each token; count 0: there is one for all.
struct experts_shape {
  std::uint64_t count = 0;
  std::uint64_t hidden = 0;
  std::uint64_t chosen = 0;        ///< for a token
  std::uint64_t shared = 0;        ///< for every token besides
  std::uint64_t dense_layers = 0;  ///< the first ones, without experts
  bool has_bias = false;           ///< of the router
};

/// The numbers of a published model.
struct model_shape {
  const char* name;
  std::uint64_t dim;
  std::uint64_t layers;
  std::uint64_t heads;
  std::uint64_t kv_heads;  ///< 0 with a latent row
  std::uint64_t head_dim;
  std::uint64_t hidden;
  std::uint64_t vocabulary;
  std::uint64_t positions;  ///< at most
  bool is_tied = false;     ///< the classifier is the embedding
  bool normalises_heads = false;
  precision weights = precision::half_16;
  latent_shape latent{};
  experts_shape experts{};

  [[nodiscard]] bool has_experts(std::uint64_t layer) const noexcept {
    return experts.count > 0 && layer >= experts.dense_layers;
  }
};

/// How a weight is divided among tensor-parallel ranks.
enum class division {
  none,     ///< each rank has all of it
  rows,     ///< and columns alike: a rank has its share of the elements
  experts,  ///< a rank has some of the experts, whole
};

/// One tensor of weights, or `count` of one shape.
struct weight_tensor {
  std::uint64_t rows;
  std::uint64_t columns;
  division among_ranks = division::rows;
  std::uint64_t count = 1;
  bool is_matrix = true;  ///< matrices are kept in the model's precision, the others in bf16

  [[nodiscard]] std::uint64_t elements() const noexcept { return rows * columns * count; }
};

[[nodiscard]] std::span<const model_shape> model_shapes() noexcept;
/// Null where none has the name.
[[nodiscard]] const model_shape* find_model_shape(const std::string& name) noexcept;

[[nodiscard]] std::vector<weight_tensor> layer_weights_of(const model_shape& model, std::uint64_t layer);
/// Embedding, last norm, classifier.
[[nodiscard]] std::vector<weight_tensor> outer_weights_of(const model_shape& model);

[[nodiscard]] std::uint64_t parameters(const model_shape& model);

/// Bytes of keys and values that one position takes over all layers, on all ranks together, in bf16.
[[nodiscard]] std::uint64_t kv_bytes_per_position(const model_shape& model) noexcept;

[[nodiscard]] std::uint64_t element_bytes(precision of) noexcept;

}  // namespace arcalloc::decode
