// SPDX-License-Identifier: Apache-2.0
#include "decode/model.hpp"

#include <cmath>
#include <utility>

namespace arcalloc::decode {

tensor model::forward(const tensor& token, kv_cache& cache, attention_span span) const {
  tensor x = layers(token, cache, span);
  x = norm(x, weights_.final_norm);
  return ops_.matrix_vector(config_.tied ? weights_.embedding : weights_.classifier, x);
}

tensor model::layers(const tensor& token, kv_cache& cache, attention_span span) const {
  tensor x = ops_.gather_row(weights_.embedding, token);
  for (std::size_t i = 0; i < config_.layers; ++i) {
    tensor branch = norm(x, weights_.layers[i].attention_norm);
    branch = attention(i, branch, cache, span);
    x = ops_.add(x, branch);
    branch = norm(x, weights_.layers[i].feed_norm);
    branch = feed_forward(weights_.layers[i], branch);
    x = ops_.add(x, branch);
  }
  return x;
}

tensor model::norm(const tensor& x, const tensor& weight) const {
  const tensor mean = ops_.mean_of_squares(x);
  return ops_.normalise(x, mean, weight);
}

tensor model::attention(std::size_t layer, const tensor& x, kv_cache& cache, attention_span span) const {
  const layer_weights& weights = weights_.layers[layer];
  tensor query = ops_.matrix_vector(weights.query, x);
  {
    tensor key = ops_.matrix_vector(weights.key, x);
    const tensor value = ops_.matrix_vector(weights.value, x);
    const tensor cosines = ops_.gather_row(weights_.cosines, cache.position());
    const tensor sines = ops_.gather_row(weights_.sines, cache.position());
    query = ops_.rotate_pairs(query, cosines, sines);
    key = ops_.rotate_pairs(key, cosines, sines);
    cache.append(ops_, layer, key, value);
  }
  const tensor mixed = attend(layer, std::move(query), cache, span);
  return ops_.matrix_vector(weights.attention_output, mixed);
}

tensor model::attend(std::size_t layer, tensor query, const kv_cache& cache, attention_span span) const {
  const std::size_t rows = span == attention_span::whole ? config_.sequence : cache.positions() + 1;
  const shape expanded{.planes = config_.heads, .rows = rows, .columns = config_.head_dim()};
  tensor keys = ops_.expand_heads(cache.keys(layer), expanded);
  const tensor values = ops_.expand_heads(cache.values(layer), expanded);
  tensor weights = ops_.scores(keys, query);
  keys = {};
  query = {};
  weights = ops_.scale(weights, 1.0F / std::sqrt(static_cast<float>(config_.head_dim())));
  weights = ops_.softmax_rows(weights, cache.position());
  const tensor mixed = ops_.weighted_sum(weights, values);
  return ops_.swap_outer(mixed);
}

tensor model::feed_forward(const layer_weights& weights, const tensor& x) const {
  tensor gate = ops_.matrix_vector(weights.gate, x);
  const tensor up = ops_.matrix_vector(weights.up, x);
  gate = ops_.silu(gate);
  gate = ops_.multiply(gate, up);
  return ops_.matrix_vector(weights.down, gate);
}

}  // namespace arcalloc::decode
