// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <arcalloc/settings.hpp>
#include <nlohmann/json.hpp>

#include "decode/session.hpp"
#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::temporary_folder;
using json = nlohmann::json;

const std::vector<std::string> never_good{"4Gi", "-1", "08",  "1e9", "0x100", " 64", "64 ", "", "18446744073709551616",
                                          "abc", "+1", "1.0", "1,2", "64\n"};

/// Of a variable that names a file to write, for which nearly every text will do.
const std::vector<std::string> never_files{"", "/no/such/directory/t", "/dev/null", "/tmp", "/tmp/"};

/// A decode that would take long, were it not refused first.
const std::vector<std::string> any_decode{"decode", "--tokens", "1000000"};

class every_setting : public ::testing::TestWithParam<const char*> {};

TEST_P(every_setting, refuses_what_is_no_value_by_name_and_value) {
  const std::string variable = GetParam();
  for (const std::string& value : variable == "ARC_ALLOC_CACHE_TRACE" ? never_files : never_good) {
    const ended run = arcalloc(any_decode, {{variable, value}});
    EXPECT_EQ(run.exit_status, 2) << variable << "=\"" << value << '"';
    EXPECT_EQ(run.out, "");
    const std::string shown = value == "64\n" ? "64." : value;
    EXPECT_NE(run.err.find(variable + "=\"" + shown + "\""), std::string::npos) << run.err;
    EXPECT_EQ(test::lines_in(run.err), 1U) << run.err;
  }
}

constexpr const char* variables[] = {
    "ARC_ALLOC_CACHE",         "ARC_CANDLE_ALLOC_CACHE",   "ARC_ALLOC_CACHE_MAX_MB",
    "ARC_ALLOC_CACHE_STATS",   "ARC_ALLOC_CACHE_GEOMETRY", "ARC_ALLOC_CACHE_CAPTURE_MISS",
    "ARC_ALLOC_CACHE_PROFILE", "ARC_ALLOC_CACHE_TRACE",    "ARC_ALLOC_CAPACITY_MB"};

INSTANTIATE_TEST_SUITE_P(settings, every_setting, ::testing::ValuesIn(variables),
                         [](const auto& one) { return std::string(one.param); });

TEST(settings, every_setting_there_is_is_tried_above) {
  std::size_t count = 0;
  const setting_row* rows = setting_rows(count);
  ASSERT_EQ(count, std::size(variables));
  for (std::size_t i = 0; i < count; ++i) EXPECT_STREQ(rows[i].variable, variables[i]);
}

TEST(settings, refuses_values_out_of_range) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"ARC_ALLOC_CACHE", "2"},
      {"ARC_CANDLE_ALLOC_CACHE", "2"},
      {"ARC_ALLOC_CACHE_MAX_MB", "1073741825"},
      {"ARC_ALLOC_CACHE_GEOMETRY", "3"},
      {"ARC_ALLOC_CACHE_GEOMETRY", "32"},
      {"ARC_ALLOC_CACHE_GEOMETRY", "EXACT"},
      {"ARC_ALLOC_CAPACITY_MB", "0"},
      {"ARC_ALLOC_CAPACITY_MB", "1073741825"},
      {"ARC_ALLOC_CACHE_STATS", "4294967296"},
  };
  for (const auto& [variable, value] : bad) {
    const ended run = arcalloc(any_decode, {{variable, value}});
    EXPECT_EQ(run.exit_status, 2) << variable << '=' << value;
    EXPECT_NE(run.err.find(variable + "=\"" + value + "\""), std::string::npos) << run.err;
  }
}

TEST(settings, refuses_a_profile_that_is_none) {
  const ended run = arcalloc(any_decode, {{"ARC_ALLOC_CACHE_PROFILE", "/no/such/profile.json"}});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_NE(run.err.find("ARC_ALLOC_CACHE_PROFILE=\"/no/such/profile.json\""), std::string::npos) << run.err;
  EXPECT_EQ(test::lines_in(run.err), 1U) << run.err;
}

TEST(settings, names_every_refused_value_not_only_the_first) {
  const ended run = arcalloc(any_decode, {{"ARC_ALLOC_CACHE_MAX_MB", "4Gi"}, {"ARC_ALLOC_CACHE_STATS", "x"}});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(test::lines_in(run.err), 2U);
  EXPECT_NE(run.err.find("ARC_ALLOC_CACHE_MAX_MB=\"4Gi\""), std::string::npos);
  EXPECT_NE(run.err.find("ARC_ALLOC_CACHE_STATS=\"x\""), std::string::npos);
}

TEST(settings, refuses_two_names_of_one_switch_that_differ) {
  const ended run = arcalloc(any_decode, {{"ARC_ALLOC_CACHE", "1"}, {"ARC_CANDLE_ALLOC_CACHE", "0"}});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_NE(run.err.find("ARC_CANDLE_ALLOC_CACHE"), std::string::npos) << run.err;
}

/// The leg `bounded` of a short run under these settings, with flags added.
json bounded_leg(const test::environment& set, const std::vector<std::string>& flags = {}) {
  const temporary_folder folder;
  std::vector<std::string> words{
      "decode",      "--config", decode::config_names().back(), "--tokens", "20", "--legs", "bounded", "--device",
      "host:512MiB", "--json",   folder.file("r.json")};
  words.insert(words.end(), flags.begin(), flags.end());
  const ended run = arcalloc(words, set);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  return json::parse(content_of(folder.file("r.json")));
}

std::string source_of(const json& result, const std::string& variable) {
  for (const json& row : result["provenance"]["settings"]) {
    if (row["variable"] == variable) return row["value"].get<std::string>() + " by " + row["source"].get<std::string>();
  }
  return "missing";
}

TEST(settings, the_bound_that_is_set_binds) {
  const json result = bounded_leg({{"ARC_ALLOC_CACHE_MAX_MB", "1"}});
  const json& leg = result["legs"][0];
  EXPECT_EQ(leg["cached_bytes_max"], 1U << 20);
  EXPECT_EQ(leg["counters"]["cap_source"], "environment");
  EXPECT_LE(leg["cached_bytes_peak"].get<std::uint64_t>(), 1U << 20);
  EXPECT_EQ(source_of(result, "ARC_ALLOC_CACHE_MAX_MB"), "1 by environment");
  EXPECT_EQ(source_of(result, "ARC_ALLOC_CACHE_STATS"), "0 by default");
}

TEST(settings, the_policy_and_the_profile_of_captures_reach_the_leg) {
  const std::vector<std::string> cold{"--kv", "preallocated", "--capture", "--no-prewarm"};
  const json refused = bounded_leg({{"ARC_ALLOC_CACHE_CAPTURE_MISS", "refuse"}}, cold)["legs"][0];
  EXPECT_EQ(refused["options"]["capture_miss"], "refuse");
  EXPECT_EQ(refused["capture"]["outcome"], "capture_miss");
  EXPECT_EQ(refused["capture"]["replays"], 0);
  EXPECT_EQ(refused["outcome"], "completed");

  const temporary_folder folder;
  const std::string file = folder.file("p.json");
  // A size that the model does not ask for but in its step: nothing takes it before the window does.
  test::write_file(file,
                   "{\"schema\": \"arcalloc.profile/1\", \"entries\": ["
                   "{\"stream\": 0, \"bytes\": 4194304, \"blocks\": 12}]}\n");
  const json covered = bounded_leg({{"ARC_ALLOC_CACHE_PROFILE", file}}, cold);
  EXPECT_EQ(covered["legs"][0]["options"]["profile"], file);
  EXPECT_EQ(covered["legs"][0]["capture"]["misses"].size(), 0U);
  EXPECT_EQ(source_of(covered, "ARC_ALLOC_CACHE_PROFILE"), file + " by environment");
}

TEST(settings, the_flag_wins_over_the_environment) {
  const json result = bounded_leg({{"ARC_ALLOC_CACHE_MAX_MB", "1"}}, {"--cap", "3"});
  EXPECT_EQ(result["legs"][0]["cached_bytes_max"], 3U << 20);
  EXPECT_EQ(result["legs"][0]["counters"]["cap_source"], "explicit");
  EXPECT_EQ(source_of(result, "ARC_ALLOC_CACHE_MAX_MB"), "3 by command line");
}

TEST(settings, a_cap_of_zero_caches_nothing) {
  const json leg = bounded_leg({}, {"--cap", "0"})["legs"][0];
  EXPECT_EQ(leg["cached_bytes_max"], 0);
  EXPECT_EQ(leg["cached_bytes_peak"], 0);
}

TEST(settings, a_maximum_of_zero_in_the_environment_is_unbounded_and_announced) {
  const json result = bounded_leg({{"ARC_ALLOC_CACHE_MAX_MB", "0"}});
  EXPECT_TRUE(result["legs"][0]["cached_bytes_max"].is_null());
  EXPECT_EQ(result["legs"][0]["counters"]["cap_source"], "unbounded");
  EXPECT_EQ(result["legs"][0]["options"]["oom_retry"], false);
  const ended run = arcalloc({"doctor"}, {{"ARC_ALLOC_CACHE_MAX_MB", "0"}});
  EXPECT_NE(run.err.find("warning: ARC_ALLOC_CACHE_MAX_MB=0"), std::string::npos) << run.err;
}

TEST(settings, the_switch_turns_the_cache_off_under_either_name) {
  for (const char* name : {"ARC_ALLOC_CACHE", "ARC_CANDLE_ALLOC_CACHE"}) {
    const json result = bounded_leg({{name, "0"}});
    const json& counters = result["legs"][0]["counters"];
    EXPECT_EQ(counters["bypassed_disabled"], counters["requests"]) << name;
    EXPECT_EQ(source_of(result, "ARC_ALLOC_CACHE").rfind("0 by environment", 0), 0U);
  }
}

TEST(settings, every_geometry_is_taken) {
  for (const char* value : {"1", "2", "4", "8", "16", "exact"}) {
    EXPECT_EQ(bounded_leg({{"ARC_ALLOC_CACHE_GEOMETRY", value}})["legs"][0]["options"]["geometry"], value);
  }
}

TEST(settings, a_capacity_is_taken) {
  const json leg = bounded_leg({{"ARC_ALLOC_CAPACITY_MB", "300"}})["legs"][0];
  EXPECT_EQ(leg["counters"]["capacity_bytes"], 300U << 20);
}

TEST(settings, step_reports_come_every_n_steps_on_stderr) {
  const ended run = arcalloc({"decode", "--config", decode::config_names().back(), "--tokens", "20", "--legs",
                              "off,bounded", "--device", "host:512MiB"},
                             {{"ARC_ALLOC_CACHE_STATS", "5"}});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(test::lines_in(run.err), 4U) << run.err;
}

TEST(settings, an_unknown_name_is_warned_about_with_the_nearest) {
  const ended run = arcalloc({"doctor"}, {{"ARC_ALLOC_CACHE_MAXMB", "64"}});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_NE(run.err.find("ARC_ALLOC_CACHE_MAXMB"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("ARC_ALLOC_CACHE_MAX_MB"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace arcalloc::cli
