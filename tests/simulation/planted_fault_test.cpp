// SPDX-License-Identifier: Apache-2.0
// The simulation over a library with a fault in it: CMakeLists.txt has pending.cpp believe that work on another stream
// has finished once the driver was asked. It must be found, shrunk, written, and fail in the same way when replayed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "drawing.hpp"
#include "reproduction.hpp"
#include "scenario_lines.hpp"
#include "shrinking.hpp"
#include "simulation.hpp"
#include "small_worlds.hpp"
#include "trace/scenario_run.hpp"
#include "trace/scenario_text.hpp"

namespace arcalloc {
namespace {

using testing::plan;

constexpr const char* conviction = "is finished or ordered before it";

bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// The first of the drawn plans that fails by it, and can be said in the language.
plan failing_plan() {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    plan drawn = testing::draw_plan(seed, 600);
    if (drawn.actors == 1 && says(testing::run_plan(drawn).violation, conviction)) return drawn;
  }
  ADD_FAILURE() << "no seed finds it";
  return {};
}

bool fails_so(const trace::scenario_result& replayed) {
  return std::any_of(replayed.failed.begin(), replayed.failed.end(),
                     [](const trace::scenario_failure& one) { return says(one.found, conviction); });
}

TEST(planted_fault, is_found_and_shrunk_to_a_handful_of_lines_that_fail_in_the_same_way) {
  const testing::shrunk_plan shrunk = testing::shrink(failing_plan(), testing::judge_apart);
  EXPECT_LE(shrunk.smallest.operations.size(), 6U);
  const std::string lines = testing::scenario_lines(shrunk.smallest, testing::run_plan(shrunk.smallest));
  const trace::scenario_result replayed = trace::run_scenario(trace::parse_scenario("shrunk.ops", lines));
  EXPECT_TRUE(fails_so(replayed)) << lines;
}

TEST(planted_fault, is_written_where_the_environment_says) {
  ASSERT_EQ(::setenv("ARCALLOC_SIMULATION_OUT", ::testing::TempDir().c_str(), 1), 0);
  const std::string told = testing::write_reproduction(failing_plan(), "planted_fault");
  ::unsetenv("ARCALLOC_SIMULATION_OUT");
  const std::string path = ::testing::TempDir() + "/planted_fault.ops";
  EXPECT_TRUE(says(told, "written to ")) << told;
  EXPECT_TRUE(says(told, path.c_str())) << told;
  EXPECT_TRUE(fails_so(trace::run_scenario(trace::read_scenario(path)))) << told;
}

TEST(planted_fault, is_found_in_a_small_world) {
  plan empty;
  empty.device.memory_bytes = 6 << 20;
  testing::small_worlds all(empty, 5);
  all.walk();
  EXPECT_TRUE(says(all.violation(), "with unfinished work of stream")) << all.violation();
}

}  // namespace
}  // namespace arcalloc
