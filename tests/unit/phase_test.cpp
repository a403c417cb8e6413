// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <arcalloc/phase.hpp>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::mib;
using testing::small_world;

TEST(phase_policy, prefill_drains_once_and_bypasses) {
  EXPECT_EQ(enter_phase(phase::mixed, phase::prefill, {}), (phase_action{true, false, true}));
  EXPECT_EQ(enter_phase(phase::decode, phase::prefill, {}), (phase_action{true, false, true}));
  EXPECT_EQ(enter_phase(phase::prefill, phase::prefill, {}), (phase_action{false, false, true}));
}

TEST(phase_policy, decode_and_mixed_arm_the_cap_when_they_begin) {
  EXPECT_EQ(enter_phase(phase::prefill, phase::decode, {}), (phase_action{false, true, false}));
  EXPECT_EQ(enter_phase(phase::decode, phase::mixed, {}), (phase_action{false, true, false}));
  EXPECT_EQ(enter_phase(phase::decode, phase::decode, {}), phase_action{});
}

TEST(phase_policy, a_cache_that_is_off_bypasses_in_every_phase) {
  for (const phase next : {phase::mixed, phase::prefill, phase::decode}) {
    const phase_action action = enter_phase(phase::mixed, next, {false, false});
    EXPECT_TRUE(action.bypass);
    EXPECT_FALSE(action.arm_cap);
  }
}

TEST(phase_policy, prefill_can_be_cached_on_request) {
  EXPECT_EQ(enter_phase(phase::decode, phase::prefill, {true, true}), phase_action{});
}

TEST(phase, prefill_gives_everything_back_and_every_block_the_way_it_came) {
  small_world at;
  const block cached = at.get(3 * mib);
  const block kept = at.get(5000);
  at.put(cached);
  EXPECT_GT(at.now().cached_bytes, 0U);
  ASSERT_EQ(at.memory->begin_phase(phase::prefill), status::ok);
  EXPECT_EQ(at.now().cached_bytes, 0U);
  const block direct = at.get(700);
  counters said = at.now();
  EXPECT_EQ(said.bypassed_phase, 1U);
  EXPECT_EQ(said.bypassed, 1U);
  at.put(kept);  // made by the cache: its segment becomes idle and goes back at once
  EXPECT_EQ(at.now().cached_bytes, 0U);
  ASSERT_EQ(at.memory->begin_phase(phase::decode), status::ok);
  at.put(direct);  // made without the cache: to the driver, though the cache is on again
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  EXPECT_EQ(at.device.lent_bytes, 0U);
  at.check();
}

TEST(phase, leftovers_of_a_prefill_do_not_cost_the_decode_its_hits) {
  small_world at(testing::capped(4096 * mib));
  for (int i = 0; i < 8; ++i) {
    const block pieces[] = {at.get(512 * mib), at.get(384 * mib), at.get(256 * mib)};
    for (const block& piece : pieces) at.put(piece);
  }
  const std::uint64_t cached = at.now().cached_bytes;
  EXPECT_EQ(cached, 1152 * mib);
  ASSERT_EQ(at.memory->begin_phase(phase::prefill), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  ASSERT_EQ(at.memory->begin_phase(phase::decode), status::ok);
  std::uint64_t driver_calls = 0;
  for (int step = 0; step < 64; ++step) {
    block pieces[6];
    const std::uint64_t sizes[] = {8, 2, 2, 8, 22, 64};
    for (int i = 0; i < 6; ++i) pieces[i] = at.get(sizes[i] * mib);
    for (const block& piece : pieces) at.put(piece);
    at.memory->end_step();
    const std::uint64_t calls = at.device.allocate_calls + at.device.free_calls + at.device.queries;
    if (step > 0) {
      EXPECT_EQ(calls, driver_calls) << "step " << step;
    }
    driver_calls = calls;
  }
  at.check();
}

TEST(phase, a_wrong_value_is_refused) {
  small_world at;
  EXPECT_EQ(at.memory->begin_phase(static_cast<phase>(9)), status::invalid_argument);
  EXPECT_EQ(at.memory->current_phase(), phase::mixed);
}

TEST(enabled, switching_off_drains_and_every_request_is_a_driver_call) {
  small_world at;
  at.put(at.get(5000));
  ASSERT_EQ(at.memory->set_enabled(false), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  const std::uint64_t before = at.device.allocate_calls;
  for (int i = 0; i < 10; ++i) at.put(at.get(5000));
  EXPECT_EQ(at.device.allocate_calls - before, 10U);
  EXPECT_EQ(at.now().bypassed_disabled, 10U);
  EXPECT_EQ(at.now().held_bytes, 0U);
  ASSERT_EQ(at.memory->set_enabled(true), status::ok);
  at.put(at.get(5000));
  at.put(at.get(5000));
  EXPECT_EQ(at.now().stream_cache_hits, 1U);
  at.check();
}

}  // namespace
}  // namespace arcalloc
