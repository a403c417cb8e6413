// SPDX-License-Identifier: Apache-2.0
// Capture windows: what is pinned and for how long, what a window may take, and what waits for its end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "capturing_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::capturing_engine;
using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
using testing::small_world;

TEST(capture, pins_what_the_window_freed_while_the_graph_is_there) {
  capturing_engine at;
  at.begin(s1);
  const block scratch = at.get(32 * mib, s1);
  at.put(scratch);
  at.check();
  const graph_id made = at.end(s1);
  EXPECT_EQ(at.now().graphs_pinned, 1U);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().pinned_bytes, 32 * mib);
  EXPECT_EQ(at.now().reserved_bytes, 32 * mib);
  EXPECT_NE(at.get(32 * mib, s1).data(), scratch.data());
  at.check();
  at.let_go(made);
  EXPECT_EQ(at.now().pinned_bytes, 0U);
  EXPECT_EQ(at.now().graphs_pinned, 0U);
  EXPECT_EQ(at.get(32 * mib, s1).data(), scratch.data());
  at.check();
}

TEST(capture, reuses_within_the_window_what_the_window_freed) {
  capturing_engine at;
  at.begin(s1);
  const void* first = nullptr;
  for (int turn = 0; turn < 3; ++turn) {
    const block scratch = at.get(1024 * mib, s1);
    if (turn == 0) first = scratch.data();
    EXPECT_EQ(scratch.data(), first);
    at.put(scratch);
  }
  (void)at.end(s1);
  EXPECT_EQ(at.now().pinned_bytes, 1024 * mib);
  EXPECT_EQ(at.now().capture_misses, 1U);
  EXPECT_EQ(at.now().capture_hits, 2U);
  at.check();
}

TEST(capture, cuts_a_block_to_its_class_for_whatever_of_the_class_comes_next) {
  capturing_engine at;
  at.put(at.get(16 * mib, s1));
  at.begin(s1);
  const block scratch = at.get(3 * mib + 1, s1);
  EXPECT_EQ(at.now().allocated_bytes, 13 * mib / 4);
  at.put(scratch);
  const block longer = at.get(13 * mib / 4, s1);
  EXPECT_EQ(longer.data(), scratch.data());
  at.put(longer);
  (void)at.end(s1);
  EXPECT_EQ(at.now().pinned_bytes, 13 * mib / 4);
  EXPECT_EQ(at.now().capture_misses, 0U);
  at.check();
}

TEST(capture, cuts_a_block_to_its_size_where_its_class_has_no_room) {
  capturing_engine at;
  at.put(at.get(4 * mib, s1));
  const block kept = at.get(2 * mib + mib / 16, s1);
  at.begin(s1);
  const block rest = at.get(2 * mib - mib / 16, s1);  // its class, of 2 MiB, would not fit behind the other
  EXPECT_EQ(at.now().capture_misses, 0U);
  EXPECT_EQ(at.now().slack_bytes, 0U);
  at.put(rest);
  (void)at.end(s1);
  at.put(kept);
  at.check();
}

TEST(capture, reuses_blocks_that_the_devices_granule_made_larger_than_their_class) {
  options exact;
  exact.classes = geometry::exact;
  sim_options coarse;
  coarse.granularity = 4096;
  capturing_engine at(exact, coarse);
  at.begin(s1);
  for (int turn = 0; turn < 3; ++turn) {
    at.put(at.get(512, s1));
    at.put(at.get(1000, s1));
    at.put(at.get(5000, s1));
  }
  const graph_id made = at.end(s1);
  EXPECT_EQ(at.now().capture_misses, 3U);
  EXPECT_EQ(at.now().capture_hits, 6U);
  EXPECT_EQ(at.now().pinned_bytes, (1U + 1U + 2U) * 4096);
  EXPECT_EQ(at.memory->release_graph(made), status::ok);
  at.check();
}

TEST(capture, pins_small_blocks_one_by_one) {
  capturing_engine at;
  const block eager = at.get(3000, s1);
  at.begin(s1);
  const block captured = at.get(3000, s1);
  EXPECT_EQ(at.now().capture_hits, 1U) << "the stream's own idle memory serves its window";
  at.put(captured);
  const graph_id made = at.end(s1);
  EXPECT_EQ(at.now().pinned_bytes, 3072U);
  at.put(eager);
  EXPECT_EQ(at.now().pinned_bytes, 3072U);
  for (int i = 0; i < 9; ++i) EXPECT_NE(at.get(3000, s1).data(), captured.data());
  at.check();
  at.let_go(made);
  EXPECT_EQ(at.get(3000, s1).data(), captured.data());
  at.check();
}

TEST(capture, keeps_a_block_that_outlives_the_window_for_its_graph) {
  capturing_engine at;
  at.begin(s1);
  const block output = at.get(3000, s1);
  const graph_id made = at.end(s1);
  EXPECT_EQ(at.now().pinned_bytes, 0U);
  EXPECT_EQ(at.now().allocated_bytes, 3072U);
  at.put(output);
  EXPECT_EQ(at.memory->deallocate(output), status::double_free);
  EXPECT_EQ(at.now().pinned_bytes, 3072U);
  at.let_go(made);
  EXPECT_EQ(at.memory->release_graph(made), status::invalid_argument);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

TEST(capture, pins_what_it_was_told_of) {
  capturing_engine at;
  const block weights = at.get(20 * mib, s2);
  const block early = at.get(3000, s1);
  at.begin(s1);
  EXPECT_EQ(at.memory->note_use(weights, s1), status::ok);
  at.put(early);
  const graph_id made = at.end(s1);
  at.put(weights);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().pinned_bytes, 20 * mib + 3072);
  at.check();
  at.let_go(made);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

TEST(capture, refuses_what_makes_no_sense) {
  capturing_engine at;
  graph_id none = graph_id{7};
  EXPECT_EQ(at.memory->end_capture(s1, none), status::invalid_argument);
  EXPECT_EQ(none, graph_id::none);
  EXPECT_EQ(at.memory->abort_capture(s1), status::invalid_argument);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::invalid_argument);
  EXPECT_EQ(at.memory->release_graph(graph_id{1}), status::invalid_argument);
  EXPECT_EQ(at.memory->note_replay(graph_id{1}, s1), status::invalid_argument);
  EXPECT_EQ(at.memory->begin_capture(s1, {static_cast<capture_policy>(9), pool_group::none}), status::invalid_argument);
  EXPECT_FALSE(at.memory->is_capturing(s1));
  at.begin(s1);
  EXPECT_TRUE(at.memory->is_capturing(s1));
  EXPECT_EQ(at.memory->begin_capture(s1), status::invalid_argument);
  EXPECT_EQ(at.memory->end_stream(s1), status::invalid_argument);
  EXPECT_EQ(at.memory->prewarm({}), status::invalid_argument);
  at.begin(s2);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::invalid_argument);
  EXPECT_EQ(at.memory->join_capture(s3, s1), status::ok);
  EXPECT_EQ(at.memory->join_capture(s3, s1), status::ok);
  EXPECT_EQ(at.memory->abort_capture(s3), status::invalid_argument);
  at.abort(s2);
  at.abort(s1);
  EXPECT_FALSE(at.memory->is_capturing(s3));
  at.check();
}

TEST(capture, aborted_a_hundred_times_leaves_nothing) {
  capturing_engine at;
  for (int turn = 0; turn < 100; ++turn) {
    at.begin(s1);
    const block piece = at.get((turn % 2 == 0 ? 3 : 30) * mib, s1);
    at.abort(s1);
    at.put(piece);
    EXPECT_EQ(at.memory->drain(), status::ok);
    EXPECT_EQ(at.now().reserved_bytes, 0U);
  }
  at.put(at.get(3 * mib, s1));
  EXPECT_EQ(at.now().graphs_pinned, 0U);
  at.check();
}

TEST(capture, under_refuse_misses_by_name_and_goes_on) {
  capturing_engine at;
  at.put(at.get(3000, s1));
  at.begin(s1, {capture_policy::refuse, pool_group::none});
  block piece;
  EXPECT_EQ(at.try_get(393216, s1, piece), status::ok);
  EXPECT_EQ(at.try_get(20 * mib, s1, piece), status::capture_miss);
  EXPECT_EQ(at.try_get(20 * mib - 1, s1, piece), status::capture_miss);
  capture_miss_record misses[4];
  ASSERT_EQ(at.memory->read_capture_misses(misses, 4), 1U);
  EXPECT_EQ(misses[0].requested_bytes, 20 * mib);
  EXPECT_EQ(misses[0].on, s1);
  EXPECT_EQ(misses[0].count, 2U);
  EXPECT_EQ(at.now().failed_capture_miss, 2U);
  EXPECT_EQ(at.now().capture_misses, 2U);
  EXPECT_EQ(at.now().driver_allocs, 1U);
  EXPECT_EQ(at.try_get(3000, s1, piece), status::ok);
  (void)at.end(s1);
  EXPECT_EQ(at.try_get(20 * mib, s1, piece), status::ok);
  at.check();
}

TEST(capture, follows_the_setting_where_the_window_says_nothing) {
  options settings;
  settings.capture_miss = capture_policy::refuse;
  capturing_engine at(settings);
  at.begin(s1);
  block piece;
  EXPECT_EQ(at.try_get(3000, s1, piece), status::capture_miss);
  at.abort(s1);
  at.begin(s1, {capture_policy::grow, pool_group::none});
  EXPECT_EQ(at.try_get(3000, s1, piece), status::ok);
  at.abort(s1);
  at.check();
}

TEST(capture, out_of_memory_frees_nothing_and_asks_nothing) {
  sim_options small;
  small.memory_bytes = 128 * mib;
  capturing_engine at(capped(128 * mib), small);
  at.put(at.get(64 * mib, s1));
  at.begin(s1);
  const std::uint64_t queries = at.device.calls(sim_call::query_memory);
  block piece;
  EXPECT_EQ(at.try_get(96 * mib, s1, piece), status::device_out_of_memory);
  EXPECT_EQ(at.now().driver_frees, 0U);
  EXPECT_EQ(at.device.calls(sim_call::query_memory), queries);
  EXPECT_EQ(at.try_get(64 * mib, s1, piece), status::ok) << "the window is still good";
  const graph_id made = at.end(s1);
  at.put(piece);
  at.let_go(made);
  EXPECT_EQ(at.try_get(96 * mib, s1, piece), status::ok);
  at.check();
}

TEST(capture, puts_off_what_goes_to_the_driver) {
  capturing_engine at(capped(64 * mib));
  const block large = at.get(40 * mib, s2);
  const block larger = at.get(60 * mib, s2);
  at.put(large);
  at.begin(s1);
  at.put(larger);  // 100 MiB idle, 64 allowed
  EXPECT_EQ(at.now().cached_bytes, 100 * mib);
  EXPECT_EQ(at.memory->trim(8 * mib), status::ok);
  EXPECT_EQ(at.memory->set_cached_bytes_max({bound_mode::explicit_bytes, 50 * mib}), status::ok);
  EXPECT_EQ(at.memory->set_capacity_bytes(80 * mib), status::capacity_exceeded);
  EXPECT_EQ(at.now().driver_frees, 0U);
  EXPECT_GE(at.now().capture_deferred, 3U);
  at.check();
  (void)at.end(s1);
  EXPECT_EQ(at.now().cached_bytes, 0U) << "trim to 8 MiB leaves neither";
  EXPECT_EQ(at.now().driver_frees, 2U);
  at.check();
}

TEST(capture, puts_off_a_drain_and_the_end_of_the_cache) {
  capturing_engine at;
  const block piece = at.get(3000, s2);
  at.put(piece);
  const block out = at.get(30 * mib, s2);
  at.begin(s1);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.memory->set_enabled(false), status::ok);
  at.put(out);
  EXPECT_EQ(at.memory->begin_phase(phase::prefill), status::ok);
  EXPECT_EQ(at.now().driver_frees, 0U);
  at.check();
  at.abort(s1);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

TEST(capture, puts_off_the_free_of_a_block_made_while_the_cache_was_off) {
  capturing_engine at;
  EXPECT_EQ(at.memory->set_enabled(false), status::ok);
  const block direct = at.get(3000, s2);
  at.begin(s1);
  at.put(direct);
  EXPECT_EQ(at.now().driver_frees, 0U);
  EXPECT_EQ(at.now().pending_bytes, 3072U);
  at.check();
  (void)at.end(s1);
  EXPECT_EQ(at.now().driver_frees, 1U);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  at.check();
}

TEST(capture, leaves_other_streams_their_cache_and_the_driver) {
  capturing_engine at;
  at.put(at.get(3000, s2));
  at.begin(s1);
  const block hit = at.get(3000, s2);
  const block miss = at.get(30 * mib, s2);
  EXPECT_EQ(at.now().capture_hits + at.now().capture_misses, 0U);
  at.put(hit);
  at.put(miss);
  const graph_id made = at.end(s1);
  EXPECT_EQ(at.now().pinned_bytes, 0U);
  at.let_go(made);
  at.check();
}

TEST(capture, takes_nothing_from_other_streams_and_asks_nobody) {
  capturing_engine at;
  at.put(at.get(30 * mib, s2));  // finished, so rung 4 would serve it outside of a window
  at.begin(s1);
  const block own = at.get(30 * mib, s1);
  EXPECT_EQ(at.now().cross_stream_hits, 0U);
  EXPECT_EQ(at.now().capture_misses, 1U);
  at.put(own);
  (void)at.end(s1);
  at.check();
}

TEST(capture, of_a_joined_stream_is_the_same_window) {
  capturing_engine at;
  at.begin(s1);
  at.device.wait(s2, s1);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
  const block first = at.get(30 * mib, s1);
  at.put(first);
  const block second = at.get(30 * mib, s2);
  EXPECT_NE(second.data(), first.data()) << "work of the two streams in the graph is not ordered";
  at.put(second);
  EXPECT_EQ(at.get(30 * mib, s1).data(), first.data());
  const graph_id made = at.end(s1);
  EXPECT_FALSE(at.memory->is_capturing(s2));
  EXPECT_EQ(at.now().pinned_bytes, 30 * mib);
  at.let_go(made);
  at.check();
}

TEST(capture, does_not_hand_on_within_the_window_what_a_joined_stream_used) {
  capturing_engine at;
  at.begin(s1);
  at.device.wait(s2, s1);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
  const block shared = at.get(3000, s1);
  EXPECT_EQ(at.memory->note_use(shared, s2), status::ok);
  at.put(shared);
  EXPECT_NE(at.get(3000, s1).data(), shared.data());
  (void)at.end(s1);
  at.check();
}

TEST(capture, of_a_stream_that_used_a_block_before_records_its_event_afterwards) {
  capturing_engine at;
  const block piece = at.get(3000, s2);
  at.use(piece, 3000, s1);
  at.begin(s1);
  const std::uint64_t events = at.device.calls(sim_call::record_event);
  at.put(piece);  // on s2, which is not captured
  EXPECT_EQ(at.device.calls(sim_call::record_event), events);
  EXPECT_EQ(at.now().pending_bytes, 3072U);
  at.abort(s1);
  EXPECT_EQ(at.device.calls(sim_call::record_event), events + 1);
  EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  at.check();
}

TEST(capture, opens_when_other_threads_are_out_of_the_driver) {
  small_world at;
  at.put(at.get(30 * mib, s2));
  std::thread other;
  bool in_driver = false;
  std::atomic<bool> opened{false};
  at.device.before_free = [&] {
    in_driver = true;
    std::thread opener([&] {
      EXPECT_EQ(at.memory->begin_capture(s1), status::ok);
      opened = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(opened) << "a driver free was under way";
    other = std::move(opener);
  };
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_TRUE(in_driver);
  other.join();
  EXPECT_TRUE(opened);
  at.device.before_free = nullptr;
  EXPECT_EQ(at.memory->abort_capture(s1), status::ok);
  at.check();
}

TEST(capture, in_which_nothing_was_put_off_asks_the_driver_nothing_when_it_ends) {
  small_world at;
  at.put(at.get(30 * mib, s2));
  const std::uint64_t queries = at.device.queries;
  for (int turn = 0; turn < 3; ++turn) {
    graph_id made = graph_id::none;
    EXPECT_EQ(at.memory->begin_capture(s1), status::ok);
    if (turn == 2) {
      EXPECT_EQ(at.memory->begin_phase(phase::decode), status::ok);
    }
    EXPECT_EQ(at.device.queries, queries);
    EXPECT_EQ(turn == 0 ? at.memory->abort_capture(s1) : at.memory->end_capture(s1, made), status::ok);
    EXPECT_EQ(at.device.queries, queries + (turn == 2 ? 1 : 0)) << "the bound is armed when decode begins";
  }
  EXPECT_EQ(at.now().driver_frees, 0U);
  EXPECT_EQ(at.now().cached_bytes, 30 * mib);
  at.check();
}

TEST(capture, on_a_synchronous_device_pins_just_the_same) {
  small_world at;
  EXPECT_EQ(at.memory->begin_capture(s1), status::ok);
  const block scratch = at.get(3000, s1);
  at.put(scratch);
  graph_id made = graph_id::none;
  EXPECT_EQ(at.memory->end_capture(s1, made), status::ok);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().pinned_bytes, 3072U);
  EXPECT_NE(at.get(3000, s2).data(), scratch.data());
  EXPECT_EQ(at.memory->release_graph(made), status::ok);
  EXPECT_EQ(at.now().pinned_bytes, 0U);
  at.check();
}

TEST(capture, with_the_cache_off_pins_what_the_driver_gave) {
  options settings;
  settings.enabled = false;
  capturing_engine at(settings);
  at.begin(s1);
  const block scratch = at.get(3000, s1);
  at.put(scratch);
  const graph_id made = at.end(s1);
  EXPECT_EQ(at.now().pinned_bytes, 3072U);
  EXPECT_EQ(at.now().bypassed_disabled, 1U);
  at.let_go(made);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

}  // namespace
}  // namespace arcalloc
