// SPDX-License-Identifier: Apache-2.0
#include "decode/origin_load.hpp"

#include <gtest/gtest.h>

#include "decode/input_error.hpp"
#include "sim_card.hpp"

namespace arcalloc::decode {
namespace {

session_settings settings_of(std::size_t tokens) {
  return {.config_name = "origin-v4", .tokens = tokens, .context = 1000};
}

/// What the growing buffers of so many steps from a context of 1,000 take, rounded as exact sizes are.
std::uint64_t grown_bytes(std::size_t tokens) {
  std::uint64_t sum = 0;
  for (std::size_t position = 1001; position <= 1000 + tokens; ++position) sum += (position * 64 + 511) / 512 * 512;
  return sum * 43;
}

TEST(origin_load, a_step_is_eleven_thousand_requests) {
  sim_card card;
  const load_run run = run_on(card, options_off(), settings_of(3));
  EXPECT_EQ(run.outcome.outcome, status::ok);
  EXPECT_EQ(run.outcome.tokens_done, 3U);
  EXPECT_EQ(run.steps().requests, 33'000U);
  EXPECT_EQ(run.steps().driver_allocs, 33'000U);
}

TEST(origin_load, an_exact_cache_without_a_bound_retains_every_growing_buffer) {
  sim_card card;
  const load_run run = run_on(card, options_unbounded(), settings_of(64));
  EXPECT_EQ(run.second_half().misses, 32U * 43U);
  EXPECT_EQ(run.second_half().driver_frees, 0U);
  // What is fixed is there after the first steps; all that comes later are the buffers of the context.
  EXPECT_EQ(run.lent_at_end - run.lent_at_half, grown_bytes(64) - grown_bytes(32));
}

TEST(origin_load, two_thousand_six_hundred_tokens_retain_the_origin_s_six_mebibytes_each) {
  EXPECT_NEAR(static_cast<double>(grown_bytes(2600)) / 2600 / mebibyte, 6.04, 0.02 * 6.04);
}

TEST(origin_load, a_cap_on_exact_sizes_holds_and_misses_at_every_buffer_for_ever) {
  sim_card card;
  const load_run run = run_on(card, options_exact(64 * mebibyte), settings_of(64));
  EXPECT_EQ(run.second_half().misses, 32U * 43U);
  EXPECT_NEAR(static_cast<double>(run.second_half().driver_frees), 32.0 * 43, 43);
  EXPECT_LE(run.outcome.at_end.cached_bytes_peak, 64 * mebibyte);
  EXPECT_GE(run.outcome.at_end.cached_bytes_peak, 63 * mebibyte);
}

TEST(origin_load, size_classes_under_a_small_cap_miss_nearly_never) {
  sim_card card;
  const load_run run = run_on(card, options_bounded(64 * mebibyte), settings_of(64));
  EXPECT_LE(run.steps().misses, 64U * 2 / 5);
  EXPECT_EQ(run.second_half().misses, 0U);
  EXPECT_LE(run.outcome.at_end.cached_bytes_peak, 64 * mebibyte);
}

TEST(origin_load, the_cache_gains_what_the_driver_s_calls_cost_and_the_bound_costs_nothing) {
  double ms[3];
  int at = 0;
  for (const options& policy : {options_off(), options_unbounded(), options_bounded(64 * mebibyte)}) {
    sim_card card;
    ms[at++] = run_on(card, policy, settings_of(16)).ms_per_token();
  }
  EXPECT_NEAR(ms[0] - ms[1], 7.80, 0.15);
  EXPECT_LE(ms[2] - ms[1], 0.02);
}

TEST(origin_load, what_a_nearly_full_card_has_left_decides_who_survives) {
  for (const bool is_derived : {true, false}) {
    sim_card card;
    const options policy = is_derived ? options{} : options_bounded(gibibyte);
    const load_run run = run_on(card, policy, settings_of(100), 64 * mebibyte);
    EXPECT_EQ(run.outcome.outcome, status::ok);
    EXPECT_EQ(run.outcome.tokens_done, 100U);
  }
  for (const options& policy : {options_unbounded(), options_exact(gibibyte)}) {
    sim_card card;
    const load_run run = run_on(card, policy, settings_of(100), 64 * mebibyte);
    EXPECT_EQ(run.outcome.outcome, status::device_out_of_memory);
    EXPECT_GT(run.outcome.tokens_done, 10U);
    EXPECT_LT(run.outcome.tokens_done, 40U);
  }
}

TEST(origin_load, positions_beyond_what_it_has_are_refused) {
  sim_card card;
  const allocator_ptr memory = make_allocator(card.device);
  const load_rank only{memory.get(), &card.time, &card.device};
  session_settings settings = settings_of(10);
  settings.context = 999'991;
  EXPECT_THROW(static_cast<void>(run_load({&only, 1}, settings, {}, [](std::size_t) {})), input_error);
  settings.tokens = 0;
  EXPECT_THROW(static_cast<void>(run_load({&only, 1}, settings, {}, [](std::size_t) {})), input_error);
}

}  // namespace
}  // namespace arcalloc::decode
