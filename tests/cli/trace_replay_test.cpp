// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::lines_in;
using test::temporary_folder;
using test::write_file;

/// Two buffers, one after the other, the second larger than what the first leaves of 64 MiB.
const char* const small_trace =
    "t_us,op,id,size,stream\n"
    "1,a,1,41943040,0\n"
    "2,f,1,41943040,0\n"
    "3,a,2,45088768,0\n"
    "4,f,2,45088768,0\n";

TEST(trace_replay, compares_the_policies_in_one_table) {
  const temporary_folder folder;
  write_file(folder.file("t.csv"), small_trace);
  const ended run = arcalloc({"replay", folder.file("t.csv"), "--policy", "off,unbounded,exact,bounded", "--device",
                              "sim:64MiB", "--cap", "64", "--json", folder.file("r.json")});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const nlohmann::json found = nlohmann::json::parse(content_of(folder.file("r.json")));
  EXPECT_EQ(found["schema"], "arcalloc.trace_replay/1");
  EXPECT_EQ(found["events"], 4);
  EXPECT_EQ(found["requested_bytes_peak"], 45088768);
  EXPECT_EQ(found["reserved_bytes_peak"], nullptr);
  ASSERT_EQ(found["policies"].size(), 4U);
  const char* const outcomes[] = {"completed", "device_out_of_memory", "device_out_of_memory", "completed"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(found["policies"][i]["outcome"], outcomes[i]) << i;
  EXPECT_EQ(found["policies"][1]["refusal"]["event"], 3);
  EXPECT_EQ(found["policies"][3]["counters"]["evictions"], 1);
  EXPECT_NE(run.out.find("unbounded: event 3: device_out_of_memory: requested 45088768"), std::string::npos) << run.out;
}

TEST(trace_replay, says_with_its_status_that_a_policy_died_that_must_not) {
  const temporary_folder folder;
  write_file(folder.file("t.csv"), small_trace);
  EXPECT_EQ(arcalloc({"replay", folder.file("t.csv"), "--device", "sim:32MiB"}).exit_status, 4);
  EXPECT_EQ(arcalloc({"replay", folder.file("t.csv"), "--device", "sim:32MiB", "--policy", "exact"}).exit_status, 0);
  EXPECT_EQ(arcalloc({"replay", folder.file("t.csv"), "--capacity", "32"}).exit_status, 4);
}

TEST(trace_replay, goes_by_the_rules_of_peers_beside_its_own_policies) {
  const temporary_folder folder;
  write_file(folder.file("t.csv"), small_trace);
  const ended run = arcalloc({"replay", folder.file("t.csv"), "--policy", "bounded,pytorch,mlx", "--cap", "0",
                              "--smallest-device", "--json", folder.file("r.json")});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const nlohmann::json found = nlohmann::json::parse(content_of(folder.file("r.json")));
  ASSERT_EQ(found["policies"].size(), 3U);
  const nlohmann::json& pytorch = found["policies"][1];
  EXPECT_EQ(pytorch["policy"], "pytorch");
  EXPECT_EQ(pytorch["counters"]["reserved_bytes_peak"], 84 << 20) << "40 MiB and 43 in steps of 2, both kept";
  EXPECT_EQ(pytorch["counters"]["driver_allocs"], 2);
  EXPECT_EQ(pytorch["counters"]["driver_frees"], 0);
  EXPECT_EQ(pytorch["driver_calls_first_step"], 2);
  EXPECT_EQ(pytorch["smallest_device_bytes"], 44 << 20);
  const nlohmann::json& mlx = found["policies"][2];
  EXPECT_EQ(mlx["policy"], "mlx");
  EXPECT_EQ(mlx["counters"]["driver_allocs"], 3) << "with the range for scalars";
  EXPECT_EQ(mlx["counters"]["driver_frees"], 2) << "a cache of 0 keeps nothing";
  EXPECT_EQ(mlx["counters"]["cached_bytes_max"], 0);
  EXPECT_EQ(mlx["smallest_device_bytes"], 46 << 20);
}

TEST(trace_replay, lets_a_peer_die_as_exact_may) {
  const temporary_folder folder;
  write_file(folder.file("t.csv"), small_trace);
  const ended run = arcalloc({"replay", folder.file("t.csv"), "--policy", "pytorch,mlx", "--device", "sim:32MiB"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_NE(run.out.find("pytorch: event 1: device_out_of_memory: requested 41943040"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("mlx: event 1: device_out_of_memory"), std::string::npos) << run.out;
}

TEST(trace_replay, finds_the_smallest_device) {
  const temporary_folder folder;
  write_file(folder.file("t.csv"), small_trace);
  const ended run = arcalloc({"replay", folder.file("t.csv"), "--smallest-device", "--json", folder.file("r.json")});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const nlohmann::json found = nlohmann::json::parse(content_of(folder.file("r.json")));
  EXPECT_EQ(found["policies"][0]["smallest_device_bytes"], 44 << 20);
}

TEST(trace_replay, goes_over_host_memory) {
  const temporary_folder folder;
  write_file(folder.file("t.csv"), small_trace);
  const ended run = arcalloc({"replay", folder.file("t.csv"), "--device", "host:256MiB"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
}

TEST(trace_replay, reads_a_file_by_its_content) {
  const temporary_folder folder;
  write_file(folder.file("t.txt"), small_trace);
  EXPECT_EQ(arcalloc({"replay", folder.file("t.txt")}).exit_status, 0);
  write_file(folder.file("scenario.txt"), "alloc A 4MiB\n");
  EXPECT_EQ(arcalloc({"replay", folder.file("scenario.txt")}).out,
            folder.file("scenario.txt") + ": 1 expectations, 0 failed\n");
}

TEST(trace_replay, bad_usage_is_one_line_that_names_the_flag) {
  const temporary_folder folder;
  const std::string trace = folder.file("t.csv");
  write_file(trace, small_trace);
  write_file(folder.file("a.ops"), "step\n");
  write_file(folder.file("cut.csv"), "t_us,op,id,size,stream\n1,a,1\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> all{
      {{trace, "--policy", "fast"}, "--policy: unknown policy \"fast\""},
      {{trace, "--policy", "pytorch,pytorch"}, "named twice"},
      {{trace, "--policy", "pytorch", "--geometry", "4"}, "--geometry: is about bounded"},
      {{trace, "--policy", "pytorch", "--cap", "5"}, "--cap: is about bounded and mlx"},
      {{trace, "--policy", "mlx", "--exact-cap", "5"}, "--exact-cap: is about exact"},
      {{trace, "--policy", "bounded,mlx", "--capacity", "5"}, "--capacity: mlx has no bound"},
      {{trace, "--policy", "bounded,mlx", "--device", "host"}, "--device: the rules of peers"},
      {{trace, "--cap", "x"}, "--cap"},
      {{trace, "--capacity", "0"}, "--capacity"},
      {{trace, "--geometry", "3"}, "--geometry"},
      {{trace, "--device", "cuda:0x"}, "--device"},
      {{trace, "--device", "sim:1"}, "--device"},
      {{trace, "--granularity", "3MiB"}, "--granularity"},
      {{trace, "--device", "host", "--smallest-device"}, "--smallest-device"},
      {{trace, "--from", "xml"}, "--from"},
      {{trace, "--unit", "0"}, "--unit"},
      {{trace, "--trace-device", "-1"}, "--trace-device"},
      {{trace, "--json", folder.path()}, "--json"},
      {{folder.file("a.ops"), "--cap", "5"}, "--cap"},
      {{folder.file("cut.csv")}, "cut.csv:2"},
  };
  for (const auto& [rest, named] : all) {
    std::vector<std::string> words{"replay"};
    words.insert(words.end(), rest.begin(), rest.end());
    const ended run = arcalloc(words);
    EXPECT_EQ(run.exit_status, 2) << named;
    EXPECT_EQ(lines_in(run.err), 1U) << run.err;
    EXPECT_NE(run.err.find(named), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace arcalloc::cli
