// SPDX-License-Identifier: Apache-2.0
// Served requests: who joins and leaves when, what is counted, and what a window of time says.
#include <gtest/gtest.h>

#include "decode/input_error.hpp"
#include "decode/serving_load.hpp"
#include "decode/serving_watch.hpp"
#include "files.hpp"
#include "sim_card.hpp"

namespace arcalloc::decode {
namespace {

/// A file of requests, and how it is served: by a model of two layers.
struct served {
  explicit served(const std::string& rows) {
    const std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows;
    settings.config_name = "qwen3-0.6b";
    settings.tokens = 1'000'000;
    settings.layers = 2;
    settings.serving.emplace();
    settings.serving->requests_path = folder.write("r.csv", {text.begin(), text.end()});
    settings.serving->batch = 4;
    settings.serving->window_s = 10;
  }

  load_run run(const options& policy = options_bounded(256 * mebibyte)) {
    sim_card card;
    return run_on(card, policy, settings);
  }
  serving_report report(const options& policy = options_bounded(256 * mebibyte)) {
    const load_run found = run(policy);
    EXPECT_EQ(found.outcome.outcome, status::ok);
    return *found.outcome.load->serving;
  }

  temporary_directory folder;
  session_settings settings;
};

/// Eight at once, for a batch of four; later two alone.
const std::string rows =
    "2023-11-16 18:00:00,600,5\n2023-11-16 18:00:00,100,40\n2023-11-16 18:00:00,1,1\n2023-11-16 18:00:00,2000,20\n"
    "2023-11-16 18:00:00,50,50\n2023-11-16 18:00:00,50,9\n2023-11-16 18:00:00,700,3\n2023-11-16 18:00:00,12,30\n"
    "2023-11-16 18:00:15,300,25\n2023-11-16 18:00:35,40,10\n";
constexpr std::uint64_t answers = 5 + 40 + 1 + 20 + 50 + 9 + 3 + 30 + 25 + 10;
constexpr std::uint64_t prompts = 600 + 100 + 1 + 2000 + 50 + 50 + 700 + 12 + 300 + 40;

TEST(serving, every_request_is_absorbed_and_answered_whatever_the_batch_and_the_chunk) {
  for (const kv_mode kv : {kv_mode::concat, kv_mode::preallocated}) {
    for (const std::uint64_t batch : {1U, 3U, 64U}) {
      for (const std::uint64_t chunk : {1U, 64U, 4096U}) {
        served some(rows);
        some.settings.kv = kv;
        some.settings.serving->batch = batch;
        some.settings.serving->chunk_rows = chunk;
        const load_run run = some.run();
        EXPECT_EQ(run.outcome.outcome, status::ok);
        EXPECT_EQ(run.outcome.tokens_done, answers);
        const serving_report& report = *run.outcome.load->serving;
        EXPECT_EQ(report.done, 10U);
        EXPECT_EQ(report.requests, 10U);
        EXPECT_EQ(report.skipped, 0U);
        std::uint64_t absorbed = 0;
        for (const serving_window& each : report.windows) {
          EXPECT_LE(each.sequences_most, batch);
          absorbed += each.prompt_tokens;
        }
        EXPECT_EQ(absorbed, prompts);
      }
    }
  }
}

TEST(serving, sequences_share_steps_and_wait_for_a_place_in_the_batch) {
  served some(rows);
  const serving_report four = some.report();
  EXPECT_EQ(four.windows.front().sequences_most, 4U);
  EXPECT_EQ(four.windows.front().waiting_most, 4U);
  some.settings.serving->batch = 1;
  const serving_report one = some.report();
  EXPECT_EQ(one.windows.front().sequences_most, 1U);
  EXPECT_EQ(one.windows.front().waiting_most, 7U);
  EXPECT_GT(one.windows.front().steps, four.windows.front().steps);
}

TEST(serving, a_step_takes_one_token_of_each_sequence_and_a_prompt_in_chunks) {
  served one("2023-11-16 18:00:00,1000,11\n");
  one.settings.serving->chunk_rows = 256;
  // Four chunks, the last of which makes the first token.
  EXPECT_EQ(one.report().windows.front().steps, 4U + 10);
  served two("2023-11-16 18:00:00,256,11\n2023-11-16 18:00:00,256,11\n");
  two.settings.serving->chunk_rows = 256;
  // The second is absorbed while the first makes its second token.
  EXPECT_EQ(two.report().windows.front().steps, 2U + 10);
}

TEST(serving, windows_follow_each_other_and_add_up) {
  served some(rows);
  const load_run run = some.run();
  const serving_report& report = *run.outcome.load->serving;
  ASSERT_EQ(report.windows.size(), 4U);
  EXPECT_EQ(report.windows[0].end_s, 10);
  EXPECT_EQ(report.windows[1].end_s, 20);
  EXPECT_EQ(report.windows[2].end_s, 30);
  EXPECT_EQ(report.windows[3].end_s, report.seconds);
  EXPECT_GT(report.seconds, 35);
  EXPECT_GT(report.waited_s, 30);
  EXPECT_EQ(report.windows[0].requests_done, 8U);
  EXPECT_EQ(report.windows[1].requests_done, 1U);
  EXPECT_EQ(report.windows[2].steps, 0U);
  EXPECT_EQ(report.windows[2].step_ns_p99, 0U);
  EXPECT_EQ(report.windows[3].requests_done, 1U);
  std::uint64_t steps = 0;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  for (const serving_window& each : report.windows) {
    steps += each.steps;
    allocs += each.driver_allocs;
    frees += each.driver_frees;
    EXPECT_LE(each.held_bytes_least, each.held_bytes_most);
    EXPECT_LE(each.reserved_bytes_least, each.reserved_bytes_most);
    EXPECT_LE(each.requested_bytes_most, each.allocated_bytes_most);
    EXPECT_LE(each.allocated_bytes_most, each.reserved_bytes_most);
    EXPECT_LE(each.step_ns_p99, each.step_ns_worst);
    EXPECT_LE(each.pause_ns_p99, each.pause_ns_worst);
    EXPECT_LE(each.pause_ns_worst, each.step_ns_worst);
    EXPECT_LE(each.steps_with_driver_calls, each.steps);
    ASSERT_TRUE(each.reserved_bytes_between.has_value());
    EXPECT_GE(*each.reserved_bytes_between, run.outcome.load->weight_bytes);
  }
  EXPECT_EQ(steps, run.steps().steps);
  EXPECT_EQ(allocs, run.steps().driver_allocs);
  EXPECT_EQ(frees, run.steps().driver_frees);
}

/// What is reserved while nobody is served, at its least in each round of the file.
std::vector<std::uint64_t> floors(const options& policy, std::uint64_t& weight_bytes) {
  served some(rows);
  some.settings.serving->window_s = 40;
  some.settings.serving->stop_after_s = 400;
  const load_run run = some.run(policy);
  EXPECT_EQ(run.outcome.outcome, status::ok);
  EXPECT_GT(run.outcome.load->serving->requests, 90U);
  weight_bytes = run.outcome.load->weight_bytes;
  std::vector<std::uint64_t> found;
  for (const serving_window& each : run.outcome.load->serving->windows) {
    found.push_back(each.reserved_bytes_between.value_or(ARCALLOC_NO_BOUND));
  }
  return found;
}

TEST(serving, between_requests_there_is_what_the_bound_allows_and_without_one_all_there_ever_was) {
  std::uint64_t weight_bytes = 0;
  const auto bounded = floors(options_bounded(64 * mebibyte), weight_bytes);
  ASSERT_EQ(bounded.size(), 10U);
  for (const std::uint64_t each : bounded) EXPECT_LE(each, weight_bytes + 66 * mebibyte);
  const auto unbounded = floors(options_unbounded(), weight_bytes);
  ASSERT_EQ(unbounded.size(), 10U);
  EXPECT_GT(unbounded.back(), weight_bytes + 200 * mebibyte);
}

TEST(serving, time_ends_it_where_that_was_asked_also_while_nothing_is_to_do) {
  served some("2023-11-16 18:00:00,10,10\n2023-11-16 20:00:00,10,10\n");
  some.settings.serving->stop_after_s = 60;
  const load_run run = some.run();
  EXPECT_EQ(run.outcome.tokens_done, 10U);
  EXPECT_EQ(run.outcome.load->serving->seconds, 60);
  EXPECT_EQ(run.outcome.load->serving->windows.size(), 6U);
}

TEST(serving, a_request_that_is_longer_than_the_model_is_skipped_and_counted) {
  served some("2023-11-16 18:00:00,131000,72\n2023-11-16 18:00:00,131000,73\n2023-11-16 18:00:01,10,4\n");
  some.settings.serving->chunk_rows = 65'536;
  some.settings.tokens = 4;
  const std::vector<served_request> all = read_requests(some.settings.serving->requests_path);
  EXPECT_EQ(answer_tokens(all, 131'072, 0), 72U + 4);
  EXPECT_EQ(answer_tokens(all, 131'072, 1), 4U);
  some.settings.serving->draft = 1;
  const serving_report report = some.report();
  EXPECT_EQ(report.requests, 3U);
  EXPECT_EQ(report.skipped, 2U);
  EXPECT_EQ(report.done, 1U);
}

TEST(serving, guesses_make_the_same_tokens_in_fewer_steps) {
  served some("2023-11-16 18:00:00,64,400\n");
  const auto plain = some.run();
  some.settings.serving->draft = 3;
  const auto guessed = some.run();
  EXPECT_EQ(guessed.outcome.tokens_done, plain.outcome.tokens_done);
  const auto steps = static_cast<double>(guessed.steps().steps);
  // Of three guesses 0.7 + 0.49 + 0.343 are kept in the mean, and one token besides.
  EXPECT_NEAR(399 / (steps - 1), 2.533, 0.25);
}

TEST(serving, ranks_do_the_same_and_one_of_them_asks_for_its_share) {
  served some(rows);
  const load_run one = some.run();
  some.settings.ranks = 2;
  sim_card first;
  sim_card second;
  const allocator_ptr memory[] = {make_allocator(first.device, options{}), make_allocator(second.device, options{})};
  const load_rank ranks[] = {{memory[0].get(), &first.time, &first.device},
                             {memory[1].get(), &second.time, &second.device}};
  const session_outcome two = run_load(ranks, some.settings, {}, [](std::size_t) {});
  EXPECT_EQ(two.outcome, status::ok);
  EXPECT_EQ(two.tokens_done, one.outcome.tokens_done);
  EXPECT_EQ(two.load->serving->done, 10U);
  EXPECT_EQ(counters_of(*memory[0]).steps, counters_of(*memory[1]).steps);
}

TEST(serving, what_cannot_serve_says_so) {
  served some(rows);
  some.settings.context = 5;
  EXPECT_EQ(refusal_of([&] { some.run(); }), "requests bring their own context");
  some.settings.context = 0;
  some.settings.layers = 29;
  EXPECT_EQ(refusal_of([&] { some.run(); }), "qwen3-0.6b has no 29 layers to be cut to");
  some.settings.layers = 0;
  some.settings.config_name = "origin-v4";
  EXPECT_EQ(refusal_of([&] { some.run(); }), "origin-v4 serves no requests");
}

TEST(serving_watch, the_percentile_is_over_all_values_zeros_included) {
  std::vector<std::uint64_t> three{30, 10, 20};
  EXPECT_EQ(percentile_99(three, 3), 30U);
  EXPECT_EQ(percentile_99(three, 100), 20U);
  EXPECT_EQ(percentile_99(three, 200), 10U);
  EXPECT_EQ(percentile_99(three, 300), 0U);
  std::vector<std::uint64_t> none;
  EXPECT_EQ(percentile_99(none, 0), 0U);
  EXPECT_EQ(percentile_99(none, 7), 0U);
}

}  // namespace
}  // namespace arcalloc::decode
