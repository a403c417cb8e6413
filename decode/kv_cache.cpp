// SPDX-License-Identifier: Apache-2.0
#include "decode/kv_cache.hpp"

#include "decode/values.hpp"

namespace arcalloc::decode {

kv_cache::kv_cache(const operations& ops, const model_config& config, kv_mode mode)
    : mode_(mode), kv_dim_(config.kv_dim()), position_(ops.index(0)), layers_(config.layers) {
  if (mode_ != kv_mode::preallocated) return;
  // Zeroed, so that a row which was never written can only ever be a zero.
  const shape whole{.rows = config.sequence, .columns = kv_dim_};
  for (layer_cache& layer : layers_) {
    layer.keys = ops.filled(whole, constant_values{0});
    layer.values = ops.filled(whole, constant_values{0});
  }
}

void kv_cache::fill(const operations& ops, std::size_t positions) {
  if (positions == 0) return;
  const shape extents{.rows = positions, .columns = kv_dim_};
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const seeded_values key_values{scramble(2 * i + 1), 1.0F};
    const seeded_values value_values{scramble(2 * i + 2), 1.0F};
    if (mode_ == kv_mode::concat) {
      layers_[i].keys = ops.filled(extents, key_values);
      layers_[i].values = ops.filled(extents, value_values);
    } else {
      ops.fill_rows(layers_[i].keys, positions, key_values);
      ops.fill_rows(layers_[i].values, positions, value_values);
    }
  }
  place(ops, positions);
}

void kv_cache::place(const operations& ops, std::size_t positions) {
  positions_ = positions;
  ops.write_index(position_, static_cast<std::int32_t>(positions));
}

void kv_cache::append(const operations& ops, std::size_t layer, const tensor& key, const tensor& value) {
  layer_cache& cache = layers_[layer];
  if (mode_ == kv_mode::concat) {
    cache.keys = ops.concatenate(cache.keys, key);
    cache.values = ops.concatenate(cache.values, value);
  } else {
    ops.write_row(cache.keys, position_, key);
    ops.write_row(cache.values, position_, value);
  }
}

}  // namespace arcalloc::decode
