// SPDX-License-Identifier: Apache-2.0
#include "cli/decode_result.hpp"

#include <gtest/gtest.h>

#include "results.hpp"

namespace arcalloc::cli {
namespace {

using test::completed_run;
using test::ended_run;
using test::leg_of;
using test::made_up_counters;
using test::made_up_result;

constexpr std::int64_t mib = std::int64_t{1} << 20;

decode_result concluded(decode_result result) {
  conclude(result);
  return result;
}

TEST(decode_result, figures_are_over_the_decode_steps_and_the_second_half) {
  decode_result result = concluded(made_up_result());
  const leg_figures& figures = leg_of(result, leg::bounded).figures();
  EXPECT_TRUE(figures.completed);
  EXPECT_EQ(figures.outcome, "completed");
  EXPECT_DOUBLE_EQ(figures.ms_per_token.value_or(0), 5.5);
  EXPECT_NEAR(figures.tokens_per_s.value_or(0), 1000 / 5.5, 1e-9);
  EXPECT_DOUBLE_EQ(figures.requests_per_step.value_or(0), 10);
  EXPECT_DOUBLE_EQ(figures.hit_rate.value_or(0), 0.9);
  EXPECT_DOUBLE_EQ(figures.driver_allocs_per_step.value_or(0), 1);
  // 100 at the end, 100 at half: none in the second half.
  EXPECT_DOUBLE_EQ(figures.driver_allocs_per_step_second_half.value_or(1), 0);
  EXPECT_DOUBLE_EQ(figures.reserved_over_allocated.value_or(0), 1.25);
  EXPECT_DOUBLE_EQ(figures.allocated_over_requested.value_or(0), 1.25);
  EXPECT_EQ(figures.memory_growth_bytes, 20 * mib);
  EXPECT_EQ(figures.memory_deciles_bytes.front(), 0);
  EXPECT_EQ(figures.memory_deciles_bytes[5], 10 * mib);
}

TEST(decode_result, memory_that_shrinks_is_negative_growth) {
  leg_run run = completed_run(5, 0);
  *run.decile_bytes.back() -= 3 * mib;
  decode::session_settings session;
  session.tokens = test::made_up_tokens;
  EXPECT_EQ(figures_of(run, session).memory_growth_bytes, -3 * mib);
}

TEST(decode_result, the_bound_costs_the_difference_and_keeps_its_share_of_the_gain) {
  const decode_result result = concluded(made_up_result());
  EXPECT_DOUBLE_EQ(result.bound_cost_ms_per_token.value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(result.gain_kept.value_or(0), (9 - 5.5) / (9 - 5.0));
  EXPECT_EQ(result.status, exit_status::done);
  EXPECT_TRUE(result.tokens_equal);
  EXPECT_TRUE(result.accounting.empty());
}

TEST(decode_result, what_needs_a_missing_or_dead_leg_or_a_gain_is_absent) {
  decode_result no_unbounded = made_up_result();
  no_unbounded.legs.erase(no_unbounded.legs.begin() + 1);
  no_unbounded = concluded(std::move(no_unbounded));
  EXPECT_FALSE(no_unbounded.bound_cost_ms_per_token);
  EXPECT_FALSE(no_unbounded.gain_kept);

  decode_result died = made_up_result();
  leg_of(died, leg::unbounded).runs = {ended_run(status::device_out_of_memory, 19)};
  died = concluded(std::move(died));
  EXPECT_FALSE(died.bound_cost_ms_per_token);
  EXPECT_FALSE(died.gain_kept);
  EXPECT_EQ(died.status, exit_status::done);

  decode_result no_gain = made_up_result();
  leg_of(no_gain, leg::off).runs = {completed_run(4, 0)};
  no_gain = concluded(std::move(no_gain));
  EXPECT_TRUE(no_gain.bound_cost_ms_per_token);
  EXPECT_FALSE(no_gain.gain_kept);
}

TEST(decode_result, a_leg_that_died_says_where_and_how_high_it_got) {
  decode_result result = made_up_result();
  leg_of(result, leg::unbounded).runs = {ended_run(status::device_out_of_memory, 19)};
  conclude(result);
  const leg_figures& figures = leg_of(result, leg::unbounded).figures();
  EXPECT_EQ(figures.outcome, "device_out_of_memory");
  EXPECT_EQ(figures.ended, "device_out_of_memory at token 20");
  EXPECT_EQ(figures.memory_growth_bytes, 77 * mib);
  EXPECT_TRUE(figures.memory_deciles_bytes[1]);
  EXPECT_FALSE(figures.memory_deciles_bytes[2]);
}

TEST(decode_result, a_process_that_died_has_no_counters_and_names_its_signal) {
  decode_result result = made_up_result();
  leg_run run = ended_run(status::backend_failed, 3);
  run.report.reset();
  run.death = "killed by signal 9 (Killed)";
  leg_of(result, leg::exact).runs = {run};
  conclude(result);
  const leg_figures& figures = leg_of(result, leg::exact).figures();
  EXPECT_EQ(figures.ended, "backend_failed at token 4, killed by signal 9 (Killed)");
  EXPECT_FALSE(figures.at_end);
  EXPECT_FALSE(figures.ms_per_token);
  EXPECT_EQ(result.status, exit_status::done);
}

TEST(decode_result, a_leg_that_never_started_says_so) {
  decode_result result = made_up_result();
  leg_run run;
  run.outcome = status::device_out_of_memory;
  run.report = leg_report{};
  run.report->outcome.outcome = status::device_out_of_memory;
  leg_of(result, leg::unbounded).runs = {run};
  conclude(result);
  const leg_figures& figures = leg_of(result, leg::unbounded).figures();
  EXPECT_EQ(figures.ended, "device_out_of_memory before token 1");
  EXPECT_FALSE(figures.memory_growth_bytes);
  EXPECT_FALSE(figures.hit_rate);
}

TEST(decode_result, a_model_that_stops_early_completed) {
  decode_result result = made_up_result();
  leg_run run = ended_run(status::ok, 40);
  for (leg_result& leg : result.legs) leg.runs = {run};
  conclude(result);
  EXPECT_EQ(result.legs.front().figures().ended, "completed early, after token 40");
  EXPECT_EQ(result.legs.front().figures().memory_growth_bytes, 77 * mib);
  EXPECT_TRUE(result.tokens_equal);
  EXPECT_EQ(result.status, exit_status::done);
}

TEST(decode_result, off_or_bounded_dying_is_out_of_memory) {
  for (const leg which : {leg::off, leg::bounded}) {
    decode_result result = made_up_result();
    leg_of(result, which).runs = {ended_run(status::device_out_of_memory, 50)};
    conclude(result);
    EXPECT_EQ(result.status, exit_status::out_of_memory) << leg_name(which);
  }
}

TEST(decode_result, one_bad_round_of_bounded_is_enough) {
  decode_result result = made_up_result();
  for (leg_result& leg : result.legs) leg.runs.push_back(leg.runs.front());
  leg_of(result, leg::bounded).runs.back() = ended_run(status::capacity_exceeded, 50);
  conclude(result);
  EXPECT_EQ(result.status, exit_status::out_of_memory);
  EXPECT_EQ(leg_of(result, leg::bounded).shown, 1U);
}

TEST(decode_result, legs_that_disagree_on_a_token_are_an_expectation_that_failed) {
  decode_result result = made_up_result();
  leg_of(result, leg::exact).runs.front().report->outcome.tokens[41] = 999;
  conclude(result);
  EXPECT_FALSE(result.tokens_equal);
  EXPECT_EQ(result.status, exit_status::expectation_failed);
  EXPECT_EQ(result.token_difference, "exact (round 1) has 999 as token 42 where the others have 6");
}

TEST(decode_result, a_leg_that_died_must_agree_as_far_as_it_came) {
  decode_result result = made_up_result();
  leg_of(result, leg::unbounded).runs = {ended_run(status::device_out_of_memory, 19)};
  EXPECT_TRUE(concluded(result).tokens_equal);
  leg_of(result, leg::unbounded).runs.front().report->outcome.tokens[18] = 999;
  EXPECT_FALSE(concluded(result).tokens_equal);
}

TEST(decode_result, a_leg_that_completes_with_fewer_tokens_disagrees) {
  decode_result result = made_up_result();
  leg_of(result, leg::bounded).runs = {ended_run(status::ok, 99)};
  conclude(result);
  EXPECT_FALSE(result.tokens_equal);
  EXPECT_EQ(result.status, exit_status::expectation_failed);
}

TEST(decode_result, rounds_give_medians_and_pairs) {
  decode_result result = made_up_result();
  result.request.rounds = 3;
  leg_of(result, leg::off).runs = {completed_run(9, 0), completed_run(8, 0), completed_run(10, 0)};
  leg_of(result, leg::unbounded).runs = {completed_run(4, 1), completed_run(5, 2), completed_run(8, 3)};
  leg_of(result, leg::exact).runs = {completed_run(6, 1), completed_run(6, 1), completed_run(6, 1)};
  leg_of(result, leg::bounded).runs = {completed_run(6, 1), completed_run(5, 2), completed_run(4, 3)};
  conclude(result);
  const leg_result& unbounded = leg_of(result, leg::unbounded);
  ASSERT_TRUE(unbounded.ms_per_token);
  EXPECT_DOUBLE_EQ(unbounded.ms_per_token->median, 5);
  EXPECT_DOUBLE_EQ(unbounded.ms_per_token->least, 4);
  EXPECT_DOUBLE_EQ(unbounded.ms_per_token->most, 8);
  EXPECT_EQ(unbounded.shown, 1U);
  EXPECT_EQ(result.bounded_over_unbounded, (std::vector<double>{1.5, 1, 0.5}));
  EXPECT_DOUBLE_EQ(result.bound_cost_ms_per_token.value_or(1), 0);
}

TEST(decode_result, every_identity_is_checked) {
  EXPECT_EQ(violated_identity(made_up_counters(100, 1)), "");
  const auto broken = [](std::uint64_t counters::*field) {
    counters c = made_up_counters(100, 1);
    c.*field += 1;
    return violated_identity(c);
  };
  for (const auto field : {&counters::allocated_bytes, &counters::pending_bytes, &counters::pinned_bytes,
                           &counters::stuck_bytes, &counters::reserved_bytes}) {
    EXPECT_EQ(broken(field), "I1: reserved = allocated + pending + cached + slack + pinned + stuck");
  }
  EXPECT_EQ(broken(&counters::requests), "I3: requests = hits + misses + bypassed + failed");
  EXPECT_EQ(broken(&counters::misses), "I3: requests = hits + misses + bypassed + failed");
  EXPECT_EQ(broken(&counters::driver_frees), "I3: driver_allocs - driver_frees = segments_reserved");
  EXPECT_EQ(broken(&counters::wait_hits),
            "hits = stream_cache_hits + pool_hits + reclaim_hits + cross_stream_hits + wait_hits");
  EXPECT_EQ(broken(&counters::bypassed_phase), "bypassed = disabled + phase");
  EXPECT_EQ(broken(&counters::failed_capture_miss), "failed = the sum over its statuses");
  EXPECT_EQ(broken(&counters::held_bytes), "held = cached + slack");
  counters above = made_up_counters(100, 1);
  above.cached_bytes_max = above.cached_bytes - 1;
  EXPECT_EQ(violated_identity(above), "I2: cached <= cached max");
  above = made_up_counters(100, 1);
  above.capacity_bytes = above.reserved_bytes_peak - 1;
  EXPECT_EQ(violated_identity(above), "I2: peak of reserved <= capacity");
}

TEST(decode_result, a_violated_identity_is_an_expectation_that_failed) {
  decode_result result = made_up_result();
  leg_of(result, leg::exact).runs.front().report->outcome.at_end.reserved_bytes += 1;
  conclude(result);
  EXPECT_EQ(result.status, exit_status::expectation_failed);
  EXPECT_EQ(result.accounting.rfind("exact (round 1): I1: ", 0), 0U) << result.accounting;
}

TEST(decode_result, a_replayed_step_that_asked_for_memory_violates_the_accounting) {
  decode_result result = made_up_result();
  auto& capture = leg_of(result, leg::bounded).runs.front().report->outcome.capture.emplace();
  conclude(result);
  EXPECT_EQ(result.accounting, "");
  capture.requests_in_replays = 1;
  conclude(result);
  EXPECT_EQ(result.accounting, "bounded (round 1): a replayed step makes no request and no driver call");
  EXPECT_EQ(result.status, exit_status::expectation_failed);
  result.accounting.clear();
  capture.requests_in_replays = 0;
  capture.driver_calls_in_replays = 1;
  conclude(result);
  EXPECT_EQ(result.accounting, "bounded (round 1): a replayed step makes no request and no driver call");
}

}  // namespace
}  // namespace arcalloc::cli
