// SPDX-License-Identifier: Apache-2.0
// A failing plan becomes a handful of lines, whatever it was drawn with.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "drawing.hpp"
#include "reproduction.hpp"
#include "scenario_lines.hpp"
#include "shrinking.hpp"
#include "simulation.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::act;
using testing::mib;
using testing::operation;
using testing::plan;
using testing::shrink;
using testing::simulation_result;

/// An invariant that does not hold: no request above 3 MiB is served once there was a drain.
std::string blame_large_requests_after_a_drain(const plan& of) {
  const simulation_result came_to = testing::run_plan(of);
  bool drained = false;
  for (std::size_t i = 0; i < came_to.played; ++i) {
    const operation& one = of.operations[i];
    drained = drained || one.what == act::drain;
    const bool served = one.what == act::allocate && came_to.answers[i] == status::ok;
    if (drained && served && one.bytes > 3 * mib) {
      return std::string("a request of ").append(std::to_string(one.bytes)).append(" follows a drain");
    }
  }
  return came_to.violation;
}

/// The first seed from here on whose plan is blamed.
plan blamed_plan(std::uint64_t seed, std::uint64_t steps) {
  for (;; ++seed) {
    plan drawn = testing::draw_plan(seed, steps);
    if (!blame_large_requests_after_a_drain(drawn).empty()) return drawn;
  }
}

TEST(shrinking, leaves_the_two_operations_that_matter) {
  for (const std::uint64_t seed : {1U, 100U, 200U, 300U}) {
    const testing::shrunk_plan shrunk = shrink(blamed_plan(seed, 600), blame_large_requests_after_a_drain);
    const std::vector<operation>& left = shrunk.smallest.operations;
    ASSERT_EQ(left.size(), 2U) << "seed " << seed;
    EXPECT_EQ(left[0].what, act::drain);
    EXPECT_EQ(left[1].what, act::allocate);
    EXPECT_EQ(left[1].bytes, 4 * mib) << "the plainest size that is blamed";
    EXPECT_EQ(shrunk.smallest.actors, 1U);
    EXPECT_EQ(shrunk.violation, "a request of 4194304 follows a drain");
  }
}

TEST(shrinking, keeps_to_its_budget_and_still_has_a_plan_that_fails) {
  const plan failing = blamed_plan(1, 600);
  const testing::shrunk_plan shrunk =
      shrink(failing, blame_large_requests_after_a_drain, {5, std::chrono::seconds{20}});
  EXPECT_EQ(shrunk.replays, 5U);
  EXPECT_LE(shrunk.smallest.operations.size(), failing.operations.size());
  EXPECT_EQ(blame_large_requests_after_a_drain(shrunk.smallest), shrunk.violation);
}

TEST(shrinking, any_part_of_a_plan_is_a_plan_that_runs_clean) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    plan drawn = testing::draw_plan(seed, 400);
    // Every third operation, so that most blocks are named by what is left and are not there.
    std::vector<operation> part;
    for (std::size_t i = seed % 3; i < drawn.operations.size(); i += 3) part.push_back(drawn.operations[i]);
    drawn.operations = part;
    EXPECT_EQ(testing::run_plan(drawn).violation, "") << "seed " << seed;
  }
}

TEST(reproduction, of_a_crash_is_told_with_what_was_said_on_stderr) {
  EXPECT_EQ(testing::say_apart([] { return std::string("all is well"); }), "all is well");
  const auto crash = []() -> std::string {
    std::fputs("last words\n", stderr);
    std::abort();
  };
  EXPECT_EQ(testing::say_apart(crash), "crashed, signal 6: last words");
}

TEST(scenario_lines, say_each_call_with_its_answer_and_name_what_they_cannot_say) {
  plan of;
  of.device.memory_bytes = 24 * mib;
  of.device.granularity = 65536;
  of.settings.capacity_bytes = 8 * mib;
  of.settings.cached_bytes_max = {bound_mode::explicit_bytes, 0, false};
  const auto add = [&](act what) -> operation& {
    of.operations.emplace_back();
    of.operations.back().what = what;
    return of.operations.back();
  };
  const auto add_allocate = [&](std::uint32_t block, std::uint64_t bytes, stream on) {
    operation& one = add(act::allocate);
    one.block = block;
    one.bytes = bytes;
    one.on = on;
  };
  add(act::plan_fault).fault = {sim_call::free, 2, true, status::backend_failed};
  add_allocate(1, 4 * mib, stream{1});
  add_allocate(2, 20 * mib, stream{2});
  add(act::busy).on = stream{2};
  operation& elsewhere = add(act::free_block);
  elsewhere.block = 1;
  elsewhere.how = static_cast<std::uint8_t>(testing::way::handle_on);
  elsewhere.on = stream{2};
  add(act::free_block).block = 2;  // never there: it does nothing, and is not said
  add(act::reset_peaks);
  operation& twice = add(act::misuse);
  twice.how = static_cast<std::uint8_t>(testing::mistake::second_free);
  twice.block = 1;
  const simulation_result came_to = testing::run_plan(of);
  ASSERT_EQ(came_to.violation, "");
  EXPECT_EQ(testing::scenario_lines(of, came_to),
            "# nothing is wrong\n"
            "device memory=24MiB granularity=64KiB\n"
            "option cached_bytes_max=0\n"
            "option capacity_bytes=8MiB\n"
            "finish @s0\n"
            "fault free 2+ backend_failed\n"
            "alloc B1 4MiB @s1\n"
            "alloc B2 20MiB @s2 -> capacity_exceeded\n"
            "busy @s2\n"
            "use B1 @s2\n"
            "free B1 @s2\n"
            "# the language cannot say: reset_peaks\n"
            "free B1 -> double_free\n");
}

}  // namespace
}  // namespace arcalloc
