// SPDX-License-Identifier: Apache-2.0
// Captures and the order of work: whose a pinned block is, what its streams did outside of the window, and what
// else goes on while one is open.
#include <gtest/gtest.h>

#include <thread>

#include "capturing_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::capturing_engine;
using testing::in_group;
using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
using testing::small_world;

/// A group with one idle block of s1.
graph_id filled(capturing_engine& at, const void*& address) {
  at.begin(s1, in_group(5));
  const block piece = at.get(mib, s1);
  address = piece.data();
  at.put(piece);
  return at.end(s1);
}

TEST(pool_group, a_block_taken_for_another_stream_is_that_streams_until_it_is_idle) {
  for (const bool aborted : {true, false}) {
    capturing_engine at;
    const void* first = nullptr;
    const graph_id made = filled(at, first);
    at.begin(s2, in_group(5));
    const block taken = at.get(mib, s2);
    ASSERT_EQ(taken.data(), first);
    if (aborted) {
      at.abort(s2);
    } else {
      (void)at.end(s2);
    }
    at.device.busy(s2);
    at.device.use(s2, taken.data(), mib);
    at.put(taken);
    at.let_go(made);
    EXPECT_NE(at.get(mib, s1).data(), first) << "s2 is still at it";
    at.begin(s1, in_group(5));
    EXPECT_NE(at.get(mib, s1).data(), first);
    at.abort(s1);
    at.check();
  }
}

TEST(pool_group, a_block_taken_for_one_stream_of_a_window_is_not_handed_to_another) {
  capturing_engine at;
  const void* first = nullptr;
  (void)filled(at, first);
  at.begin(s2, in_group(5));
  at.device.wait(s1, s2);
  EXPECT_EQ(at.memory->join_capture(s1, s2), status::ok);
  const block taken = at.get(mib, s2);
  ASSERT_EQ(taken.data(), first);
  at.put(taken);
  EXPECT_NE(at.get(mib, s1).data(), first);
  EXPECT_EQ(at.get(mib, s2).data(), first) << "within the window the stream reuses what it freed";
  at.abort(s2);
  at.check();
}

TEST(pool_group, a_block_that_two_open_windows_used_is_handed_to_no_third_stream) {
  capturing_engine at;
  at.begin(s1, in_group(5));
  at.device.wait(s2, s1);
  EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
  at.begin(s3, in_group(5));
  at.put(at.get(mib, s2));
  at.put(at.get(mib, s3));
  EXPECT_EQ(at.now().pinned_bytes, mib) << "the second window had what the first left";
  (void)at.get(mib, s1);
  at.check();
  at.abort(s3);
  at.abort(s1);
}

TEST(profile, counts_a_block_that_changed_streams_where_it_was_requested) {
  capturing_engine at;
  const void* first = nullptr;
  const graph_id made = filled(at, first);
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  at.begin(s2, in_group(5));
  const block taken = at.get(mib, s2);
  ASSERT_EQ(taken.data(), first);
  at.let_go(made);
  at.abort(s2);
  at.put(taken);
  at.put(at.get(mib, s2));
  profile seen;
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  ASSERT_EQ(seen.entries().size(), 1U);
  EXPECT_EQ(seen.entries()[0].on, s2);
  EXPECT_EQ(seen.entries()[0].blocks, 1U);
  at.check();
}

TEST(capture, remembers_what_its_stream_did_to_a_block_before) {
  for (const bool freed_inside : {true, false}) {
    capturing_engine at;
    const block piece = at.get(mib, s1);
    at.device.busy(s2);
    at.device.use(s2, piece.data(), mib);
    at.begin(s2);
    if (freed_inside) {
      at.device.handed_back(piece.data());
      EXPECT_EQ(at.memory->deallocate(piece, s2), status::ok);
    } else {
      EXPECT_EQ(at.memory->note_use(piece, s2), status::ok);
    }
    at.abort(s2);
    if (!freed_inside) at.put(piece);
    EXPECT_NE(at.get(mib, s1).data(), piece.data());
    at.check();
  }
}

TEST(capture, remembers_what_a_joined_stream_did_to_a_block_before) {
  capturing_engine at;
  const block piece = at.get(mib, s1);
  at.device.busy(s3);
  at.device.use(s3, piece.data(), mib);
  at.begin(s2);
  at.device.wait(s3, s2);
  EXPECT_EQ(at.memory->join_capture(s3, s2), status::ok);
  EXPECT_EQ(at.memory->note_use(piece, s3), status::ok);
  const graph_id made = at.end(s2);
  at.put(piece);
  at.let_go(made);
  EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
  EXPECT_NE(at.get(mib, s1).data(), piece.data());
  at.check();
}

TEST(capture, knows_eager_work_on_a_block_that_an_earlier_window_made) {
  capturing_engine at;
  at.begin(s1, in_group(5));
  const block piece = at.get(mib, s1);
  (void)at.end(s1);
  at.device.busy(s1);
  at.device.use(s1, piece.data(), mib);
  at.begin(s1, in_group(5));
  at.put(piece);
  (void)at.end(s1);
  at.begin(s2, in_group(5));
  EXPECT_NE(at.get(mib, s2).data(), piece.data());
  at.abort(s2);
  at.check();
}

TEST(destroy, waits_for_launches_that_were_noted) {
  capturing_engine at;
  const void* first = nullptr;
  const graph_id made = filled(at, first);
  at.device.busy(s2);
  at.launch(made, s2);
  at.memory.reset();
  EXPECT_TRUE(at.device.convictions().empty()) << at.device.convictions().front();
}

TEST(capture, the_bound_holds_after_a_stream_ended_in_the_window) {
  capturing_engine at(capped(16 * mib));
  std::vector<block> pieces;
  for (const stream on : {s1, s2}) {
    for (int i = 0; i < 8; ++i) pieces.push_back(at.get(2 * mib, on));
  }
  for (int i = 0; i < 8; ++i) at.put(pieces[static_cast<std::size_t>(i)]);
  at.begin(s3);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  (void)at.end(s3);
  at.memory->reset_peaks();
  for (std::size_t i = 8; i < pieces.size(); ++i) {
    at.put(pieces[i]);
    at.check();
  }
  EXPECT_LE(at.now().cached_bytes_peak, 16 * mib);
}

TEST(end_stream, that_fails_leaves_no_trace) {
  capturing_engine at;
  at.put(at.get(mib, s1));
  at.device.plan_fault(sim_call::record_event, 1, true, status::backend_failed);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(at.memory->end_stream(s1), status::backend_failed);
  at.device.plan_fault(sim_call::record_event, 1, true, status::ok);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  EXPECT_EQ(at.get(mib, s2).data() != nullptr, true);
  EXPECT_EQ(at.now().cross_stream_hits, 1U);
  at.check();
}

TEST(bound, set_while_the_device_is_asked_stays_in_force) {
  small_world at;
  const block piece = at.get(mib);
  bool asked = false;
  at.device.before_query = [&] {
    if (asked) return;
    asked = true;
    EXPECT_EQ(at.memory->set_cached_bytes_max({bound_mode::explicit_bytes, 8 * mib}), status::ok);
  };
  EXPECT_EQ(at.memory->begin_phase(phase::decode), status::ok);
  EXPECT_TRUE(asked);
  EXPECT_EQ(at.memory->read_cap().cached_bytes_max, 8 * mib);
  at.put(piece);
  at.check();
}

TEST(capture, that_opens_while_room_is_looked_for_keeps_what_its_stream_has) {
  small_world at(capped(128 * mib), 64 * mib);
  at.put(at.get(32 * mib, s1));
  std::thread opener;
  at.device.before_query = [&] {
    if (opener.joinable()) return;
    opener = std::thread([&] {
      EXPECT_EQ(at.memory->begin_capture(s1, {capture_policy::refuse, pool_group::none}), status::ok);
    });
    // Open, and waiting for this query to end.
    while (!at.memory->is_capturing(s1)) std::this_thread::yield();
  };
  block refused;
  EXPECT_EQ(at.memory->allocate(48 * mib, s2, refused), status::device_out_of_memory);
  opener.join();
  EXPECT_EQ(at.get(32 * mib, s1).data() != nullptr, true);
  EXPECT_EQ(at.memory->abort_capture(s1), status::ok);
  EXPECT_EQ(at.now().driver_frees, 0U) << "the request that wanted it has failed already";
  at.check();
}

TEST(thread_exit, of_a_thread_that_used_several_allocators_retires_each) {
  small_world first;
  small_world second;
  for (int turn = 0; turn < 3; ++turn) {
    std::thread([&] {
      first.put(first.get(3000));
      second.put(second.get(3000));
      first.put(first.get(3000));
    }).join();
  }
  // What the threads left serves this one, so their records were given up.
  first.put(first.get(3000));
  second.put(second.get(3000));
  EXPECT_EQ(first.now().driver_allocs, 1U);
  EXPECT_EQ(second.now().driver_allocs, 1U);
  first.check();
  second.check();
}

TEST(verify, answers_in_a_window_as_before_it) {
  capturing_engine at;
  profile wanted;
  ASSERT_TRUE(wanted.add({s1, 3000, 4}));
  ASSERT_TRUE(wanted.add({s2, 3000, 1}));
  EXPECT_EQ(at.memory->prewarm(wanted), status::ok);
  at.begin(s1);
  EXPECT_EQ(at.memory->verify(wanted), status::ok);
  at.abort(s1);
  EXPECT_EQ(at.memory->verify(wanted), status::ok);
  at.check();
}

TEST(profile, recorded_with_the_cache_off_counts_what_is_out) {
  options settings;
  settings.enabled = false;
  small_world at(settings);
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  for (int turn = 0; turn < 5; ++turn) at.put(at.get(8700));
  profile seen;
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  ASSERT_EQ(seen.entries().size(), 1U);
  EXPECT_EQ(seen.entries()[0].blocks, 1U);
}

}  // namespace
}  // namespace arcalloc
