// SPDX-License-Identifier: Apache-2.0
#include "decode/model_load.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "decode/values.hpp"

namespace arcalloc::decode {

namespace {

constexpr std::uint64_t element = 2;  // bf16

}  // namespace

model_load::model_load(const charged_memory& memory, const model_shape& model, const model_share& share)
    : memory_(memory), model_(model), share_(share), tokens_of_(model.experts.count) {
  double sum = 0;
  for (std::uint64_t i = 0; i < model.experts.count; ++i) {
    sum += 1 / std::sqrt(static_cast<double>(i + 1));
    popularity_.push_back(sum);
  }
}

std::uint64_t model_load::key_row_bytes() const noexcept {
  const latent_shape& row = model_.latent;
  return (row.row_rank > 0 ? row.row_rank + row.rotary_dim : kv_heads() * model_.head_dim) * element;
}

void model_load::load_weights() {
  const std::uint64_t before = memory_.source().live_bytes();
  const auto add = [&](const weight_tensor& each) {
    const std::uint64_t kept_in = element_bytes(each.is_matrix ? model_.weights : precision::half_16);
    const std::uint64_t shared_by = each.among_ranks == division::rows ? share_.ranks : 1;
    for (std::uint64_t i = 0; i < each.count; ++i) {
      if (each.among_ranks == division::experts && i % share_.ranks != share_.rank) continue;
      const std::uint64_t bytes = each.rows * each.columns * kept_in / shared_by;
      weights_.push_back(memory_.compute(bytes, {.bytes = bytes}));
    }
  };
  for (const weight_tensor& each : outer_weights_of(model_)) add(each);
  for (std::uint64_t layer = 0; layer < model_.layers; ++layer) {
    for (const weight_tensor& each : layer_weights_of(model_, layer)) add(each);
  }
  weight_bytes_ = memory_.source().live_bytes() - before;
}

cached_sequence model_load::add_sequence(std::uint64_t positions, std::uint64_t room) {
  cached_sequence fresh;
  fresh.positions = positions;
  fresh.room = room;
  const bool has_values = model_.latent.row_rank == 0;
  fresh.keys.resize(model_.layers);
  if (has_values) fresh.values.resize(model_.layers);
  const std::uint64_t bytes = (share_.kv == kv_mode::concat ? positions : room) * key_row_bytes();
  if (bytes == 0) return fresh;
  for (std::uint64_t layer = 0; layer < model_.layers; ++layer) {
    fresh.keys[layer] = memory_.compute(bytes, {.bytes = bytes});
    if (has_values) fresh.values[layer] = memory_.compute(bytes, {.bytes = bytes});
  }
  return fresh;
}

void model_load::begin(std::size_t context) {
  load_weights();
  own_.push_back(add_sequence(context, model_.positions));
}

load_step model_load::step(std::uint64_t) {
  const pass_part only{&own_.front(), 1};
  pass({&only, 1});
  return {};
}

tensor model_load::rows_of(std::uint64_t rows, std::uint64_t columns) const {
  const std::uint64_t bytes = rows * columns * element;
  return memory_.compute(bytes, {.bytes = 2 * bytes, .operations = rows * columns});
}

tensor model_load::matrix(const weight_tensor& weight, std::uint64_t rows, std::uint64_t out_columns) const {
  const std::uint64_t out = rows * out_columns * element;
  const std::uint64_t used = weight.rows * weight.columns;
  return memory_.compute(
      out,
      {.bytes = out + used * element_bytes(model_.weights), .operations = 2 * rows * used, .with = model_.weights});
}

tensor model_load::norm(std::uint64_t rows, std::uint64_t columns) const {
  const tensor mean = memory_.compute(rows * 4, {.bytes = rows * columns * element, .operations = 2 * rows * columns});
  return rows_of(rows, columns);
}

/// The sum over the ranks: a fresh tensor, as the collectives of eager engines make one.
tensor model_load::reduce(std::uint64_t rows, tensor partial) const {
  return share_.ranks > 1 ? rows_of(rows, model_.dim) : std::move(partial);
}

void model_load::extend(tensor& cache, const cached_sequence& sequence, std::uint64_t rows,
                        std::uint64_t row_bytes) const {
  if (share_.kv == kv_mode::preallocated) {
    memory_.time().enqueue({.bytes = 2 * rows * row_bytes});
    return;
  }
  const std::uint64_t bytes = (sequence.positions + rows) * row_bytes;
  cache = memory_.compute(bytes, {.bytes = 2 * bytes});
}

void model_load::grouped_projections(std::uint64_t rows, tensor& query, tensor& key, tensor& value) const {
  const std::uint64_t query_columns = heads() * model_.head_dim;
  const std::uint64_t key_columns = kv_heads() * model_.head_dim;
  query = matrix({query_columns, model_.dim}, rows, query_columns);
  key = matrix({key_columns, model_.dim}, rows, key_columns);
  value = matrix({key_columns, model_.dim}, rows, key_columns);
  if (model_.normalises_heads) {
    query = norm(rows, query_columns);
    key = norm(rows, key_columns);
  }
  const tensor cosines = rows_of(rows, model_.head_dim / 2);
  const tensor sines = rows_of(rows, model_.head_dim / 2);
  query = rows_of(rows, query_columns);
  key = rows_of(rows, key_columns);
}

void model_load::latent_projections(std::uint64_t rows, tensor& query, tensor& row) const {
  const latent_shape& latent = model_.latent;
  const std::uint64_t query_columns = heads() * (latent.plain_dim + latent.rotary_dim);
  const std::uint64_t row_columns = latent.row_rank + latent.rotary_dim;
  {
    tensor low = matrix({latent.query_rank, model_.dim}, rows, latent.query_rank);
    low = norm(rows, latent.query_rank);
    query = matrix({query_columns, latent.query_rank}, rows, query_columns);
  }
  row = matrix({row_columns, model_.dim}, rows, row_columns);
  const tensor plain = norm(rows, latent.row_rank);
  const tensor cosines = rows_of(rows, latent.rotary_dim / 2);
  const tensor sines = rows_of(rows, latent.rotary_dim / 2);
  query = rows_of(rows, query_columns);
  row = rows_of(rows, row_columns);
}

tensor model_load::attend(std::uint64_t, const pass_part& part) const {
  const latent_shape& latent = model_.latent;
  const bool is_latent = latent.row_rank > 0;
  const std::uint64_t key_dim = is_latent ? latent.plain_dim + latent.rotary_dim : model_.head_dim;
  const std::uint64_t value_dim = is_latent ? latent.value_dim : model_.head_dim;
  const std::uint64_t positions = part.sequence->positions + part.rows;
  const std::uint64_t cached = positions * key_row_bytes();
  // Of grouped heads repeated; of latent rows, multiplied out.
  const std::uint64_t made = is_latent ? 2 * positions * latent.row_rank * heads() : 0;
  const auto expanded = [&](std::uint64_t dim) {
    const std::uint64_t bytes = heads() * positions * dim * element;
    return memory_.compute(bytes, {.bytes = cached + bytes, .operations = made * dim});
  };
  tensor keys = expanded(key_dim);
  const tensor values = expanded(value_dim);
  const std::uint64_t scored = heads() * part.rows * positions;
  const auto attention_rows = [&](std::uint64_t read, std::uint64_t operations) {
    return memory_.compute(scored * element, {.bytes = scored * element + read, .operations = operations});
  };
  tensor scores = attention_rows(heads() * positions * key_dim * element, 2 * scored * key_dim);
  keys = {};
  scores = attention_rows(scored * element, scored);
  scores = attention_rows(scored * element, 4 * scored);
  const std::uint64_t out = part.rows * heads() * value_dim * element;
  return memory_.compute(out, {.bytes = out + heads() * positions * value_dim * element + scored * element,
                               .operations = 2 * scored * value_dim});
}

void model_load::attention(std::uint64_t layer, std::span<const pass_part> parts, std::uint64_t rows) {
  const bool is_latent = model_.latent.row_rank > 0;
  tensor query;
  {
    tensor key;
    tensor value;
    if (is_latent) {
      latent_projections(rows, query, key);
    } else {
      grouped_projections(rows, query, key, value);
    }
    for (const pass_part& part : parts) {
      extend(part.sequence->keys[layer], *part.sequence, part.rows, key_row_bytes());
      if (!is_latent) extend(part.sequence->values[layer], *part.sequence, part.rows, key_row_bytes());
    }
  }
  std::vector<tensor> mixed;
  mixed.reserve(parts.size());
  for (const pass_part& part : parts) mixed.push_back(attend(layer, part));
  const std::uint64_t columns = heads() * (is_latent ? model_.latent.value_dim : model_.head_dim);
  const tensor together = rows_of(rows, columns);
  const tensor out = reduce(rows, matrix({model_.dim, columns}, rows, model_.dim));
}

tensor model_load::gated(std::uint64_t rows, std::uint64_t hidden) const {
  tensor gate = matrix({hidden, model_.dim}, rows, hidden);
  const tensor up = matrix({hidden, model_.dim}, rows, hidden);
  gate = rows_of(rows, hidden);
  gate = rows_of(rows, hidden);
  return matrix({model_.dim, hidden}, rows, model_.dim);
}

void model_load::route(std::uint64_t layer, std::uint64_t rows) {
  std::fill(tokens_of_.begin(), tokens_of_.end(), 0U);
  const experts_shape& experts = model_.experts;
  const std::uint64_t shift = scramble(layer + 1);
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t row = 0; row < rows; ++row) {
    chosen.clear();
    while (chosen.size() < experts.chosen) {
      const std::uint64_t drawn = scramble(chance_ += 0x9e3779b97f4a7c15);
      const double at = static_cast<double>(drawn >> 11) * 0x1.0p-53 * popularity_.back();
      const auto found = std::lower_bound(popularity_.begin(), popularity_.end(), at);
      const auto rank = static_cast<std::uint64_t>(found - popularity_.begin());
      // Which expert is how popular differs from layer to layer.
      const std::uint64_t expert = (rank * 37 + shift) % experts.count;
      if (std::find(chosen.begin(), chosen.end(), expert) != chosen.end()) continue;
      chosen.push_back(expert);
      ++tokens_of_[expert];
    }
  }
}

void model_load::run_experts(std::uint64_t rows) const {
  tensor sum = rows_of(rows, model_.dim);
  for (std::uint64_t i = share_.rank; i < model_.experts.count; i += share_.ranks) {
    const std::uint64_t tokens = tokens_of_[i];
    if (tokens == 0) continue;
    const tensor gathered = rows_of(tokens, model_.dim);
    tensor out = gated(tokens, model_.experts.hidden);
    out = rows_of(tokens, model_.dim);
    sum = rows_of(rows, model_.dim);
  }
  if (model_.experts.shared > 0) {
    const tensor shared = gated(rows, model_.experts.shared * model_.experts.hidden / share_.ranks);
    sum = rows_of(rows, model_.dim);
  }
  const tensor out = reduce(rows, std::move(sum));
}

void model_load::feed_forward(std::uint64_t layer, std::uint64_t rows) {
  if (!model_.has_experts(layer)) {
    const tensor out = reduce(rows, gated(rows, model_.hidden / share_.ranks));
    return;
  }
  const experts_shape& experts = model_.experts;
  const tensor logits = rows_of(rows, 2 * experts.count);  // in single precision
  const tensor weights = rows_of(rows, 2 * experts.chosen);
  const tensor indexes = rows_of(rows, 2 * experts.chosen);
  route(layer, rows);
  run_experts(rows);
}

void model_load::pass(std::span<const pass_part> parts) {
  std::uint64_t rows = 0;
  for (const pass_part& part : parts) rows += part.rows;
  tensor x = rows_of(rows, model_.dim);
  for (std::uint64_t layer = 0; layer < model_.layers; ++layer) {
    {
      const tensor branch = norm(rows, model_.dim);
      attention(layer, parts, rows);
    }
    x = rows_of(rows, model_.dim);
    {
      const tensor branch = norm(rows, model_.dim);
      feed_forward(layer, rows);
    }
    x = rows_of(rows, model_.dim);
  }
  const std::uint64_t sampled = parts.size();
  x = rows_of(sampled, model_.dim);
  x = norm(sampled, model_.dim);
  const std::uint64_t columns = model_.vocabulary / share_.ranks;
  const tensor logits = matrix({columns, model_.dim}, sampled, columns);
  const tensor tokens = memory_.compute(sampled * 4, {.bytes = logits.bytes(), .operations = sampled * columns});
  for (const pass_part& part : parts) part.sequence->positions += part.rows;
}

std::string division_refusal(const model_shape& model, std::uint64_t ranks) {
  const auto refuse = [&](const char* what, std::uint64_t number) {
    return std::string(model.name).append(" has ").append(std::to_string(number)).append(" ").append(what) +
           ", which do not divide among " + std::to_string(ranks) + " ranks";
  };
  if (model.heads % ranks != 0) return refuse("heads", model.heads);
  if (model.kv_heads > ranks && model.kv_heads % ranks != 0) return refuse("key heads", model.kv_heads);
  if (model.hidden % ranks != 0) return refuse("hidden columns", model.hidden);
  if (model.vocabulary % ranks != 0) return refuse("tokens in its vocabulary", model.vocabulary);
  if (model.experts.count % ranks != 0) return refuse("experts", model.experts.count);
  return {};
}

}  // namespace arcalloc::decode
