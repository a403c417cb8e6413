// SPDX-License-Identifier: Apache-2.0
// Seeds by the hundred, each twice: the second run must make the same calls and get the same answers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "drawing.hpp"
#include "run_seed.hpp"

namespace arcalloc {
namespace {

using testing::first_seed;
using testing::run_seed;

TEST(simulation, keeps_every_invariant_over_its_seeds) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    run_seed(seed, 600);
    if (HasFatalFailure()) return;
  }
}

TEST(simulation, of_the_commits_own_seeds_is_clean) {
  for (std::uint64_t i = 0; i < 40; ++i) {
    run_seed(first_seed() + i, 600);
    if (HasFatalFailure()) return;
  }
}

TEST(simulation, of_the_seeds_that_once_failed_is_clean) {
  // 116238541: a thread's stamps lagged behind an event's, and new work passed for finished. Seeds are drawn otherwise
  // since; what it had found is a test of its own.
  // 1, 730505321: marks from when there were two threads raised the peaks of the one that was left.
  // 115348375: what two open windows of a group had used went to a third stream. 115348107, 115348753: a profile
  // counted a block where it did not come from. 279763713: a thread that took a record over stamped below what was
  // there. 279763520: the model did not know that a window hands out what a group once moved.
  struct kept {
    std::uint64_t seed;
    std::uint64_t steps;
  };
  for (const kept& one : {kept{116238541, 600}, kept{1, 600}, kept{730505321, 600}, kept{115348375, 10000},
                          kept{115348107, 10000}, kept{279763713, 10000}, kept{279763520, 10000},
                          kept{115348753, 10000}, kept{9000467, 10000}, kept{767169891, 10000}}) {
    run_seed(one.seed, one.steps);
    if (HasFatalFailure()) return;
  }
}

/// Every rung of the ladder moves a counter, so what the counters say is what the seeds reach.
TEST(simulation, reaches_every_counter_that_this_version_moves) {
  const std::set<std::string> unmoved = {"failed_invalid_argument", "failed_backend_unavailable",
                                         "failed_shutting_down"};
  std::set<std::string> reached;
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const counters last = testing::run_plan(testing::draw_plan(seed, 600)).last;
    for (std::size_t i = 0; i < count; ++i) {
      if (last.*fields[i].value != 0) reached.insert(fields[i].name);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NE(reached.count(fields[i].name), unmoved.count(fields[i].name)) << fields[i].name;
  }
}

TEST(simulation, draws_every_operation_and_every_number_of_actors) {
  std::set<testing::act> drawn;
  std::set<std::uint32_t> actors;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const testing::plan of = testing::draw_plan(seed, 600);
    actors.insert(of.actors);
    for (const testing::operation& one : of.operations) drawn.insert(one.what);
  }
  EXPECT_EQ(drawn.size(), testing::act_count);
  EXPECT_EQ(actors, (std::set<std::uint32_t>{1, 2, 3, 4}));
}

/// A promise that nothing keeps is one that nobody judged.
TEST(simulation, asks_windows_for_what_verified_profiles_promise) {
  std::uint64_t kept = 0;
  std::uint64_t with_captures = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const testing::simulation_result came_to = testing::run_plan(testing::draw_plan(seed, 600));
    kept += came_to.promises_kept;
    with_captures += came_to.last.capture_hits + came_to.last.capture_misses == 0 ? 0 : 1;
  }
  EXPECT_GT(kept, 30U);
  EXPECT_GT(with_captures, 8U);
  EXPECT_LT(with_captures, 24U) << "most runs are without, and cheap";
}

TEST(simulation, the_seed_of_the_environment) {
  const char* const seed = std::getenv("ARCALLOC_SIMULATION_SEED");
  if (seed == nullptr) GTEST_SKIP() << "ARCALLOC_SIMULATION_SEED is not set: there is no failure to run again";
  const char* const steps = std::getenv("ARCALLOC_SIMULATION_STEPS");
  testing::run_seed_apart(std::strtoull(seed, nullptr, 10),
                          steps == nullptr ? 10000 : std::strtoull(steps, nullptr, 10));
}

}  // namespace
}  // namespace arcalloc
