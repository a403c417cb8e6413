// SPDX-License-Identifier: Apache-2.0
#include "decode/model_load.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "decode/input_error.hpp"
#include "sim_card.hpp"

namespace arcalloc::decode {
namespace {

struct published {
  const char* name;
  std::uint64_t parameters;
  std::uint64_t kv_bytes;
};

TEST(model_shapes, have_the_parameters_and_the_cache_that_were_published) {
  const published models[] = {
      {"llama-3.1-8b", 8'030'261'248, 131'072},     {"llama-3.1-70b", 70'553'706'496, 327'680},
      {"llama-3.1-405b", 405'853'388'800, 516'096}, {"llama-3.2-1b", 1'235'814'400, 32'768},
      {"qwen3-0.6b", 596'049'920, 114'688},         {"qwen3-32b", 32'762'123'264, 262'144},
      {"mistral-7b", 7'241'732'096, 131'072},       {"deepseek-v3", 671'026'419'200, 70'272},
  };
  EXPECT_EQ(model_shapes().size(), std::size(models));
  for (const published& each : models) {
    const model_shape* found = find_model_shape(each.name);
    ASSERT_NE(found, nullptr) << each.name;
    EXPECT_EQ(parameters(*found), each.parameters) << each.name;
    EXPECT_EQ(kv_bytes_per_position(*found), each.kv_bytes) << each.name;
  }
  EXPECT_EQ(find_model_shape("llama-3.1"), nullptr);
}

/// Cards with an allocator each, and a run over them.
struct cards {
  explicit cards(std::size_t ranks, const options& policy = options_bounded(256 * mebibyte)) {
    for (std::size_t i = 0; i < ranks; ++i) {
      sim_card& card = each.emplace_back();
      allocators.push_back(make_allocator(card.device, policy));
      given.push_back({allocators.back().get(), &card.time, &card.device});
    }
  }
  ~cards() {
    allocators.clear();
    for (sim_card& card : each) {
      card.device.convict_leaks();
      EXPECT_EQ(card.device.convictions(), std::vector<std::string>{});
    }
  }
  cards(const cards&) = delete;
  cards& operator=(const cards&) = delete;

  session_outcome run(const session_settings& settings) {
    return run_load(given, settings, {}, [](std::size_t) {});
  }

  std::deque<sim_card> each;
  std::vector<allocator_ptr> allocators;
  std::vector<load_rank> given;
};

TEST(model_load, a_card_has_the_weights_of_the_model_and_ranks_have_their_shares) {
  for (const char* name : {"llama-3.2-1b", "qwen3-0.6b", "mistral-7b"}) {
    cards one(1);
    const auto whole = one.run({.config_name = name, .tokens = 1});
    EXPECT_EQ(whole.outcome, status::ok);
    EXPECT_EQ(whole.load->weight_bytes, 2 * parameters(*find_model_shape(name))) << name;
    cards four(4);
    const auto divided = four.run({.config_name = name, .tokens = 1, .ranks = 4});
    EXPECT_EQ(divided.load->ranks, 4U);
    // Each rank has all of the norms, which are next to nothing.
    EXPECT_GE(divided.load->weight_bytes, whole.load->weight_bytes);
    EXPECT_LE(divided.load->weight_bytes, whole.load->weight_bytes + 4 * mebibyte);
  }
}

TEST(model_load, experts_are_whole_and_each_is_on_one_rank) {
  cards eight(8, options_bounded(gibibyte));
  const auto run = eight.run({.config_name = "deepseek-v3", .tokens = 2, .context = 100, .ranks = 8});
  EXPECT_EQ(run.outcome, status::ok);
  // One byte an element, and two of embedding, classifier and router; the latent projections are on every rank.
  const double bytes = static_cast<double>(run.load->weight_bytes);
  EXPECT_GT(bytes, 671.0e9);
  EXPECT_LT(bytes, 685.0e9);
  // Which ranks have the chosen experts differs, so they take differently long, and one is the slowest.
  EXPECT_LT(run.load->slowest_rank, 8U);
  EXPECT_EQ(run.at_end.steps, 16U);
}

TEST(model_load, a_concatenated_cache_takes_new_sizes_at_every_step_and_a_preallocated_one_does_not) {
  const auto run_with = [](kv_mode kv) {
    cards one(1, options_exact(256 * mebibyte));
    session_settings settings{.config_name = "llama-3.2-1b", .tokens = 8, .context = 512, .kv = kv};
    const auto outcome = one.run(settings);
    EXPECT_EQ(outcome.outcome, status::ok);
    return counters_between(outcome.at_half, outcome.at_end);
  };
  // Two caches of a layer grow by 1,024 bytes a token.
  EXPECT_GE(run_with(kv_mode::concat).misses, 4U * 2 * 16);
  // The heads that attention repeats follow the context all the same.
  EXPECT_LT(run_with(kv_mode::preallocated).misses, 4U * 2 * 16);
}

TEST(model_load, the_token_of_a_large_model_takes_as_long_as_its_weights_take_to_read) {
  cards one(1);
  const auto run = one.run({.config_name = "llama-3.1-70b", .tokens = 2});
  // All but the embedding, of which a row is read.
  const double read_s = 2.0 * (70'553'706'496 - 8192.0 * 128'256) / 4.8e12;
  EXPECT_GE(run.decode_seconds / 2, read_s);
  EXPECT_LE(run.decode_seconds / 2, 1.1 * read_s);
  cards four(4);
  const auto divided = four.run({.config_name = "llama-3.1-70b", .tokens = 2, .ranks = 4});
  EXPECT_LT(divided.decode_seconds, run.decode_seconds / 2);
}

TEST(model_load, a_step_s_driver_calls_are_told_apart_from_its_work) {
  cards one(1);
  const auto run = one.run({.config_name = "qwen3-0.6b", .tokens = 16, .context = 64});
  EXPECT_LE(run.load->driver_ns_step_p99, run.load->driver_ns_step_worst);
  EXPECT_LT(run.load->driver_ns_step_worst, run.load->step_ns_worst);
  cards off(1, options_off());
  const auto uncached = off.run({.config_name = "qwen3-0.6b", .tokens = 16, .context = 64});
  const auto window = counters_between(uncached.at_decode_start, uncached.at_end);
  EXPECT_NEAR(static_cast<double>(uncached.load->driver_ns_step_worst),
              700.0 * static_cast<double>(window.requests) / 16, 2000);
}

TEST(model_load, a_model_that_is_too_large_for_the_card_is_refused_by_the_device) {
  cards one(1, options_off());
  const auto run = one.run({.config_name = "llama-3.1-405b", .tokens = 1});
  EXPECT_EQ(run.outcome, status::device_out_of_memory);
  EXPECT_EQ(run.tokens_done, 0U);
}

TEST(model_load, a_model_that_does_not_divide_among_the_ranks_is_refused) {
  EXPECT_EQ(division_refusal(*find_model_shape("llama-3.1-70b"), 4), "");
  EXPECT_EQ(division_refusal(*find_model_shape("llama-3.1-70b"), 16), "");  // key heads are repeated then
  EXPECT_EQ(division_refusal(*find_model_shape("llama-3.1-70b"), 3),
            "llama-3.1-70b has 64 heads, which do not divide among 3 ranks");
  EXPECT_EQ(division_refusal(*find_model_shape("deepseek-v3"), 256),
            "deepseek-v3 has 128 heads, which do not divide among 256 ranks");
  cards three(3);
  EXPECT_THROW(static_cast<void>(three.run({.config_name = "llama-3.2-1b", .tokens = 1, .ranks = 3})), input_error);
}

}  // namespace
}  // namespace arcalloc::decode
