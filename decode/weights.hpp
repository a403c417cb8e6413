// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/ops.hpp"
#include "decode/tensor.hpp"

namespace arcalloc::decode {

/// The numbers that fix a Llama-family model.
struct model_config {
  std::size_t dim = 0;
  std::size_t hidden = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t kv_heads = 0;
  std::size_t vocabulary = 0;
  std::size_t sequence = 0;
  bool tied = true;  ///< the classifier is the embedding

  [[nodiscard]] std::size_t head_dim() const noexcept { return dim / heads; }
  [[nodiscard]] std::size_t kv_dim() const noexcept { return head_dim() * kv_heads; }
  friend bool operator==(const model_config&, const model_config&) = default;
};

enum class weight_kind {
  embedding,
  attention_norm,
  query,
  key,
  value,
  attention_output,
  feed_norm,
  gate,
  down,
  up,
  final_norm,
  classifier,
};

inline constexpr int weight_kind_count = 12;

/// Which tensor: `layer` is 0 for the three that the model has once.
struct weight_name {
  weight_kind kind;
  std::size_t layer = 0;
};

[[nodiscard]] bool is_per_layer(weight_kind kind) noexcept;

/// The shape of one weight tensor: rows are outputs, columns inputs. Empty for a tied classifier.
[[nodiscard]] shape weight_shape(const model_config& config, weight_kind kind) noexcept;

/// How many numbers the model learned: all weight tensors together.
[[nodiscard]] std::uint64_t parameters(const model_config& config) noexcept;

/// Where a model's weights come from: a file, or a seed.
class weight_source {
 public:
  virtual ~weight_source() = default;
  [[nodiscard]] virtual const model_config& config() const noexcept = 0;
  [[nodiscard]] virtual tensor make(const operations& ops, weight_name name) const = 0;
};

struct layer_weights {
  tensor attention_norm, query, key, value, attention_output, feed_norm, gate, up, down;
};

/// All weights and the rotary tables, each a tensor of its own.
struct model_weights {
  tensor embedding;
  std::vector<layer_weights> layers;
  tensor final_norm;
  tensor classifier;  ///< no tensor when tied
  tensor cosines, sines;
};

/// Throws memory_refused, and what the source throws; what was made until then is freed.
[[nodiscard]] model_weights load_weights(const operations& ops, const weight_source& source);

}  // namespace arcalloc::decode
