// SPDX-License-Identifier: Apache-2.0
#include "decode/configs.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "decode/host_executor.hpp"
#include "decode/session.hpp"
#include "devices.hpp"
#include "files.hpp"

namespace arcalloc::decode {
namespace {

TEST(configs, every_name_is_found_and_has_tokens_that_fit_its_sequence) {
  ASSERT_FALSE(config_names().empty());
  EXPECT_EQ(config_names().front(), "demo-42m");
  EXPECT_EQ(config_names().size(), named_configs().size());
  for (const std::string& name : config_names()) {
    const named_config& found = find_config(name);
    EXPECT_EQ(found.name, name);
    EXPECT_GE(default_tokens(name), 1U);
    EXPECT_LE(default_tokens(name), found.config.sequence);
  }
}

TEST(configs, every_shape_is_sound_and_has_grouped_query_heads) {
  for (const named_config& each : named_configs()) {
    const model_config& config = each.config;
    EXPECT_EQ(config.dim % config.heads, 0U) << each.name;
    EXPECT_EQ(config.head_dim() % 2, 0U) << each.name;
    EXPECT_EQ(config.heads % config.kv_heads, 0U) << each.name;
    EXPECT_LT(config.kv_heads, config.heads) << each.name;
    // A position's keys are a multiple of the finest class step, so each token is a new exact size.
    EXPECT_EQ(config.kv_dim() * sizeof(float) % 512, 0U) << each.name;
  }
}

TEST(configs, an_unknown_name_is_refused_with_the_known_ones) {
  const std::string expected = "no configuration is named 'demo'; there are demo-42m, demo-3m";
  EXPECT_EQ(refusal_of([] { static_cast<void>(find_config("demo")); }), expected);
  EXPECT_EQ(refusal_of([] { static_cast<void>(default_tokens("demo")); }), expected);
}

TEST(weights, the_list_of_tensors_adds_up_to_published_numbers_of_parameters) {
  const model_config llama_3_1_8b{.dim = 4096,
                                  .hidden = 14336,
                                  .layers = 32,
                                  .heads = 32,
                                  .kv_heads = 8,
                                  .vocabulary = 128256,
                                  .sequence = 131072,
                                  .tied = false};
  EXPECT_EQ(parameters(llama_3_1_8b), 8030261248U);
  const model_config llama_3_2_1b{.dim = 2048,
                                  .hidden = 8192,
                                  .layers = 16,
                                  .heads = 32,
                                  .kv_heads = 8,
                                  .vocabulary = 128256,
                                  .sequence = 131072,
                                  .tied = true};
  EXPECT_EQ(parameters(llama_3_2_1b), 1235814400U);
  EXPECT_EQ(parameters(find_config("demo-42m").config), 41951744U);
}

class seeded_weights : public testing::Test {
 protected:
  host_backend device_{256 * mebibyte};
  allocator_ptr memory_ = make_allocator(device_);
  tensor_source tensors_{*memory_, default_stream};
  host_executor compute_;
  operations ops_{tensors_, compute_};
};

/// FNV-1a over the bits of every element.
std::uint64_t digest(const tensor& x, std::uint64_t hash) {
  for (std::size_t i = 0; i < x.elements(); ++i) {
    hash = (hash ^ std::bit_cast<std::uint32_t>(x.data()[i])) * 0x100000001b3;
  }
  return hash;
}

TEST_F(seeded_weights, are_the_same_on_every_machine) {
  const seeded_model source{find_config("demo-3m").config};
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < weight_kind_count; ++i) {
    const auto kind = static_cast<weight_kind>(i);
    for (std::size_t layer = 0; layer < (is_per_layer(kind) ? source.config().layers : 1); ++layer) {
      hash = digest(source.make(ops_, {kind, layer}), hash);
    }
  }
  EXPECT_EQ(hash, 0x5b1803c23e770de7U);
}

TEST_F(seeded_weights, differ_between_tensors_and_layers) {
  const seeded_model source{find_config("demo-3m").config};
  std::set<float> firsts;
  for (const weight_kind kind : {weight_kind::query, weight_kind::attention_output, weight_kind::gate}) {
    for (std::size_t layer = 0; layer < 4; ++layer) firsts.insert(source.make(ops_, {kind, layer}).data()[0]);
  }
  EXPECT_EQ(firsts.size(), 12U);
}

TEST_F(seeded_weights, keep_activations_at_their_size) {
  const seeded_model source{find_config("demo-3m").config};
  const tensor embedding = source.make(ops_, {weight_kind::embedding});
  const tensor weight = source.make(ops_, {weight_kind::query, 2});
  const tensor x = ops_.gather_row(embedding, ops_.index(11));
  EXPECT_NEAR(ops_.mean_of_squares(x).data()[0], 1.0, 0.3);
  EXPECT_NEAR(ops_.mean_of_squares(ops_.matrix_vector(weight, x)).data()[0], 1.0, 0.4);
}

}  // namespace
}  // namespace arcalloc::decode
