// SPDX-License-Identifier: Apache-2.0
// What the simulation writes, the program replays: the same calls, the same answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "drawing.hpp"
#include "scenario_lines.hpp"
#include "simulation.hpp"
#include "trace/scenario_run.hpp"
#include "trace/scenario_text.hpp"

namespace arcalloc {
namespace {

using testing::act;
using testing::operation;
using testing::plan;
using testing::simulation_result;

/// What of a drawn plan the language can say.
plan sayable(std::uint64_t seed) {
  plan drawn = testing::draw_plan(seed, 600);
  drawn.actors = 1;
  drawn.ends_with_blocks = false;
  drawn.device.allocates_beside_capture = true;
  drawn.settings.cache_in_prefill = false;
  // No free that is refused: a scenario takes the block to be out then, and back with the engine. Freed with the cache
  // off it is gone all the same, and refused for want of an event it was handed back already.
  drawn.settings.enabled = true;
  std::erase_if(drawn.operations, [](const operation& one) {
    return one.what == act::set_cached_max || one.what == act::set_capacity || one.what == act::set_enabled ||
           one.what == act::reset_peaks || one.what == act::end_actor ||
           (one.what == act::plan_fault && one.fault.call == sim_call::record_event) ||
           (one.what == act::begin_phase && one.how == static_cast<std::uint8_t>(phase::prefill));
  });
  for (operation& one : drawn.operations) one.actor = 0;
  return drawn;
}

TEST(replay, gives_every_call_the_answer_that_it_had_in_the_simulation) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const plan of = sayable(seed);
    const simulation_result came_to = testing::run_plan(of);
    ASSERT_EQ(came_to.violation, "") << "seed " << seed;
    const trace::scenario read = trace::parse_scenario("simulated.ops", testing::scenario_lines(of, came_to));
    EXPECT_GT(read.operations.size(), 100U);
    const trace::scenario_result replayed = trace::run_scenario(read);
    for (const trace::scenario_failure& one : replayed.failed) {
      ADD_FAILURE() << "seed " << seed << ", line " << one.line << ": " << one.expected << ", found " << one.found;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace arcalloc
