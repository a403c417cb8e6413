// SPDX-License-Identifier: Apache-2.0
#include "trace/scenario_run.hpp"

#include <gtest/gtest.h>

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

TEST(scenario_run, a_scenario_that_holds_has_no_failure_and_says_what_it_checked) {
  const scenario_result result = run("alloc A 4MiB\nexpect blocks_live == 1\nstep\n");
  EXPECT_TRUE(result.held());
  EXPECT_EQ(result.expectations_checked, 2U);
  // Before what is live is freed.
  EXPECT_EQ(result.last.blocks_live, 1U);
  EXPECT_EQ(result.last.steps, 1U);
  EXPECT_GT(result.device_ns, 0U);
}

TEST(scenario_run, equal_scenarios_give_equal_results) {
  constexpr const char* text = "alloc A 4MiB\nbusy @s1\nuse A @s1\nfree A\nalloc B 5MiB\n";
  EXPECT_EQ(run(text).device_ns, run(text).device_ns);
  EXPECT_EQ(run(text).last.driver_events, run(text).last.driver_events);
}

TEST(scenario_run, an_expectation_that_fails_says_line_expected_and_found) {
  const scenario_failure one = failure_of("alloc A 64MiB\n\nexpect allocated_bytes <= 1MiB");
  EXPECT_EQ(one.line, 3U);
  EXPECT_EQ(one.expected, "allocated_bytes <= 1MiB");
  EXPECT_EQ(one.found, "67108864");
}

TEST(scenario_run, every_comparison_can_fail_and_can_hold) {
  constexpr const char* before = "alloc A 64MiB\nexpect blocks_live ";
  for (const char* holds : {"== 1", "<= 1", "<= 2", ">= 1", ">= 0", "< 2", "> 0"}) {
    EXPECT_TRUE(run(std::string(before) + holds).held()) << holds;
  }
  for (const char* fails : {"== 0", "== 2", "<= 0", ">= 2", "< 1", "> 1"}) {
    EXPECT_FALSE(run(std::string(before) + fails).held()) << fails;
  }
}

TEST(scenario_run, the_step_window_is_the_last_closed_one) {
  EXPECT_TRUE(run("alloc A 64MiB\nstep\nalloc B 64MiB\nexpect step requests == 1\nexpect requests == 2").held());
  EXPECT_TRUE(run("alloc A 64MiB\nstep\nstep\nexpect step requests == 0").held());
}

TEST(scenario_run, all_failures_are_found_not_only_the_first) {
  const scenario_result result = run("expect hits == 1\nalloc A 1 -> capacity_exceeded\nexpect hits == 2");
  ASSERT_EQ(result.failed.size(), 3U);
  EXPECT_EQ(result.failed[1].line, 2U);
  EXPECT_EQ(result.failed[1].expected, "capacity_exceeded");
  EXPECT_EQ(result.failed[1].found, "ok");
  EXPECT_EQ(result.failed[2].line, 3U);
}

TEST(scenario_run, a_refusal_that_was_not_expected_comes_with_its_record) {
  const scenario_result result = run("option capacity_bytes=1MiB\nalloc A 64MiB\nuse A @s1\nfree A\nalloc A 0\n");
  ASSERT_EQ(result.failed.size(), 3U);
  EXPECT_EQ(result.failed[0].found.rfind("capacity_exceeded: ", 0), 0U) << result.failed[0].found;
  EXPECT_NE(result.failed[0].found.find("67108864"), std::string::npos) << result.failed[0].found;
  // What needs the block cannot be done; the lines after that can.
  EXPECT_EQ(result.failed[1].line, 3U);
  EXPECT_EQ(result.failed[1].found, "none: an earlier line was not answered as expected");
  EXPECT_EQ(result.failed[2].line, 4U);
}

TEST(scenario_run, a_block_that_should_have_been_refused_is_freed_at_the_end) {
  const scenario_result result = run("alloc A 1 -> capacity_exceeded\nalloc A 1\n");
  ASSERT_EQ(result.failed.size(), 1U);
  EXPECT_EQ(result.failed[0].line, 1U);
}

TEST(scenario_run, same_and_differ_look_at_addresses_of_freed_blocks_too) {
  constexpr const char* reused = "option cached_bytes_max=1GiB\nalloc A 64MiB\nfree A\nalloc B 64MiB\n";
  EXPECT_TRUE(run(std::string(reused) + "same A B").held());
  const scenario_failure one = failure_of(std::string(reused) + "differ A B");
  EXPECT_EQ(one.expected, "differ A B");
  EXPECT_EQ(one.found.rfind("address 0x", 0), 0U) << one.found;
  EXPECT_EQ(failure_of("alloc A 1\nalloc B 1\nsame A B").expected, "same A B");
  EXPECT_EQ(failure_of("alloc A 0\nalloc B 0\nsame A B").found, "no block and no block");
}

TEST(scenario_run, env_lines_are_judged_one_by_one) {
  EXPECT_TRUE(run("env ARC_ALLOC_CACHE_MAX_MB=4Gi -> invalid_argument\nenv ARC_ALLOC_CAPACITY_MB=64\n"
                  "expect capacity_bytes == 64MiB\nexpect cap_source == derived")
                  .held());
  const scenario_failure one = failure_of("env ARC_ALLOC_CACHE_MAX_MB=4Gi");
  EXPECT_EQ(one.line, 1U);
  EXPECT_EQ(one.found.rfind("invalid_argument: ", 0), 0U);
  EXPECT_NE(one.found.find("ARC_ALLOC_CACHE_MAX_MB"), std::string::npos);
  EXPECT_NE(one.found.find("4Gi"), std::string::npos);
  EXPECT_EQ(failure_of("env ARC_ALLOC_CACHE_MAX_MB=64 -> invalid_argument").found, "ok");
}

TEST(scenario_run, two_names_of_one_switch_that_differ_are_refused) {
  EXPECT_TRUE(run("env ARC_ALLOC_CACHE=1\nenv ARC_CANDLE_ALLOC_CACHE=0 -> invalid_argument\nalloc A 1\n"
                  "expect bypassed == 0")
                  .held());
}

TEST(scenario_run, options_win_over_the_environment) {
  EXPECT_TRUE(run("option cached_bytes_max=8MiB enabled=1\nenv ARC_ALLOC_CACHE_MAX_MB=64\nenv ARC_ALLOC_CACHE=0\n"
                  "expect cached_bytes_max == 8MiB\nexpect cap_source == explicit\nalloc A 1\nexpect bypassed == 0")
                  .held());
}

TEST(scenario_run, warnings_and_step_reports_are_kept) {
  const scenario_result result =
      run("env ARC_ALLOC_CACHE_STATS=1\nenv ARC_ALLOC_CACHE_MAX_MB=0\nalloc A 1\nstep\nstep\n");
  EXPECT_TRUE(result.held());
  EXPECT_EQ(result.reports.size(), 2U);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings[0].find("UNBOUNDED"), std::string::npos) << result.warnings[0];
}

TEST(scenario_run, thrash_comes_with_the_bound_that_would_do) {
  constexpr const char* step = "alloc A 64MiB\nalloc B 32MiB\nfree A\nfree B\nstep\n";
  const std::string steps = std::string(step) + step + step + step;
  const scenario_result small = run("option cached_bytes_max=64MiB\n" + steps + "expect thrash_evictions > 0");
  EXPECT_TRUE(small.held());
  EXPECT_GE(small.cached_bytes_max_wanted, std::uint64_t{96} << 20);
  const std::string enough = std::to_string(small.cached_bytes_max_wanted);
  const scenario_result large = run("option cached_bytes_max=" + enough + "\n" + steps + "expect evictions == 0");
  EXPECT_TRUE(large.held());
  EXPECT_EQ(large.cached_bytes_max_wanted, 0U);
}

TEST(scenario_run, faults_that_come_first_meet_the_creation) {
  EXPECT_TRUE(run("fault memory_info 1 backend_failed\nexpect cap_source == fallback").held());
  EXPECT_TRUE(run("expect hits == 0\nfault memory_info 1 backend_failed\nexpect cap_source == derived").held());
}

TEST(scenario_run, faults_do_not_reach_the_end) {
  EXPECT_TRUE(run("alloc A 64MiB\nfault free 1+ backend_failed\nfault wait 1+ backend_failed").held());
  EXPECT_TRUE(run("alloc A 64MiB\nfault free 1+ backend_failed\nfree A\ndrain -> backend_failed").held());
}

TEST(scenario_run, a_scenario_of_settings_alone_is_run) {
  EXPECT_EQ(run("env ARC_ALLOC_CACHE_MAX_MB=64").expectations_checked, 1U);
}

TEST(scenario_run, refused_frees_leave_the_block_as_it_was) {
  EXPECT_TRUE(run("alloc A 4MiB\nfree A 8MiB -> invalid_argument\nexpect blocks_live == 1\nfree A 4MiB\n"
                  "free A -> double_free\nfree B -> unknown_pointer\nfree B @s1 -> unknown_pointer\n"
                  "free B 4KiB -> unknown_pointer\nuse B @s1 -> unknown_pointer\nuse A @s1 -> double_free")
                  .held());
}

TEST(scenario_run, what_is_live_and_busy_at_the_end_comes_back) {
  EXPECT_TRUE(run("alloc A 64MiB @s1\nalloc B 3KiB @s2\nuse A @s2\nbusy @s2\nbusy @s1\nalloc C 0").held());
}

TEST(scenario_run, an_operation_without_its_block_is_a_failure) {
  scenario what = parse_scenario("f.ops", "alloc A 1\nfree A\n");
  // What no text can say, since the parser refuses it.
  what.operations.push_back({7, status::ok, act::use{"A", {}}});
  what.operations.push_back({8, status::ok, act::deallocate{"B", {}, {}}});
  const scenario_result result = run_scenario(what);
  ASSERT_EQ(result.failed.size(), 2U);
  EXPECT_EQ(result.failed[0].line, 7U);
  EXPECT_EQ(result.failed[1].line, 8U);
}

}  // namespace
}  // namespace arcalloc::trace
