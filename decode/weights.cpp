// SPDX-License-Identifier: Apache-2.0
#include "decode/weights.hpp"

#include "decode/values.hpp"

namespace arcalloc::decode {

bool is_per_layer(weight_kind kind) noexcept {
  return kind != weight_kind::embedding && kind != weight_kind::final_norm && kind != weight_kind::classifier;
}

shape weight_shape(const model_config& config, weight_kind kind) noexcept {
  switch (kind) {
    case weight_kind::embedding:
      return {.rows = config.vocabulary, .columns = config.dim};
    case weight_kind::classifier:
      return {.rows = config.tied ? 0 : config.vocabulary, .columns = config.dim};
    case weight_kind::attention_norm:
    case weight_kind::feed_norm:
    case weight_kind::final_norm:
      return {.columns = config.dim};
    case weight_kind::query:
    case weight_kind::attention_output:
      return {.rows = config.dim, .columns = config.dim};
    case weight_kind::key:
    case weight_kind::value:
      return {.rows = config.kv_dim(), .columns = config.dim};
    case weight_kind::gate:
    case weight_kind::up:
      return {.rows = config.hidden, .columns = config.dim};
    case weight_kind::down:
      return {.rows = config.dim, .columns = config.hidden};
  }
  return {};
}

std::uint64_t parameters(const model_config& config) noexcept {
  std::uint64_t sum = 0;
  for (int i = 0; i < weight_kind_count; ++i) {
    const auto kind = static_cast<weight_kind>(i);
    const shape extents = weight_shape(config, kind);
    sum += extents.rows * extents.columns * (is_per_layer(kind) ? config.layers : 1);
  }
  return sum;
}

model_weights load_weights(const operations& ops, const weight_source& source) {
  const model_config& config = source.config();
  model_weights all;
  all.embedding = source.make(ops, {weight_kind::embedding});
  all.layers.resize(config.layers);
  for (std::size_t i = 0; i < config.layers; ++i) {
    layer_weights& layer = all.layers[i];
    layer.attention_norm = source.make(ops, {weight_kind::attention_norm, i});
    layer.query = source.make(ops, {weight_kind::query, i});
    layer.key = source.make(ops, {weight_kind::key, i});
    layer.value = source.make(ops, {weight_kind::value, i});
    layer.attention_output = source.make(ops, {weight_kind::attention_output, i});
    layer.feed_norm = source.make(ops, {weight_kind::feed_norm, i});
    layer.gate = source.make(ops, {weight_kind::gate, i});
    layer.up = source.make(ops, {weight_kind::up, i});
    layer.down = source.make(ops, {weight_kind::down, i});
  }
  all.final_norm = source.make(ops, {weight_kind::final_norm});
  if (!config.tied) all.classifier = source.make(ops, {weight_kind::classifier});

  const shape table{.rows = config.sequence, .columns = config.head_dim() / 2};
  all.cosines = ops.filled(table, rotary_values{rotary_part::cosine, config.head_dim()});
  all.sines = ops.filled(table, rotary_values{rotary_part::sine, config.head_dim()});
  return all;
}

}  // namespace arcalloc::decode
