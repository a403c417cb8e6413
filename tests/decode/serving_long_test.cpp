// SPDX-License-Identifier: Apache-2.0
// Hours of served traffic and a decode at the longest context, on simulated H200s.
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>

#include "decode/serving_load.hpp"
#include "decode/values.hpp"
#include "files.hpp"
#include "sim_card.hpp"

namespace arcalloc::decode {
namespace {

constexpr std::uint64_t hour_s = 3600;

/// Requests as they come to an assistant of programmers, where the published ones are not here: long prompts and short
/// answers, 2.5 a second, in bursts. Every number is seeded.
std::string seeded_requests() {
  std::string rows = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  std::uint64_t chance = 7;
  const auto drawn = [&](std::uint64_t below) {
    chance += 0x9e3779b97f4a7c15;
    return scramble(chance) % below;
  };
  for (std::uint64_t second = 0; second < hour_s; ++second) {
    const std::uint64_t came = drawn(8) == 0 ? 1 + drawn(39) : 0;
    for (std::uint64_t i = 0; i < came; ++i) {
      char row[64];
      std::snprintf(row, sizeof row, "2024-01-01 00:%02u:%02u,%u,%u\n", static_cast<unsigned>(second / 60),
                    static_cast<unsigned>(second % 60), static_cast<unsigned>(100 + drawn(4000)),
                    static_cast<unsigned>(1 + drawn(56)));
      rows += row;
    }
  }
  return rows;
}

/// The published trace where it is, else the seeded one; of an hour either way.
std::string requests_of(const temporary_directory& folder) {
  if (const auto published = shared_file("requests/AzureLLMInferenceTrace_code.csv")) return *published;
  const std::string seeded = seeded_requests();
  return folder.write("seeded.csv", {seeded.begin(), seeded.end()});
}

/// Serves under a cap, and says what is true of any traffic.
serving_report serve(const session_settings& settings, std::uint64_t cap_bytes) {
  sim_card card;
  const load_run run = run_on(card, options_bounded(cap_bytes), settings);
  EXPECT_EQ(run.outcome.outcome, status::ok);
  const std::uint64_t weights = run.outcome.load->weight_bytes;
  const counters& end = run.outcome.at_end;
  EXPECT_EQ(end.failed, 0U);
  EXPECT_LE(end.cached_bytes_peak, cap_bytes);
  const serving_report& report = *run.outcome.load->serving;
  // Nobody waits for ever: what came and is not done is in the batch, or has just come.
  EXPECT_GE(report.done + 64, report.requests);
  std::printf(
      "%llu of %llu requests, %.3f reserved over requested without the weights, %.2f driver allocations a step\n",
      static_cast<unsigned long long>(report.done), static_cast<unsigned long long>(report.requests),
      static_cast<double>(end.reserved_bytes_peak - weights) / static_cast<double>(end.requested_bytes_peak - weights),
      static_cast<double>(run.steps().driver_allocs) / static_cast<double>(run.steps().steps));
  for (const serving_window& each : report.windows) {
    // While nobody is served there is what is cached, and no segment is partly used but by weights.
    EXPECT_TRUE(each.reserved_bytes_between.has_value());
    EXPECT_LE(each.reserved_bytes_between.value_or(0), weights + cap_bytes + 64 * mebibyte);
  }
  return report;
}

session_settings traffic(const char* config, const std::string& path, std::uint64_t seconds) {
  session_settings settings{.config_name = config, .tokens = 100'000'000};
  settings.serving = serving_settings{.requests_path = path, .batch = 64, .stop_after_s = seconds};
  return settings;
}

TEST(serving_long, an_hour_of_traffic_with_every_operation_of_a_model) {
  const temporary_directory folder;
  const session_settings settings = traffic("llama-3.1-8b", requests_of(folder), hour_s);
  const serving_report report = serve(settings, 4 * gibibyte);
  ASSERT_EQ(report.windows.size(), 4U);
  for (const serving_window& each : report.windows) {
    EXPECT_GT(each.requests_done, 500U);
  }
}

TEST(serving_long, a_day_of_traffic_on_two_layers) {
  const temporary_directory folder;
  session_settings settings = traffic("qwen3-32b", requests_of(folder), 24 * hour_s);
  settings.layers = 2;
  settings.kv = kv_mode::preallocated;
  const serving_report report = serve(settings, gibibyte);
  ASSERT_EQ(report.windows.size(), 96U);
  // Over an hour of the same traffic the floor is where it was in the hour before, and never above the first one's.
  const auto floor_of = [&](std::size_t hour) {
    std::uint64_t floor = ARCALLOC_NO_BOUND;
    for (std::size_t i = 4 * hour; i < 4 * hour + 4; ++i)
      floor = std::min(floor, report.windows[i].reserved_bytes_least);
    return floor;
  };
  for (std::size_t hour = 2; hour < 24; ++hour) EXPECT_LE(floor_of(hour), floor_of(1) + 64 * mebibyte) << hour;
}

/// From an empty context to the longest: every length of every growing buffer.
TEST(decode_long, every_position_of_a_model_up_to_a_hundred_and_thirty_one_thousand) {
  constexpr std::size_t positions = 131'072;
  sim_card card;
  const load_run run =
      run_on(card, options_bounded(4 * gibibyte), {.config_name = "llama-3.2-1b", .tokens = positions});
  EXPECT_EQ(run.outcome.outcome, status::ok);
  EXPECT_EQ(run.outcome.tokens_done, positions);
  const counters half = run.second_half();
  EXPECT_LE(static_cast<double>(half.driver_allocs) / static_cast<double>(half.steps), 0.5);
  EXPECT_GE(hit_rate(run.steps()), 0.999);
  EXPECT_LE(run.outcome.at_end.cached_bytes_peak, 4 * gibibyte);
  EXPECT_EQ(run.outcome.at_end.failed, 0U);
}

TEST(decode_long, a_hundred_and_thirty_one_thousand_positions_on_four_cards) {
  constexpr std::size_t tokens_made = 512;
  for (const kv_mode kv : {kv_mode::concat, kv_mode::preallocated}) {
    std::deque<sim_card> cards;
    std::vector<allocator_ptr> memory;
    std::vector<load_rank> ranks;
    for (std::size_t i = 0; i < 4; ++i) {
      sim_card& card = cards.emplace_back();
      memory.push_back(make_allocator(card.device, options_bounded(4 * gibibyte)));
      ranks.push_back({memory.back().get(), &card.time, &card.device});
    }
    const session_outcome run = run_load(
        ranks,
        {.config_name = "llama-3.1-70b", .tokens = tokens_made, .context = 131'072 - tokens_made, .kv = kv, .ranks = 4},
        {}, [](std::size_t) {});
    EXPECT_EQ(run.outcome, status::ok);
    EXPECT_EQ(run.tokens_done, tokens_made);
    const counters half = counters_between(run.at_half, run.at_end);
    EXPECT_LE(static_cast<double>(half.driver_allocs) / static_cast<double>(half.steps), 0.5);
    memory.clear();
    for (sim_card& card : cards) {
      card.device.convict_leaks();
      EXPECT_EQ(card.device.convictions(), std::vector<std::string>{});
    }
  }
}

}  // namespace
}  // namespace arcalloc::decode
