// SPDX-License-Identifier: Apache-2.0
// The origin's whole run, 2,600 tokens from a context of 1,000: every leg, and cards that are nearly full.
#include <gtest/gtest.h>

#include "decode/origin_load.hpp"
#include "sim_card.hpp"

namespace arcalloc::decode {
namespace {

constexpr std::size_t tokens = 2600;

/// The cost of a driver call does not change on the way: the leg without a cache need not go all of it.
constexpr std::size_t tokens_off = 100;

session_settings whole_run() { return {.config_name = "origin-v4", .tokens = tokens, .context = 1000}; }

double per_step(std::uint64_t count, const counters& window) {
  return static_cast<double>(count) / static_cast<double>(window.steps);
}

load_run play(const options& policy, driver_calls by) {
  sim_card card("h200", by);
  session_settings settings = whole_run();
  if (!policy.enabled) settings.tokens = tokens_off;
  const load_run run = run_on(card, policy, settings);
  EXPECT_EQ(run.outcome.outcome, status::ok);
  EXPECT_EQ(run.outcome.tokens_done, settings.tokens);
  EXPECT_EQ(run.steps().requests, settings.tokens * origin_load::requests_per_step);
  return run;
}

/// What the growing buffers in flight gain over the second half, and one class step of all of them.
double growth_allowed() {
  constexpr double in_flight = 43.0 * 8;
  constexpr double live = in_flight * 64 * (tokens / 2);
  constexpr double class_step = 131'072.0 / 8;  // of a buffer between 128 and 256 KiB, as all of the second half are
  return 1.13 * live + in_flight * class_step;
}

TEST(origin_long, an_exact_cache_without_a_bound_retains_six_mebibytes_a_token) {
  const load_run run = play(options_unbounded(), driver_calls::stream_ordered);
  const double retained = static_cast<double>(run.lent_at_end - run.lent_at_start) / tokens / mebibyte;
  EXPECT_NEAR(retained, 6.04, 0.02 * 6.04);
}

TEST(origin_long, an_exact_cache_with_a_bound_holds_it_and_misses_forty_three_times_a_step) {
  const load_run run = play(options_exact(gibibyte), driver_calls::stream_ordered);
  EXPECT_LE(run.outcome.at_end.cached_bytes_peak, gibibyte);
  EXPECT_NEAR(per_step(run.second_half().misses, run.second_half()), 43, 0.01);
}

void expect_bounded(driver_calls by) {
  const load_run off = play(options_off(), by);
  const load_run unbounded = play(options_unbounded(), by);
  const load_run bounded = play(options_bounded(64 * mebibyte), by);
  EXPECT_LE(per_step(bounded.second_half().misses, bounded.second_half()), 0.4);
  EXPECT_GE(hit_rate(bounded.steps()), 0.9999);
  EXPECT_LE(bounded.outcome.at_end.cached_bytes_peak, 64 * mebibyte);
  EXPECT_LE(static_cast<double>(bounded.lent_at_end - bounded.lent_at_half), growth_allowed());
  const double cost = bounded.ms_per_token() - unbounded.ms_per_token();
  EXPECT_LE(cost, 0.02);
  EXPECT_GE((off.ms_per_token() - bounded.ms_per_token()) / (off.ms_per_token() - unbounded.ms_per_token()), 1.0);
}

TEST(origin_long, the_bound_costs_nothing_with_stream_ordered_driver_calls) {
  expect_bounded(driver_calls::stream_ordered);
}

TEST(origin_long, the_bound_costs_nothing_with_synchronous_driver_calls) { expect_bounded(driver_calls::synchronous); }

TEST(origin_long, bounded_survives_on_what_a_nearly_full_card_has_left) {
  for (const std::uint64_t free_bytes : {262 * mebibyte, 844 * mebibyte, 15'667 * mebibyte, 60 * gibibyte}) {
    for (const options& policy : {options{}, options_bounded(gibibyte)}) {
      sim_card card;
      const load_run run = run_on(card, policy, whole_run(), free_bytes);
      EXPECT_EQ(run.outcome.outcome, status::ok) << free_bytes;
      EXPECT_EQ(run.outcome.tokens_done, tokens);
      EXPECT_NEAR(run.ms_per_token(), 50.6, 0.01);
    }
  }
}

TEST(origin_long, exact_sizes_die_where_they_must_and_only_there) {
  struct expectation {
    std::uint64_t free_bytes;
    const options policy;
    bool dies;
  };
  const expectation expectations[] = {
      {262 * mebibyte, options_unbounded(), true}, {262 * mebibyte, options_exact(gibibyte), true},
      {844 * mebibyte, options_unbounded(), true}, {844 * mebibyte, options_exact(gibibyte), true},
      {15 * gibibyte, options_unbounded(), true},  {15 * gibibyte, options_exact(gibibyte), false},
      {60 * gibibyte, options_unbounded(), false},
  };
  for (const expectation& each : expectations) {
    sim_card card;
    const load_run run = run_on(card, each.policy, whole_run(), each.free_bytes);
    EXPECT_EQ(run.outcome.outcome, each.dies ? status::device_out_of_memory : status::ok) << each.free_bytes;
    EXPECT_EQ(run.outcome.tokens_done == tokens, !each.dies) << each.free_bytes;
  }
}

}  // namespace
}  // namespace arcalloc::decode
