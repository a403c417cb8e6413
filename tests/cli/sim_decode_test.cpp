// SPDX-License-Identifier: Apache-2.0
// `arcalloc decode` on simulated cards, as its users run it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>

#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::temporary_folder;
using json = nlohmann::json;

ended decode_on_card(const std::vector<std::string>& flags) {
  std::vector<std::string> words{"decode", "--device", "sim:h200"};
  words.insert(words.end(), flags.begin(), flags.end());
  return arcalloc(words);
}

json result_of(const std::vector<std::string>& flags, int exit_status = 0) {
  const temporary_folder folder;
  std::vector<std::string> words{"--json", folder.file("r.json")};
  words.insert(words.end(), flags.begin(), flags.end());
  const ended run = decode_on_card(words);
  EXPECT_EQ(run.exit_status, exit_status) << run.err;
  return json::parse(content_of(folder.file("r.json")));
}

const json& leg_in(const json& result, const std::string& name) {
  for (const json& leg : result["legs"]) {
    if (leg["leg"] == name) return leg;
  }
  throw std::runtime_error("no leg " + name);
}

TEST(sim_decode, a_run_says_on_what_it_was_and_repeats_to_the_last_digit) {
  const std::vector<std::string> flags{"--config", "origin-v4", "--context", "1000",   "--tokens",
                                       "30",       "--cap",     "64",        "--legs", "unbounded,bounded"};
  const json first = result_of(flags);
  EXPECT_EQ(first["input"]["work"], "virtual time");
  EXPECT_EQ(first["input"]["stream_ordered"], true);
  EXPECT_EQ(first["input"]["sim"]["model"], "h200");
  EXPECT_EQ(first["input"]["sim"]["alloc"], "async");
  EXPECT_EQ(first["input"]["sim"]["granule_bytes"], 512);
  EXPECT_TRUE(first["input"]["sim"]["free_bytes"].is_null());
  EXPECT_EQ(first["provenance"]["free_bytes_at_start"], std::uint64_t{143'771} << 20);
  EXPECT_EQ(first["accounting"], "identities hold");
  EXPECT_EQ(first["tokens_equal"], true);
  const json second = result_of(flags);
  EXPECT_EQ(first["legs"], second["legs"]);
}

TEST(sim_decode, memory_is_what_the_card_has_lent) {
  const json result = result_of(
      {"--config", "origin-v4", "--context", "1000", "--tokens", "20", "--legs", "unbounded", "--free", "512"});
  const json& leg = leg_in(result, "unbounded");
  EXPECT_EQ(leg["memory_deciles_bytes"].size(), 11U);
  EXPECT_EQ(leg["memory_deciles_bytes"][10], leg["memory_growth_bytes"]);
  // The first eight steps give back what the prefill left in flight; the buffers of the other twelve are retained.
  EXPECT_LE(leg["memory_growth_bytes"], leg["reserved_bytes_peak"]);
  EXPECT_GT(leg["memory_growth_bytes"], 12 * 43 * 64'000);
  EXPECT_EQ(result["input"]["sim"]["free_bytes"], 512U << 20);
  // 50 ms a token: a sample at the start, and one after ten tokens.
  EXPECT_EQ(leg["memory_samples"].size(), 3U);
}

TEST(sim_decode, on_a_nearly_full_card_the_unbounded_cache_dies_and_the_bounded_one_does_not) {
  const json result = result_of({"--config", "origin-v4", "--context", "1000", "--tokens", "60", "--legs",
                                 "unbounded,exact,bounded", "--free", "64"});
  EXPECT_EQ(leg_in(result, "unbounded")["outcome"], "device_out_of_memory");
  EXPECT_EQ(leg_in(result, "exact")["outcome"], "device_out_of_memory");
  EXPECT_EQ(leg_in(result, "bounded")["outcome"], "completed");
  EXPECT_EQ(leg_in(result, "bounded")["cap"]["cap_source"], "derived");
}

TEST(sim_decode, the_leg_that_must_survive_and_does_not_is_exit_status_4) {
  const json result = result_of(
      {"--config", "origin-v4", "--context", "1000", "--tokens", "60", "--legs", "bounded", "--free", "2"}, 4);
  EXPECT_EQ(leg_in(result, "bounded")["outcome"], "device_out_of_memory");
}

TEST(sim_decode, a_decoder_runs_there_too_with_its_step_captured) {
  const json result = result_of({"--config", "demo-3m", "--tokens", "8", "--kv", "preallocated", "--capture"});
  for (const json& leg : result["legs"]) {
    EXPECT_EQ(leg["outcome"], "completed");
    EXPECT_EQ(leg["capture"]["replays"], 5);
    EXPECT_EQ(leg["capture"]["requests_in_replays"], 0);
  }
}

TEST(sim_decode, driver_calls_cost_what_their_kind_costs) {
  const std::vector<std::string> flags{"--config", "origin-v4", "--tokens", "2", "--legs", "off", "--context", "100"};
  const double async_ms = leg_in(result_of(flags), "off")["ms_per_token"];
  std::vector<std::string> with_sync = flags;
  with_sync.insert(with_sync.end(), {"--alloc", "sync"});
  const double sync_ms = leg_in(result_of(with_sync), "off")["ms_per_token"];
  // 11,000 pairs of 150 us and two calls for an event, instead of 0.7 us.
  EXPECT_NEAR(sync_ms - async_ms, 11.0 * (152 - 0.7), 5);
}

TEST(sim_decode, a_model_is_divided_among_cards_and_the_slowest_is_named) {
  const json result = result_of({"--config", "qwen3-0.6b", "--ranks", "2", "--tokens", "4", "--context", "256"});
  EXPECT_EQ(result["input"]["ranks"], 2);
  for (const json& leg : result["legs"]) {
    EXPECT_EQ(leg["outcome"], "completed");
    EXPECT_EQ(leg["load"]["ranks"], 2);
    EXPECT_LT(leg["load"]["slowest_rank"], 2);
    EXPECT_GE(leg["load"]["weight_bytes"], 2 * 596'049'920);
    EXPECT_GE(leg["load"]["step_ns_worst"], leg["load"]["driver_ns_step_worst"]);
    // Both cards' memory, and what one of them has of it.
    EXPECT_GT(leg["reserved_bytes_peak"], leg["load"]["reserved_bytes_peak_most"]);
    EXPECT_LE(leg["reserved_bytes_peak"], 2 * leg["load"]["reserved_bytes_peak_most"].get<std::uint64_t>());
  }
  EXPECT_EQ(result["accounting"], "identities hold");
}

struct refusal {
  std::vector<std::string> words;
  const char* message;
};

void expect_refused(std::span<const refusal> refusals) {
  for (const refusal& each : refusals) {
    std::vector<std::string> words{"decode"};
    words.insert(words.end(), each.words.begin(), each.words.end());
    const ended run = arcalloc(words);
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_EQ(run.err, std::string("arcalloc: ") + each.message + "\n");
  }
}

TEST(sim_decode, what_does_not_go_together_is_refused) {
  const refusal refusals[] = {
      {{"--device", "sim:b200"}, "--device: \"sim:b200\" is none of sim:h200, sim:h100, sim:a100, sim:4090"},
      {{"--free", "100"}, "--free: of use only with a simulated device"},
      {{"--alloc", "sync"}, "--alloc: of use only with a simulated or a CUDA device"},
      {{"--granularity", "512"}, "--granularity: of use only with a simulated device"},
      {{"--config", "origin-v4"}, "--config origin-v4: needs one of sim:h200, sim:h100, sim:a100, sim:4090"},
      {{"--device", "cuda:0", "--free", "100"}, "--free: of use only with a simulated device"},
      {{"--device", "cuda:0", "--config", "origin-v4"},
       "--config origin-v4: needs one of sim:h200, sim:h100, sim:a100, sim:4090"},
      {{"--device", "cuda:0", "--alloc", ""}, "--alloc: \"\" is neither async nor sync"},
      {{"--device", "sim:h200", "--alloc", "fast"}, "--alloc: \"fast\" is neither async nor sync"},
      {{"--device", "sim:h200", "--granularity", "3KiB"},
       "--granularity: \"3KiB\" is not a power of two from 512 to 2MiB"},
      {{"--device", "sim:h200", "--granularity", "4MiB"},
       "--granularity: \"4MiB\" is not a power of two from 512 to 2MiB"},
      {{"--device", "sim:h200", "--free", "0"}, "--free: \"0\" is not a whole number from 1 to 1073741824"},
      {{"--device", "sim:h200", "--model", "m", "--tokenizer", "t"},
       "--model: a simulated device computes nothing; give a --config"},
      {{"--device", "sim:h200", "--config", "origin-v4", "--prompt", "x"},
       "--prompt: nothing is computed from it here"},
      {{"--device", "sim:h200", "--config", "origin-v4", "--kv", "preallocated", "--capture"},
       "--capture: not with --config origin-v4"},
  };
  const refusal of_ranks[] = {
      {{"--ranks", "2"}, "--ranks: of use only with a simulated device"},
      {{"--device", "sim:h200", "--ranks", "2"}, "--ranks: not with --config demo-42m"},
      {{"--device", "sim:h200", "--ranks", "2", "--config", "origin-v4"}, "--ranks: origin-v4 runs on one rank"},
      {{"--device", "sim:h200", "--ranks", "3", "--config", "qwen3-32b"},
       "--ranks: qwen3-32b has 64 heads, which do not divide among 3 ranks"},
      {{"--device", "sim:h200", "--ranks", "65"}, "--ranks: \"65\" is not a whole number from 1 to 64"},
  };
  expect_refused(refusals);
  expect_refused(of_ranks);
}

TEST(sim_decode, more_than_there_is_cannot_be_left_free) {
  const ended run = decode_on_card({"--config", "demo-3m", "--tokens", "1", "--legs", "bounded", "--free", "143771"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_NE(run.err.find("less than the 143771.0 MiB that are asked for"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace arcalloc::cli
