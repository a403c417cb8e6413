// SPDX-License-Identifier: Apache-2.0
// Graphs after their windows: launches, the end of a graph, and graphs that share a pool group.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "capturing_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::capturing_engine;
using testing::in_group;
using testing::kib;
using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;

TEST(graph, launched_again_and_again_over_traffic_finds_its_memory_as_it_was) {
  capturing_engine at(capped(8 * mib));
  at.begin(s1, in_group(3));
  const block output = at.get(40 * kib, s1);
  for (int i = 1; i < 9; ++i) at.put(at.get(static_cast<std::uint64_t>(i) * 300 * kib, s1));
  const graph_id made = at.end(s1);
  for (int turn = 0; turn < 40; ++turn) {
    at.launch(made, s1);
    std::vector<block> eager;
    for (int i = 1; i < 9; ++i)
      eager.push_back(at.get(static_cast<std::uint64_t>(i) * 200 * kib, turn % 2 == 0 ? s1 : s2));
    for (const block& piece : eager) at.put(piece);
    EXPECT_EQ(turn % 3 == 0 ? at.memory->drain() : at.memory->trim(mib), status::ok);
    at.check();
  }
  at.let_go(made);
  at.put(output);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
}

TEST(release_graph, waits_for_launches_on_other_streams) {
  capturing_engine at;
  at.begin(s1);
  const block scratch = at.get(30 * mib, s1);
  at.put(scratch);
  const block output = at.get(3000, s1);
  const graph_id made = at.end(s1);
  at.launch(made, s2);
  at.device.busy(s2);
  at.let_go(made);
  EXPECT_EQ(at.now().pinned_bytes, 0U);
  EXPECT_EQ(at.now().pending_bytes, 30 * mib);
  EXPECT_NE(at.get(30 * mib, s1).data(), scratch.data());
  at.put(output);
  EXPECT_EQ(at.now().pending_bytes, 30 * mib + 3072);
  at.check();
  at.device.finish(s2);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  at.check();
}

TEST(release_graph, waits_for_its_launches_also_where_another_graph_pins_the_block) {
  for (const bool idle : {false, true}) {
    capturing_engine at;
    const block weights = at.get(64 * mib, s1);
    std::vector<graph_id> made;
    for (const std::uint64_t group : {std::uint64_t{1}, std::uint64_t{2}}) {
      at.begin(s1, in_group(group));
      at.device.use(s1, weights.data(), 64 * mib);
      EXPECT_EQ(at.memory->note_use(weights, s1), status::ok);
      made.push_back(at.end(s1));
    }
    if (idle) at.put(weights);
    at.device.busy(s2);
    at.launch(made[0], s2);
    at.let_go(made[0]);
    if (!idle) at.put(weights);
    EXPECT_EQ(at.now().pending_bytes, 64 * mib);
    at.begin(s3, in_group(2));
    EXPECT_NE(at.get(64 * mib, s3).data(), weights.data()) << "the first graph may still run on it";
    (void)at.end(s3);
    at.let_go(made[1]);
    EXPECT_NE(at.get(64 * mib, s1).data(), weights.data());
    at.check();
    at.device.finish(s2);
    EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
    EXPECT_EQ(at.now().pending_bytes, 0U);
    EXPECT_EQ(at.get(64 * mib, s1).data(), weights.data());
    at.check();
  }
}

TEST(release_graph, waits_for_launches_on_each_of_several_streams) {
  capturing_engine at;
  at.begin(s1);
  const block scratch = at.get(30 * mib, s1);
  at.put(scratch);
  const graph_id made = at.end(s1);
  for (const stream on : {s2, s3}) {
    at.launch(made, on);
    at.device.busy(on);
  }
  at.let_go(made);
  for (const stream on : {s2, s3}) {
    EXPECT_EQ(at.now().pending_bytes, 30 * mib);
    EXPECT_NE(at.get(30 * mib, s1).data(), scratch.data());
    at.device.finish(on);
  }
  EXPECT_EQ(at.get(30 * mib, s1).data(), scratch.data());
  at.check();
}

TEST(release_graph, waits_for_a_launch_that_came_after_the_free_on_its_stream) {
  capturing_engine at;
  at.begin(s1);
  const block scratch = at.get(30 * mib, s1);
  const graph_id made = at.end(s1);
  at.device.use(s2, scratch.data(), 30 * mib);
  at.device.handed_back(scratch.data());
  EXPECT_EQ(at.memory->deallocate(scratch, s2), status::ok);
  event so_far = event::none;
  EXPECT_EQ(at.device.record_event(s2, so_far), status::ok);
  EXPECT_EQ(at.device.wait_event(so_far), status::ok);
  at.device.drop_event(so_far);
  at.launch(made, s2);
  at.device.busy(s2);
  at.let_go(made);
  EXPECT_EQ(at.now().pending_bytes, 30 * mib);
  EXPECT_NE(at.get(30 * mib, s1).data(), scratch.data());
  at.check();
  at.device.finish(s2);
  EXPECT_EQ(at.get(30 * mib, s1).data(), scratch.data());
  at.check();
}

TEST(release_graph, in_a_window_needs_no_event_on_the_captured_stream) {
  capturing_engine at;
  at.begin(s1);
  const block scratch = at.get(30 * mib, s1);
  at.put(scratch);
  const graph_id made = at.end(s1);
  at.launch(made, s2);
  at.begin(s2);
  const std::uint64_t events = at.device.calls(sim_call::record_event);
  at.let_go(made);
  EXPECT_EQ(at.device.calls(sim_call::record_event), events);
  EXPECT_EQ(at.now().pending_bytes, 30 * mib);
  (void)at.end(s2);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

std::uint64_t pinned_by_group(capturing_engine& at, const std::vector<std::uint64_t>& sizes, std::uint64_t group) {
  for (const std::uint64_t bytes : sizes) {
    at.begin(s1, in_group(group));
    at.put(at.get(bytes, s1));
    (void)at.end(s1);
  }
  return at.now().pinned_bytes;
}

std::vector<std::uint64_t> ascending() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 1; i <= 100; ++i) sizes.push_back(i * 700 * kib);
  return sizes;
}

TEST(pool_group, captured_in_descending_order_costs_the_largest) {
  capturing_engine at;
  std::vector<std::uint64_t> sizes = ascending();
  std::reverse(sizes.begin(), sizes.end());
  EXPECT_LE(pinned_by_group(at, sizes, 5), sizes.front() * 113 / 100);
  EXPECT_EQ(at.now().graphs_pinned, 100U);
  at.check();
}

TEST(pool_group, captured_ascending_after_a_prewarm_of_the_largest_costs_the_largest) {
  capturing_engine at;
  const std::vector<std::uint64_t> sizes = ascending();
  profile largest;
  ASSERT_TRUE(largest.add({s1, sizes.back(), 1}));
  EXPECT_EQ(at.memory->prewarm(largest), status::ok);
  EXPECT_LE(pinned_by_group(at, sizes, 5), sizes.back() * 113 / 100);
  EXPECT_EQ(at.now().capture_misses, 0U);
  at.check();
}

TEST(pool_group, captured_ascending_costs_a_block_per_class_and_a_second_pass_nothing) {
  capturing_engine at;
  const std::vector<std::uint64_t> sizes = ascending();
  const std::uint64_t once = pinned_by_group(at, sizes, 5);
  const std::uint64_t misses = at.now().capture_misses;
  EXPECT_LT(misses, 50U) << "classes, not sizes";
  EXPECT_EQ(pinned_by_group(at, sizes, 5), once);
  EXPECT_EQ(at.now().capture_misses, misses);
  for (std::uint64_t id = 1; id <= 200; ++id) at.let_go(graph_id{id});
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

TEST(pool_group, shares_nothing_with_another_group) {
  capturing_engine at;
  (void)pinned_by_group(at, {30 * mib}, 5);
  EXPECT_EQ(pinned_by_group(at, {30 * mib}, 6), 60 * mib);
  at.check();
}

TEST(pool_group, of_streams_whose_work_is_unfinished_waits_for_nobody) {
  capturing_engine at;
  const block eager = at.get(30 * mib, s2);
  at.begin(s2, in_group(5));
  at.put(eager);  // its eager work on s2 may be unfinished when a graph of the group runs
  (void)at.end(s2);
  at.device.busy(s2);
  at.begin(s1, in_group(5));
  const block other = at.get(30 * mib, s1);
  EXPECT_NE(other.data(), eager.data());
  at.put(other);
  (void)at.end(s1);
  at.device.finish(s2);
  at.begin(s3, in_group(5));
  EXPECT_EQ(at.get(29 * mib, s3).data() != nullptr, true);
  EXPECT_EQ(at.now().capture_misses, 1U);
  (void)at.end(s3);
  at.check();
}

/// What a window of the group on `from` left, handed to one on `to`.
block lent_block(capturing_engine& at, stream from, stream to) {
  at.begin(from, in_group(5));
  const block first = at.get(1000, from);
  at.put(first);
  (void)at.end(from);
  at.begin(to, in_group(5));
  const block again = at.get(1000, to);
  EXPECT_EQ(again.data(), first.data());
  return again;
}

TEST(pool_group, lends_a_block_of_another_stream_whose_work_there_is_waited_for) {
  capturing_engine at;
  const block lent = lent_block(at, s2, s1);
  at.abort(s1);
  at.let_go(graph_id{1});
  at.device.busy(s1);
  at.device.use(s1, lent.data(), 1000);
  at.put(lent);
  EXPECT_EQ(at.now().pending_bytes, 1024U);
  EXPECT_NE(at.get(1000, s2).data(), lent.data());
  at.check();
  at.device.finish(s1);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  at.check();
}

TEST(pool_group, lends_a_block_that_freed_in_the_window_is_pending_nowhere) {
  capturing_engine at;
  const block lent = lent_block(at, s2, s1);
  at.put(lent);
  EXPECT_EQ(at.now().pinned_bytes, 1024U);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  EXPECT_EQ(at.now().driver_events, 0U);
  (void)at.end(s1);
  at.check();
}

TEST(pool_group, lends_a_block_that_its_own_stream_in_the_same_window_does_not_get) {
  capturing_engine at;
  const block lent = lent_block(at, s2, s1);
  at.put(lent);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
  at.device.wait(s2, s1);
  at.device.use(s1, at.get(1000, s1).data(), 1000);
  EXPECT_NE(at.get(1000, s2).data(), lent.data()) << "s1 used it since s2 joined, for all that is known";
  (void)at.end(s1);
  at.check();
}

TEST(pool_group, lends_a_block_that_a_profile_counts_where_it_was_requested) {
  capturing_engine at;
  at.begin(s2, in_group(5));
  at.put(at.get(1000, s2));
  (void)at.end(s2);
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  const block own = at.get(1000, s2);
  at.begin(s1, in_group(5));
  for (int i = 0; i < 3; ++i) at.put(at.get(1000, s1));
  const block second = at.get(1000, s2);
  (void)at.end(s1);
  profile seen;
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  ASSERT_EQ(seen.entries().size(), 2U);
  EXPECT_EQ(seen.entries()[0].blocks, 2U) << "on s2";
  EXPECT_EQ(seen.entries()[1].blocks, 1U) << "on s1";
  at.put(own);
  at.put(second);
  at.check();
}

}  // namespace
}  // namespace arcalloc
