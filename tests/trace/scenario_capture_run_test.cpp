// SPDX-License-Identifier: Apache-2.0
// Scenarios with captures and profiles: that what they say can hold and can fail. What the allocator has to do is in
// tests/scenarios.
#include <gtest/gtest.h>

#include "trace/scenario_run.hpp"
#include "trace/scenario_text.hpp"

namespace arcalloc::trace {
namespace {

scenario_result run(std::string_view text) { return run_scenario(parse_scenario("f.ops", text)); }

/// The one failure of a scenario that has one.
scenario_failure failure_of(std::string_view text) {
  const scenario_result result = run(text);
  EXPECT_EQ(result.failed.size(), 1U) << text;
  return result.failed.empty() ? scenario_failure{} : result.failed.front();
}

std::string failures_of(std::string_view text) {
  std::string all;
  for (const scenario_failure& one : run(text).failed) {
    all.append(std::to_string(one.line)).append(": expected ").append(one.expected).append(", found ");
    all.append(one.found).append("\n");
  }
  return all;
}

TEST(scenario_capture_run, a_window_and_a_replay) {
  EXPECT_EQ(failures_of("capture begin @s1\nalloc A 32MiB @s1\nfree A\ncapture end @s1 g\nexpect graphs_pinned == 1\n"
                        "graph replay g @s1\ngraph replay g @s2\ngraph release g\nexpect graphs_pinned == 0"),
            "");
  EXPECT_EQ(failure_of("capture begin @s1\ncapture end @s1 g\nexpect graphs_pinned == 0").line, 3U);
}

TEST(scenario_capture_run, answers_of_every_call_are_judged) {
  for (const char* line : {"capture end @s1 g", "capture abort @s1", "graph replay g @s1", "graph release g",
                           "end profile p", "wait @s2 @s1"}) {
    const bool joins = std::string_view(line).starts_with("wait");
    const std::string refused = std::string(joins ? "capture begin @s2\n" : "") + line + " -> invalid_argument";
    EXPECT_EQ(failures_of(refused), "") << line;
  }
  EXPECT_EQ(failure_of("capture begin @s1\ncapture abort @s1 -> invalid_argument").found, "ok");
  EXPECT_EQ(failure_of("wait @s2 @s1 -> invalid_argument").found, "ok");
  EXPECT_EQ(failure_of("stream end @s1 -> invalid_argument").found, "ok");
  EXPECT_EQ(failures_of("capture begin @s1\ncapture begin @s1 -> invalid_argument\ncapture end @s1 g"), "");
}

TEST(scenario_capture_run, what_is_open_at_the_end_is_closed) {
  EXPECT_EQ(failures_of("alloc W 3MiB\ncapture begin @s1\nwait @s2 @s1\nuse W @s1\nalloc A 32MiB @s1\n"
                        "alloc B 1KiB @s2\nrecord profile p"),
            "");
  EXPECT_EQ(failures_of("capture begin @s1\nalloc A 32MiB @s1\ncapture end @s1 g"), "");
}

TEST(scenario_capture_run, a_miss_is_looked_up_by_size_count_and_stream) {
  constexpr const char* window = "capture begin @s1\nalloc A 96MiB @s1\nalloc B 96MiB @s1\ncapture end @s1 g\n";
  EXPECT_EQ(failures_of(std::string(window) + "expect miss 96MiB x2 @s1"), "");
  for (const char* wrong : {"95MiB x2 @s1", "96MiB x1 @s1", "96MiB x2"}) {
    const scenario_failure one = failure_of(std::string(window) + "expect miss " + wrong);
    EXPECT_EQ(one.line, 5U);
    EXPECT_EQ(one.found, "miss 100663296 x2 on stream 1");
  }
  EXPECT_EQ(failure_of("expect miss 1 x1").found, "no miss");
}

TEST(scenario_capture_run, policy_and_option_decide_what_a_miss_meets) {
  constexpr const char* window = "alloc A 96MiB @s1 -> capture_miss\ncapture abort @s1\nalloc A 96MiB @s1\n";
  EXPECT_EQ(failures_of(std::string("capture begin @s1 policy=refuse\n") + window), "");
  EXPECT_EQ(failures_of(std::string("option capture_miss=refuse\ncapture begin @s1\n") + window), "");
  EXPECT_EQ(failures_of(std::string("env ARC_ALLOC_CACHE_CAPTURE_MISS=refuse\ncapture begin @s1\n") + window), "");
  EXPECT_EQ(failures_of("option capture_miss=refuse\ncapture begin @s1 policy=grow\nalloc A 96MiB @s1"), "");
  EXPECT_EQ(failures_of("env ARC_ALLOC_CACHE_CAPTURE_MISS=refuse\noption capture_miss=grow\ncapture begin @s1\n"
                        "alloc A 96MiB @s1"),
            "");
  EXPECT_EQ(failures_of("env ARC_ALLOC_CACHE_CAPTURE_MISS=Refuse -> invalid_argument\ncapture begin @s1\n"
                        "alloc A 96MiB @s1"),
            "");
}

TEST(scenario_capture_run, profiles_are_recorded_prewarmed_and_verified) {
  constexpr const char* recorded =
      "record profile p\nalloc A 40MiB @s1\nalloc B 40MiB @s1\nfree A\nfree B\nend profile p\ndrain\n";
  EXPECT_EQ(failures_of(std::string("option cached_bytes_max=1GiB\n") + recorded +
                        "verify profile p -> capture_miss\nprewarm profile p\nverify profile p"),
            "");
  const scenario_failure one =
      failure_of(std::string("option cached_bytes_max=1GiB\n") + recorded + "verify profile p");
  EXPECT_EQ(one.found.rfind("capture_miss: short of ", 0), 0U) << one.found;
  EXPECT_NE(one.found.find(" x2 on stream 1"), std::string::npos) << one.found;
  EXPECT_EQ(failures_of(std::string("option cached_bytes_max=60MiB\n") + recorded +
                        "prewarm profile p -> capacity_exceeded\nverify profile p -> capacity_exceeded"),
            "");
}

TEST(scenario_capture_run, a_profile_in_a_file_is_loaded_from_the_environment) {
  EXPECT_EQ(failures_of("env ARC_ALLOC_CACHE_PROFILE= -> invalid_argument\nexpect requests == 0"), "");
}

TEST(scenario_capture_run, a_line_without_its_graph_or_profile_is_a_failure) {
  scenario what = parse_scenario("f.ops", "capture begin @s1\ncapture end @s1 g\n");
  // What no text can say, since the parser refuses it.
  what.operations.push_back({3, status::ok, act::replay_graph{"h", {}}});
  what.operations.push_back({4, status::ok, act::verify_profile{"p"}});
  const scenario_result missing = run_scenario(what);
  ASSERT_EQ(missing.failed.size(), 2U);
  EXPECT_EQ(missing.failed[0].found, "none: an earlier line was not answered as expected");
  EXPECT_EQ(missing.failed[1].line, 4U);
}

}  // namespace
}  // namespace arcalloc::trace
