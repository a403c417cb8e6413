// SPDX-License-Identifier: Apache-2.0
#include "decode/model_shape.hpp"

#include <algorithm>
#include <array>

namespace arcalloc::decode {

namespace {

constexpr latent_shape deepseek_row{
    .query_rank = 1536, .row_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128};
constexpr std::uint64_t long_context = 131'072;

constexpr std::array models{
    model_shape{"llama-3.1-8b", 4096, 32, 32, 8, 128, 14'336, 128'256, long_context},
    model_shape{"llama-3.1-70b", 8192, 80, 64, 8, 128, 28'672, 128'256, long_context},
    model_shape{"llama-3.1-405b", 16'384, 126, 128, 8, 128, 53'248, 128'256, long_context},
    model_shape{"llama-3.2-1b", 2048, 16, 32, 8, 64, 8192, 128'256, long_context, true},
    model_shape{"qwen3-0.6b", 1024, 28, 16, 8, 128, 3072, 151'936, long_context, true, true},
    model_shape{"qwen3-32b", 5120, 64, 64, 8, 128, 25'600, 151'936, long_context, false, true},
    model_shape{"mistral-7b", 4096, 32, 32, 8, 128, 14'336, 32'000, long_context},
    model_shape{
        "deepseek-v3", 7168, 61, 128, 0, 192, 18'432, 129'280, long_context, false, false, precision::byte_8,
        deepseek_row,
        experts_shape{.count = 256, .hidden = 2048, .chosen = 8, .shared = 1, .dense_layers = 3, .has_bias = true}},
};

weight_tensor norm(std::uint64_t columns) { return {1, columns, division::none, 1, false}; }

void add_attention(const model_shape& model, std::vector<weight_tensor>& all) {
  const latent_shape& row = model.latent;
  if (row.row_rank == 0) {
    all.push_back({model.heads * model.head_dim, model.dim});
    all.push_back({model.kv_heads * model.head_dim, model.dim});
    all.push_back({model.kv_heads * model.head_dim, model.dim});
    all.push_back({model.dim, model.heads * model.head_dim});
    if (model.normalises_heads) all.insert(all.end(), 2, norm(model.head_dim));
    return;
  }
  all.push_back({row.query_rank, model.dim, division::none});
  all.push_back(norm(row.query_rank));
  all.push_back({model.heads * (row.plain_dim + row.rotary_dim), row.query_rank});
  all.push_back({row.row_rank + row.rotary_dim, model.dim, division::none});
  all.push_back(norm(row.row_rank));
  all.push_back({model.heads * (row.plain_dim + row.value_dim), row.row_rank});
  all.push_back({model.dim, model.heads * row.value_dim});
}

}  // namespace

std::span<const model_shape> model_shapes() noexcept { return models; }

const model_shape* find_model_shape(const std::string& name) noexcept {
  const auto* found = std::find_if(models.begin(), models.end(), [&](const auto& each) { return name == each.name; });
  return found == models.end() ? nullptr : found;
}

std::vector<weight_tensor> layer_weights_of(const model_shape& model, std::uint64_t layer) {
  std::vector<weight_tensor> all{norm(model.dim)};
  add_attention(model, all);
  all.push_back(norm(model.dim));
  if (!model.has_experts(layer)) {
    all.insert(all.end(), 2, {model.hidden, model.dim});
    all.push_back({model.dim, model.hidden});
    return all;
  }
  const experts_shape& experts = model.experts;
  all.push_back({experts.count, model.dim, division::none, 1, false});
  if (experts.has_bias) all.push_back({1, experts.count, division::none, 1, false});
  for (const auto& [count, among] : {std::pair{experts.count, division::experts}, {experts.shared, division::rows}}) {
    all.insert(all.end(), 2, {experts.hidden, model.dim, among, count});
    all.push_back({model.dim, experts.hidden, among, count});
  }
  return all;
}

std::vector<weight_tensor> outer_weights_of(const model_shape& model) {
  const weight_tensor embedding{model.vocabulary, model.dim, division::rows, 1, false};
  std::vector<weight_tensor> all{embedding, norm(model.dim)};
  if (!model.is_tied) all.push_back(embedding);
  return all;
}

std::uint64_t parameters(const model_shape& model) {
  std::uint64_t sum = 0;
  for (const weight_tensor& each : outer_weights_of(model)) sum += each.elements();
  for (std::uint64_t layer = 0; layer < model.layers; ++layer) {
    for (const weight_tensor& each : layer_weights_of(model, layer)) sum += each.elements();
  }
  return sum;
}

std::uint64_t kv_bytes_per_position(const model_shape& model) noexcept {
  const latent_shape& row = model.latent;
  const std::uint64_t elements = row.row_rank > 0 ? row.row_rank + row.rotary_dim : 2 * model.kv_heads * model.head_dim;
  return elements * model.layers * element_bytes(precision::half_16);
}

std::uint64_t element_bytes(precision of) noexcept {
  switch (of) {
    case precision::single_32:
      return 4;
    case precision::half_16:
      return 2;
    case precision::byte_8:
      return 1;
  }
  return 4;
}

}  // namespace arcalloc::decode
