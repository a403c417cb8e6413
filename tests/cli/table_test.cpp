// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <arcalloc/counters.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/decode_json.hpp"
#include "cli/decode_table.hpp"
#include "cli/text_table.hpp"
#include "results.hpp"

namespace arcalloc::cli {
namespace {

using test::ended_run;
using test::leg_of;
using test::made_up_result;
using json = nlohmann::json;

decode_result concluded(decode_result result) {
  conclude(result);
  return result;
}

TEST(table, aligns_numbers_right_and_text_left) {
  text_table table;
  table.add_column("leg", "", false);
  table.add_column("time", "ms", true);
  table.add_row({"off", "1.5"});
  table.add_row({"unbounded", "10.25"});
  EXPECT_EQ(table.text(),
            "leg         time\n"
            "              ms\n"
            "off          1.5\n"
            "unbounded  10.25\n");
}

TEST(table, says_everything_that_was_found) {
  decode_result result = made_up_result();
  leg_of(result, leg::unbounded).runs = {ended_run(status::device_out_of_memory, 19)};
  conclude(result);
  const std::string text = decode_table(result);
  for (const char* part :
       {"device_out_of_memory at token 20", "held peak", "hit rate", "capture misses", "reserved / allocated",
        "rounding", "bound cost: -", "gain kept: -", "tokens: equal", "accounting: identities hold",
        "cap of bounded: min(1024 MiB, (3072.0 - 256.0) / 2) = 1024.0 MiB", "provenance: arcalloc 9.8.7 commit c0ffee",
        "100%"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(table, names_what_a_capture_missed_by_its_size) {
  decode_result result = made_up_result();
  EXPECT_EQ(decode_table(concluded(result)).find("capture and replay"), std::string::npos);
  leg_of(result, leg::bounded).runs.front().report->outcome.capture = test::made_up_capture();
  leg_of(result, leg::exact).runs.front().report->outcome.capture = decode::capture_report{};
  auto& refused = leg_of(result, leg::off).runs.front().report->outcome.capture.emplace();
  refused.window = status::capture_miss;
  const std::string text = decode_table(concluded(result));
  for (const char* part :
       {"capture and replay\n", "replayed", "eager: capture_miss", "none: ended before", "in the window",
        "profile of bounded: 2 sizes, 9 blocks, over 3 warm-up steps; prewarm ok; verify capture_miss, short of "
        "393,216 bytes x 2\n",
        "capture misses of bounded: 390,000 bytes x 2 (class 393,216)\n", "capture misses of exact: none\n",
        "profile of exact: none\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST(table, long_lists_of_token_numbers_are_cut_and_a_models_text_is_not) {
  decode_result result = made_up_result();
  std::string numbers;
  for (int i = 0; i < 200; ++i) numbers += "1234 ";
  for (leg_result& leg : result.legs) leg.runs.front().report->outcome.text = numbers;
  conclude(result);
  EXPECT_EQ(decode_table(result).find(numbers), std::string::npos);
  EXPECT_NE(decode_table(result).find("1234 ...\n"), std::string::npos);
  result.request.session.model_path = "m.bin";
  EXPECT_NE(decode_table(result).find(numbers), std::string::npos);
}

json json_of(decode_result result) {
  conclude(result);
  return json::parse(decode_json(result));
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST(json_result, has_the_keys_of_its_schema) {
  const json whole = json_of(made_up_result());
  EXPECT_EQ(whole["schema"], "arcalloc.decode/1");
  const std::set<std::string> top = keys_of(whole);
  for (const char* key : {"provenance", "legs", "bound_cost_ms_per_token", "gain_kept", "tokens_equal", "input"}) {
    EXPECT_EQ(top.count(key), 1U) << key;
  }
  for (const char* key : {"version", "commit", "dirty", "build_id", "compiler", "build_type", "device", "driver",
                          "free_bytes_at_start", "settings", "command", "machine", "utc"}) {
    EXPECT_EQ(keys_of(whole["provenance"]).count(key), 1U) << key;
  }
  ASSERT_EQ(whole["legs"].size(), 4U);
  for (const json& leg : whole["legs"]) {
    for (const char* key : {"leg",
                            "outcome",
                            "tokens_done",
                            "ms_per_token",
                            "tokens_per_s",
                            "text",
                            "memory_growth_bytes",
                            "memory_slope_bytes_per_s",
                            "memory_deciles_bytes",
                            "hit_rate",
                            "driver_allocs_per_step",
                            "driver_frees_per_step",
                            "second_half",
                            "requests_per_step",
                            "held_bytes_peak",
                            "cached_bytes_peak",
                            "cached_bytes_max",
                            "reserved_bytes_peak",
                            "allocated_bytes_peak",
                            "bypassed",
                            "capture_misses",
                            "counters",
                            "cap",
                            "capture",
                            "rounds"}) {
      EXPECT_EQ(keys_of(leg).count(key), 1U) << key;
    }
    EXPECT_EQ(leg["memory_deciles_bytes"].size(), decile_count);
    EXPECT_EQ(keys_of(leg["second_half"]), (std::set<std::string>{"driver_allocs_per_step", "driver_frees_per_step"}));
    EXPECT_EQ(leg["rounds"].size(), 1U);
  }
}

TEST(json_result, has_every_counter_by_its_name) {
  std::size_t count = 0;
  const counter_field* fields = counter_fields(count);
  ASSERT_GT(count, 0U);
  const json whole = json_of(made_up_result());
  const json& counters = whole["legs"][3]["counters"];
  EXPECT_EQ(counters.size(), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(counters.contains(fields[i].name)) << fields[i].name;
  EXPECT_EQ(counters["requests"], 1000);
  EXPECT_EQ(counters["cap_source"], "derived");
  EXPECT_TRUE(counters["capacity_bytes"].is_null());
}

TEST(json_result, has_what_a_capture_found_and_null_without_one) {
  decode_result result = made_up_result();
  leg_of(result, leg::bounded).runs.front().report->outcome.capture = test::made_up_capture();
  const json whole = json_of(result);
  EXPECT_EQ(whole["input"]["capture"], false);
  EXPECT_TRUE(whole["legs"][0]["capture"].is_null());
  const json expected = json::parse(R"({"outcome": "ok", "operations": 145, "replays": 97, "requests_in_replays": 0,
      "driver_calls_in_replays": 0, "pinned_bytes": 3145728,
      "misses": [{"bytes": 390000, "class_bytes": 393216, "stream": 18446744073709551615, "count": 2}],
      "profile": {"warm_up_steps": 3, "prewarm": "ok", "verify": "capture_miss",
                  "entries": [{"stream": 5, "bytes": 393216, "blocks": 2}, {"stream": 0, "bytes": 4096, "blocks": 7}],
                  "missing": [{"stream": 5, "bytes": 393216, "blocks": 2}]}})");
  EXPECT_EQ(whole["legs"][3]["capture"], expected);
}

TEST(json_result, an_unbounded_cap_is_null) {
  decode_result result = made_up_result();
  auto& report = *leg_of(result, leg::unbounded).runs.front().report;
  report.outcome.at_end.cached_bytes_max = ARCALLOC_NO_BOUND;
  report.cap.cached_bytes_max = ARCALLOC_NO_BOUND;
  report.cap.cap_source = ARCALLOC_CAP_UNBOUNDED;
  const json whole = json_of(result);
  const json& leg = whole["legs"][1];
  EXPECT_TRUE(leg["cached_bytes_max"].is_null());
  EXPECT_TRUE(leg["counters"]["cached_bytes_max"].is_null());
  EXPECT_TRUE(leg["cap"]["cached_bytes_max"].is_null());
  EXPECT_EQ(whole["legs"][3]["cached_bytes_max"], 1024U << 20);
}

TEST(json_result, what_a_dead_leg_did_not_reach_is_null) {
  decode_result result = made_up_result();
  leg_run run = ended_run(status::backend_failed, 19);
  run.report.reset();
  run.death = "killed by signal 9 (Killed)";
  leg_of(result, leg::exact).runs = {run};
  const json whole = json_of(result);
  const json& leg = whole["legs"][2];
  EXPECT_EQ(leg["outcome"], "backend_failed");
  EXPECT_EQ(leg["death"], "killed by signal 9 (Killed)");
  EXPECT_EQ(leg["tokens_done"], 19);
  EXPECT_TRUE(leg["memory_deciles_bytes"][10].is_null());
  EXPECT_EQ(leg["memory_deciles_bytes"][0], 0);
  for (const char* key :
       {"ms_per_token", "text", "counters", "hit_rate", "memory_slope_bytes_per_s", "held_bytes_peak"}) {
    EXPECT_TRUE(leg[key].is_null()) << key;
  }
}

TEST(json_result, text_that_is_not_utf8_is_still_json) {
  decode_result result = made_up_result();
  for (leg_result& leg : result.legs) leg.runs.front().report->outcome.text = "a\xff\xfe\x80z";
  const json whole = json_of(result);
  const std::string text = whole["legs"][0]["text"];
  EXPECT_EQ(text.front(), 'a');
  EXPECT_EQ(text.back(), 'z');
}

TEST(json_result, the_comparison_is_that_of_the_legs) {
  const json whole = json_of(made_up_result());
  EXPECT_DOUBLE_EQ(whole["bound_cost_ms_per_token"].get<double>(), 0.5);
  EXPECT_DOUBLE_EQ(whole["gain_kept"].get<double>(), 0.875);
  EXPECT_DOUBLE_EQ(whole["bounded_over_unbounded"]["median"].get<double>(), 1.1);
  EXPECT_EQ(whole["tokens_equal"], true);
  EXPECT_EQ(whole["exit_status"], 0);
}

}  // namespace
}  // namespace arcalloc::cli
