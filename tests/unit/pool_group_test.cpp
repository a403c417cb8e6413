// SPDX-License-Identifier: Apache-2.0
// What a pool group hands on: to which window and stream, of which size, and what keeps a block from it.

#include <gtest/gtest.h>

#include <vector>

#include "capturing_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capturing_engine;
using testing::in_group;
using testing::kib;
using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
using testing::small_world;

/// A window of the group that leaves one idle block of this size, and its graph.
graph_id leave(capturing_engine& at, std::uint64_t group, stream on, std::uint64_t bytes,
               const void** address = nullptr) {
  at.begin(on, in_group(group));
  const block piece = at.get(bytes, on);
  if (address != nullptr) *address = piece.data();
  at.put(piece);
  return at.end(on);
}

/// One driver allocation per block, so that no shared segment has something else to offer.
options exact_sizes() {
  options settings;
  settings.classes = geometry::exact;
  return settings;
}

/// Where a window of the group gets this size.
const void* place_in(capturing_engine& at, std::uint64_t group, stream on, std::uint64_t bytes) {
  at.begin(on, in_group(group));
  const block piece = at.get(bytes, on);
  at.put(piece);
  (void)at.end(on);
  return piece.data();
}

TEST(pool_group, serves_every_size_up_to_that_of_its_block) {
  for (std::uint64_t steps = 1; steps <= 4096; steps = steps < 40 ? steps + 1 : steps + steps / 9) {
    capturing_engine at(exact_sizes());
    const void* idle = nullptr;
    (void)leave(at, 5, s1, steps * 512, &idle);
    const std::uint64_t block_bytes = at.now().pinned_bytes;
    for (std::uint64_t least = 1; least <= block_bytes; least += std::max<std::uint64_t>(block_bytes / 23, 1)) {
      ASSERT_EQ(place_in(at, 5, s1, least), idle) << least << " of " << block_bytes;
    }
    ASSERT_EQ(place_in(at, 5, s1, block_bytes), idle);
    ASSERT_NE(place_in(at, 5, s1, block_bytes + 1), idle);
    ASSERT_EQ(at.now().capture_misses + at.now().capture_hits, at.now().requests);
    at.check();
  }
}

TEST(pool_group, serves_from_the_smallest_block_that_will_do) {
  capturing_engine at(exact_sizes());
  const std::uint64_t sizes[] = {17, 24, 18, 31, 64, 20};
  std::vector<block> pieces;
  at.begin(s1, in_group(5));
  for (const std::uint64_t size : sizes) pieces.push_back(at.get(size * mib, s1));
  for (const block& piece : pieces) at.put(piece);
  (void)at.end(s1);
  const std::pair<std::uint64_t, std::size_t> expected[] = {{16 * mib, 0}, {17 * mib, 0},     {17 * mib + 1, 2},
                                                            {19 * mib, 5}, {20 * mib + 1, 1}, {24 * mib, 1},
                                                            {25 * mib, 3}, {33 * mib, 4},     {64 * mib, 4}};
  for (const auto& [bytes, which] : expected) {
    EXPECT_EQ(place_in(at, 5, s1, bytes), pieces[which].data()) << bytes;
  }
  at.check();
}

TEST(pool_group, of_none_is_each_window_for_itself) {
  capturing_engine at;
  const void* idle = nullptr;
  const graph_id first = leave(at, 0, s1, 30 * mib, &idle);
  EXPECT_NE(place_in(at, 0, s1, 30 * mib), idle);
  EXPECT_EQ(at.now().pinned_bytes, 60 * mib);
  at.let_go(first);
  EXPECT_EQ(at.now().pinned_bytes, 30 * mib);
  at.check();
}

TEST(pool_group, of_none_gives_a_window_what_it_freed_up_to_twice_the_class) {
  for (const std::uint64_t class_mib : {20U, 40U}) {
    capturing_engine at;
    at.begin(s1);
    const block scratch = at.get(40 * mib, s1);
    at.put(scratch);
    const block again = at.get(class_mib * mib, s1);
    EXPECT_EQ(again.data(), scratch.data());
    at.put(again);
    EXPECT_NE(at.get(18 * mib, s1).data(), scratch.data()) << "a small output is not to keep a large block";
    (void)at.end(s1);
    at.check();
  }
}

TEST(pool_group, begins_anew_when_its_last_graph_is_gone) {
  capturing_engine at;
  for (int turn = 0; turn < 5; ++turn) {
    const void* idle = nullptr;
    const graph_id first = leave(at, 5, s1, 30 * mib, &idle);
    const graph_id second = leave(at, 5, s1, 20 * mib);
    EXPECT_NE(first, second);
    EXPECT_EQ(at.now().pinned_bytes, 30 * mib);
    at.let_go(first);
    EXPECT_EQ(at.now().pinned_bytes, 30 * mib) << "the second has it, too";
    EXPECT_EQ(place_in(at, 6, s1, mib) == idle, false);
    at.let_go(second);
    EXPECT_EQ(at.now().pinned_bytes, mib);
    EXPECT_EQ(at.memory->release_graph(first), status::invalid_argument);
    at.let_go(graph_id{static_cast<std::uint64_t>(second) + 1});
    EXPECT_EQ(at.now().pinned_bytes, 0U);
    EXPECT_EQ(at.now().graphs_pinned, 0U);
    at.check();
  }
}

TEST(pool_group, gets_what_two_groups_pin_when_one_of_them_lets_it_go) {
  for (const bool first_goes : {false, true}) {
    capturing_engine at;
    const block weights = at.get(64 * mib, s1);
    graph_id made[2] = {};
    for (const std::uint64_t group : {0U, 1U}) {
      at.begin(s1, in_group(5 + group));
      EXPECT_EQ(at.memory->note_use(weights, s1), status::ok);
      made[group] = at.end(s1);
    }
    at.put(weights);
    EXPECT_EQ(at.now().pinned_bytes, 64 * mib);
    for (const std::uint64_t group : {5U, 6U}) {
      at.begin(s1, in_group(group));
      EXPECT_NE(at.get(64 * mib, s1).data(), weights.data()) << "graphs of two groups may run at once";
      at.abort(s1);
    }
    at.let_go(made[first_goes ? 0 : 1]);
    EXPECT_EQ(at.now().pinned_bytes, 64 * mib);
    EXPECT_EQ(place_in(at, first_goes ? 6 : 5, s1, 64 * mib), weights.data());
    at.check();
  }
}

TEST(pool_group, lends_what_another_stream_did_outside_of_graphs_when_that_has_finished) {
  capturing_engine at;
  const block eager = at.get(30 * mib, s2);
  at.device.busy(s2);
  at.device.use(s2, eager.data(), 30 * mib);
  at.begin(s2, in_group(5));
  at.put(eager);
  (void)at.end(s2);
  at.begin(s1, in_group(5));
  EXPECT_NE(at.get(30 * mib, s1).data(), eager.data());
  at.abort(s1);
  at.device.finish(s2);
  EXPECT_EQ(place_in(at, 5, s1, 30 * mib), eager.data());
  EXPECT_EQ(place_in(at, 5, s3, 20 * mib), eager.data()) << "what graphs did to it orders itself";
  at.check();
}

TEST(pool_group, lends_what_a_pinned_block_did_after_its_window_when_that_has_finished) {
  capturing_engine at;
  at.begin(s2, in_group(5));
  const block output = at.get(30 * mib, s2);
  (void)at.end(s2);
  at.device.busy(s2);
  at.device.use(s2, output.data(), 30 * mib);
  at.put(output);
  at.begin(s1, in_group(5));
  EXPECT_NE(at.get(30 * mib, s1).data(), output.data());
  at.abort(s1);
  at.device.finish(s2);
  EXPECT_EQ(place_in(at, 5, s1, 30 * mib), output.data());
  at.check();
}

TEST(pool_group, gives_a_block_back_to_its_stream_without_a_question) {
  capturing_engine at;
  const block eager = at.get(30 * mib, s1);
  at.device.busy(s1);
  at.device.use(s1, eager.data(), 30 * mib);
  at.begin(s1, in_group(5));
  at.put(eager);
  (void)at.end(s1);
  const std::uint64_t events = at.device.calls(sim_call::record_event);
  EXPECT_EQ(place_in(at, 5, s1, 30 * mib), eager.data());
  EXPECT_EQ(at.device.calls(sim_call::record_event), events);
  at.device.finish(s1);
  at.check();
}

TEST(pool_group, hands_on_what_crossed_streams_in_one_window_once_no_window_is_open) {
  for (const bool aborted : {false, true}) {
    capturing_engine at;
    at.begin(s1, in_group(5));
    at.device.wait(s2, s1);
    EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
    const block shared = at.get(30 * mib, s1);
    EXPECT_EQ(at.memory->note_use(shared, s2), status::ok);
    at.put(shared);
    EXPECT_NE(at.get(30 * mib, s1).data(), shared.data());
    (void)at.end(s1);
    EXPECT_EQ(at.memory->drain(), status::ok);
    at.begin(s3, in_group(8));
    if (aborted) {
      at.abort(s3);
    } else {
      (void)at.end(s3);
    }
    EXPECT_EQ(place_in(at, 5, s1, 30 * mib), shared.data());
    at.check();
  }
}

TEST(pool_group, does_not_hand_on_what_crossed_streams_while_another_window_is_open) {
  capturing_engine at;
  at.begin(s3, in_group(8));
  at.begin(s1, in_group(5));
  at.device.wait(s2, s1);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
  const block shared = at.get(30 * mib, s1);
  EXPECT_EQ(at.memory->note_use(shared, s2), status::ok);
  at.put(shared);
  (void)at.end(s1);
  at.begin(s1, in_group(5));
  EXPECT_NE(at.get(30 * mib, s1).data(), shared.data());
  at.abort(s1);
  at.abort(s3);
  at.check();
}

TEST(pool_group, knows_the_window_of_a_free_from_a_later_one) {
  // The bookkeeping of a graph that is gone serves the next window, which must not be taken for it.
  capturing_engine at;
  for (int turn = 0; turn < 3; ++turn) {
    const void* idle = nullptr;
    const graph_id kept = leave(at, 5, s1, 30 * mib, &idle);
    const graph_id gone = leave(at, 5, s1, 30 * mib);
    at.let_go(gone);
    EXPECT_EQ(place_in(at, 5, s2, 30 * mib), idle);
    at.let_go(graph_id{static_cast<std::uint64_t>(gone) + 1});
    at.let_go(kept);
    EXPECT_EQ(at.now().pinned_bytes, 0U);
    at.check();
  }
}

TEST(pool_group, does_not_take_an_aborted_window_for_the_next_one) {
  capturing_engine at;
  const void* idle = nullptr;
  (void)leave(at, 5, s1, 30 * mib, &idle);
  at.begin(s1, in_group(5));
  at.put(at.get(30 * mib, s1));
  at.abort(s1);
  EXPECT_EQ(place_in(at, 5, s2, 30 * mib), idle);
  at.check();
}

TEST(pool_group, remembers_who_freed_a_block_when_another_graph_of_it_goes) {
  capturing_engine at;
  const void* idle = nullptr;
  const graph_id before = leave(at, 5, s1, 30 * mib, &idle);
  at.begin(s1, in_group(5));
  at.device.wait(s2, s1);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
  const block piece = at.get(30 * mib, s1);
  ASSERT_EQ(piece.data(), idle);
  at.put(piece);
  at.let_go(before);
  EXPECT_NE(at.get(30 * mib, s2).data(), idle) << "the work of s1 in this window is not before that of s2";
  EXPECT_EQ(at.get(30 * mib, s1).data(), idle);
  (void)at.end(s1);
  at.check();
}

TEST(pool_group, uses_what_its_stream_has_idle_before_the_device_is_asked) {
  capturing_engine at;
  const block larger = at.get(64 * mib, s1);
  const block large = at.get(40 * mib, s1);
  const block other = at.get(32 * mib, s2);
  for (const block& piece : {larger, large, other}) at.put(piece);
  EXPECT_EQ(place_in(at, 5, s1, 30 * mib), large.data());
  EXPECT_EQ(at.now().capture_hits, 1U);
  EXPECT_EQ(at.now().pool_hits, 1U);
  EXPECT_EQ(at.now().capture_misses, 0U);
  at.begin(s1);
  EXPECT_NE(at.get(30 * mib, s1).data(), larger.data()) << "a graph by itself has nobody to share it with";
  at.abort(s1);
  at.check();
}

TEST(graph, captured_over_two_streams_is_launched_on_one) {
  capturing_engine at;
  at.begin(s1);
  at.device.wait(s2, s1);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
  const block scratch = at.get(30 * mib, s2);
  at.put(scratch);
  const graph_id made = at.end(s1);
  at.launch(made, s1);
  EXPECT_EQ(at.memory->release_graph(made), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 30 * mib) << "s1 launched it, and the block belongs to s2";
  EXPECT_EQ(at.memory->drain(), status::ok);
  at.begin(s1);
  at.device.wait(s2, s1);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
  const block own = at.get(30 * mib, s1);
  at.put(own);
  const graph_id again = at.end(s1);
  at.device.busy(s2);
  EXPECT_EQ(at.memory->release_graph(again), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 0U) << "eager work of a stream that joined has nothing to do with it";
  at.device.finish(s2);
}

TEST(graph, launched_on_a_stream_that_has_ended_is_waited_for) {
  capturing_engine at;
  at.begin(s1);
  const block scratch = at.get(30 * mib, s1);
  at.put(scratch);
  const graph_id made = at.end(s1);
  at.device.busy(s2);
  at.launch(made, s2);
  EXPECT_EQ(at.memory->end_stream(s2), status::ok);
  EXPECT_EQ(at.now().driver_events, 1U);
  at.let_go(made);
  EXPECT_EQ(at.now().pending_bytes, 30 * mib);
  EXPECT_NE(at.get(30 * mib, s1).data(), scratch.data());
  at.device.finish(s2);
  EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  at.check();
}

TEST(graph, of_a_stream_that_has_ended_is_no_longer_that_streams) {
  capturing_engine at;
  const void* idle = nullptr;
  at.device.busy(s1);
  const graph_id made = leave(at, 5, s1, 30 * mib, &idle);
  at.launch(made, s1);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  at.let_go(made);
  EXPECT_NE(at.get(30 * mib, s1).data(), idle) << "another stream of the same number";
  at.check();
  at.device.finish(s1);
  EXPECT_EQ(at.get(30 * mib, s2).data(), idle);
  at.check();
}

TEST(graph, numbers_are_not_used_twice) {
  small_world at;
  std::vector<graph_id> seen;
  for (int turn = 0; turn < 10; ++turn) {
    graph_id made = graph_id::none;
    EXPECT_EQ(at.memory->begin_capture(s1), status::ok);
    EXPECT_EQ(at.memory->end_capture(s1, made), status::ok);
    for (const graph_id other : seen) EXPECT_NE(other, made);
    seen.push_back(made);
    EXPECT_EQ(at.memory->note_replay(made, s2), status::ok);
    EXPECT_EQ(at.memory->release_graph(made), status::ok);
    EXPECT_EQ(at.memory->note_replay(made, s2), status::invalid_argument);
  }
}

TEST(graph, is_no_graph_while_its_window_is_open) {
  small_world at;
  EXPECT_EQ(at.memory->begin_capture(s1), status::ok);
  for (std::uint64_t number = 0; number < 3; ++number) {
    EXPECT_EQ(at.memory->release_graph(graph_id{number}), status::invalid_argument);
    EXPECT_EQ(at.memory->note_replay(graph_id{number}, s2), status::invalid_argument);
  }
  EXPECT_EQ(at.now().graphs_pinned, 0U);
  graph_id made = graph_id::none;
  EXPECT_EQ(at.memory->end_capture(s1, made), status::ok);
  EXPECT_EQ(at.now().graphs_pinned, 1U);
}

TEST(capture_misses, are_listed_in_order_of_their_first_and_of_the_last_window_alone) {
  small_world at;
  EXPECT_EQ(at.memory->begin_capture(s1), status::ok);
  (void)at.get(20 * mib, s1);
  (void)at.get(700 * kib, s1);
  (void)at.get(20 * mib - 1, s1);
  (void)at.get(30 * mib, s1);
  capture_miss_record out[4] = {};
  out[2].count = 77;
  EXPECT_EQ(at.memory->read_capture_misses(out, 2), 3U);
  EXPECT_EQ(out[0].requested_bytes, 20 * mib);
  EXPECT_EQ(out[0].count, 2U);
  EXPECT_EQ(out[1].requested_bytes, 700 * kib);
  EXPECT_EQ(out[1].class_bytes, 704 * kib);
  EXPECT_EQ(out[2].count, 77U) << "beyond the room that was given";
  EXPECT_EQ(at.memory->read_capture_misses(nullptr, 0), 3U);
  EXPECT_EQ(at.memory->abort_capture(s1), status::ok);
  EXPECT_EQ(at.memory->read_capture_misses(out, 4), 3U) << "still there when the window has closed";
  EXPECT_EQ(out[2].requested_bytes, 30 * mib);
  EXPECT_EQ(at.memory->begin_capture(s2), status::ok);
  EXPECT_EQ(at.memory->read_capture_misses(out, 4), 0U);
  EXPECT_EQ(at.memory->join_capture(s1, s2), status::ok);
  (void)at.get(40 * mib, s2);
  (void)at.get(40 * mib, s1);
  EXPECT_EQ(at.memory->read_capture_misses(out, 4), 2U) << "one class on two streams";
  EXPECT_EQ(out[1].on, s1);
}

}  // namespace
}  // namespace arcalloc
