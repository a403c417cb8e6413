// SPDX-License-Identifier: Apache-2.0
#include "decode/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "decode/host_executor.hpp"
#include "decode/llama2c.hpp"
#include "devices.hpp"
#include "files.hpp"

namespace arcalloc::decode {
namespace {

using numbers = std::vector<double>;

/// The same model as plain loops in double precision over the bytes of its file: no tensor, no
/// executor, no expanded head, and its own idea of where each weight lies.
class plain_decoder {
 public:
  plain_decoder(const model_config& config, const std::vector<char>& bytes)
      : config_(config), weights_((bytes.size() - 28) / sizeof(float)), keys_(config.layers), values_(config.layers) {
    std::memcpy(weights_.data(), bytes.data() + 28, weights_.size() * sizeof(float));
  }

  numbers logits_after(std::int32_t token) {
    const std::size_t dim = config_.dim;
    const std::size_t kv = config_.kv_dim();
    const std::size_t layers = config_.layers;
    const float* at = weights_.data();
    const auto take = [&at](std::size_t count) { return std::exchange(at, at + count); };
    const float* embedding = take(config_.vocabulary * dim);
    const float* attention_norm = take(layers * dim);
    const float* query = take(layers * dim * dim);
    const float* key = take(layers * kv * dim);
    const float* value = take(layers * kv * dim);
    const float* output = take(layers * dim * dim);
    const float* feed_norm = take(layers * dim);
    const float* gate = take(layers * config_.hidden * dim);
    const float* down = take(layers * config_.hidden * dim);
    const float* up = take(layers * config_.hidden * dim);
    const float* final_norm = take(dim);
    take(config_.sequence * config_.head_dim());
    const float* classifier = config_.tied ? embedding : at;

    const float* row = embedding + static_cast<std::size_t>(token) * dim;
    numbers x(row, row + dim);
    for (std::size_t l = 0; l < layers; ++l) {
      numbers normed = norm(x, attention_norm + l * dim);
      const numbers q = turned(product(query + l * dim * dim, dim, normed));
      keys_[l].push_back(turned(product(key + l * kv * dim, kv, normed)));
      values_[l].push_back(product(value + l * kv * dim, kv, normed));
      x = sum(x, product(output + l * dim * dim, dim, attended(q, l)));
      normed = norm(x, feed_norm + l * dim);
      numbers inner = product(gate + l * config_.hidden * dim, config_.hidden, normed);
      const numbers factor = product(up + l * config_.hidden * dim, config_.hidden, normed);
      for (std::size_t i = 0; i < inner.size(); ++i) inner[i] = inner[i] / (1 + std::exp(-inner[i])) * factor[i];
      x = sum(x, product(down + l * dim * config_.hidden, dim, inner));
    }
    ++position_;
    return product(classifier, config_.vocabulary, norm(x, final_norm));
  }

 private:
  static numbers sum(numbers left, const numbers& right) {
    for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
    return left;
  }

  static numbers product(const float* matrix, std::size_t rows, const numbers& x) {
    numbers out(rows, 0.0);
    for (std::size_t i = 0; i < rows * x.size(); ++i) out[i / x.size()] += double{matrix[i]} * x[i % x.size()];
    return out;
  }

  static numbers norm(numbers x, const float* weight) {
    double mean = 0;
    for (const double each : x) mean += each * each / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= double{weight[i]} / std::sqrt(mean + 1e-5);
    return x;
  }

  [[nodiscard]] numbers turned(numbers x) const {
    const std::size_t head_dim = config_.head_dim();
    for (std::size_t i = 0; i < x.size(); i += 2) {
      const double power = static_cast<double>(i % head_dim) / static_cast<double>(head_dim);
      const double angle = position_ / std::pow(10000.0, power);
      const double even = x[i];
      x[i] = even * std::cos(angle) - x[i + 1] * std::sin(angle);
      x[i + 1] = even * std::sin(angle) + x[i + 1] * std::cos(angle);
    }
    return x;
  }

  [[nodiscard]] numbers attended(const numbers& q, std::size_t layer) const {
    const std::size_t head_dim = config_.head_dim();
    const std::size_t group = config_.heads / config_.kv_heads;
    numbers out(q.size(), 0.0);
    for (std::size_t head = 0; head < config_.heads; ++head) {
      const std::size_t from = head / group * head_dim;
      numbers weights;
      double total = 0;
      for (const numbers& k : keys_[layer]) {
        double dot = 0;
        for (std::size_t i = 0; i < head_dim; ++i) dot += q[head * head_dim + i] * k[from + i];
        weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(head_dim))));
        total += weights.back();
      }
      for (std::size_t t = 0; t < weights.size(); ++t) {
        for (std::size_t i = 0; i < head_dim; ++i) {
          out[head * head_dim + i] += weights[t] / total * values_[layer][t][from + i];
        }
      }
    }
    return out;
  }

  model_config config_;
  std::vector<float> weights_;
  std::vector<std::vector<numbers>> keys_, values_;
  double position_ = 0;
};

struct decoder_case {
  bool tied;
  std::size_t kv_heads;
  kv_mode kv;
};

class decoder : public testing::TestWithParam<decoder_case> {};

TEST_P(decoder, agrees_with_plain_loops_at_every_position) {
  model_config config = small_config();
  config.tied = GetParam().tied;
  config.kv_heads = GetParam().kv_heads;
  const std::vector<char> bytes = model_bytes(config);
  const temporary_directory directory;
  const llama2c_model source(directory.write("model.bin", bytes));
  host_backend device(16 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  tensor_source tensors{*memory, default_stream};
  host_executor compute;
  const operations ops{tensors, compute};
  const model llama{ops, source};
  kv_cache cache{ops, config, GetParam().kv};
  plain_decoder plain{config, bytes};
  tensor place = ops.index(1);
  for (std::size_t position = 0; position < config.sequence; ++position) {
    ASSERT_EQ(cache.positions(), position);
    const std::int32_t token = ops.read_index(place);
    const numbers expected = plain.logits_after(token);
    if (position % 3 == 1) {
      llama.absorb(place, cache);
      cache.advance(ops);
      ops.write_index(place, (token * 7 + 3) % 300);
      continue;
    }
    const tensor logits = llama.forward(place, cache);
    cache.advance(ops);
    ASSERT_EQ(logits.elements(), config.vocabulary);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(logits.data()[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << position << ", logit " << i;
    }
    ops.index_of_greatest(logits, place);
  }
}

INSTANTIATE_TEST_SUITE_P(small, decoder,
                         testing::Values(decoder_case{.tied = true, .kv_heads = 2, .kv = kv_mode::concat},
                                         decoder_case{.tied = false, .kv_heads = 2, .kv = kv_mode::preallocated},
                                         decoder_case{.tied = false, .kv_heads = 1, .kv = kv_mode::concat},
                                         decoder_case{.tied = true, .kv_heads = 4, .kv = kv_mode::preallocated}),
                         [](const auto& each) {
                           return std::string(each.param.tied ? "tied" : "untied") + "_kv_heads_" +
                                  std::to_string(each.param.kv_heads) +
                                  (each.param.kv == kv_mode::concat ? "_concat" : "_preallocated");
                         });

TEST(whole_span, makes_the_same_bits_as_the_filled_one_at_every_position) {
  // Head dimensions that a packet of floats divides, and one that it does not.
  for (const std::size_t head_dim : {4U, 6U, 8U, 64U}) {
    model_config config = small_config();
    config.dim = config.heads * head_dim;
    config.sequence = 200;
    const temporary_directory directory;
    const llama2c_model source(directory.write("model.bin", model_bytes(config)));
    host_backend device(64 * mebibyte);
    const allocator_ptr memory = make_allocator(device);
    tensor_source tensors{*memory, default_stream};
    host_executor compute;
    const operations ops{tensors, compute};
    const model llama{ops, source};
    kv_cache growing{ops, config, kv_mode::concat};
    kv_cache filled{ops, config, kv_mode::preallocated};
    kv_cache whole{ops, config, kv_mode::preallocated};
    tensor token = ops.index(1);
    for (std::size_t position = 0; position < config.sequence; ++position) {
      const tensor expected = llama.forward(token, growing);
      const tensor of_filled = llama.forward(token, filled);
      const tensor of_whole = llama.forward(token, whole, attention_span::whole);
      ASSERT_EQ(std::memcmp(of_filled.data(), expected.data(), expected.bytes()), 0) << head_dim << ", " << position;
      ASSERT_EQ(std::memcmp(of_whole.data(), expected.data(), expected.bytes()), 0) << head_dim << ", " << position;
      for (kv_cache* each : {&growing, &filled, &whole}) each->advance(ops);
      ops.index_of_greatest(expected, token);
    }
  }
}

}  // namespace
}  // namespace arcalloc::decode
