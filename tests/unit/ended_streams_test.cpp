// SPDX-License-Identifier: Apache-2.0
// Which stream is meant: streams that go away, numbers that come back, and each thread's own default stream.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "simulated_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
using testing::simulated_engine;

TEST(end_stream, leaves_idle_memory_to_other_streams_once_the_work_has_finished) {
  simulated_engine at;
  const block piece = at.get(20 * mib, s1);
  at.device.busy(s1);
  at.put(piece);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  EXPECT_EQ(at.now().driver_events, 1U);
  const block other = at.get(20 * mib, s2);
  EXPECT_NE(other.data(), piece.data());
  at.device.finish(s1);
  EXPECT_EQ(at.get(20 * mib, s2).data(), piece.data());
  EXPECT_EQ(at.now().cross_stream_hits, 1U);
  at.check();
}

TEST(end_stream, makes_its_number_mean_another_stream) {
  simulated_engine at;
  const block small = at.get(3000, s1);
  const block large = at.get(20 * mib, s1);
  at.device.busy(s1);
  at.put(small);
  at.put(large);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  // Another stream of the same number is not ordered after the work of the first.
  EXPECT_NE(at.get(3000, s1).data(), small.data());
  EXPECT_NE(at.get(20 * mib, s1).data(), large.data());
  EXPECT_EQ(at.now().misses, 4U);
  at.check();
}

TEST(end_stream, takes_a_block_that_is_still_out_back_later) {
  simulated_engine at;
  const block first = at.get(3000, s1);
  const block second = at.get(3000, s1);
  at.put(first);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  at.put(second);
  EXPECT_EQ(at.memory->deallocate(second), status::double_free);
  EXPECT_EQ(at.now().driver_events, 1U);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

TEST(end_stream, leaves_the_rest_of_a_partly_used_segment_to_others_too) {
  simulated_engine at;
  const block kept = at.get(3000, s1);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  const block other = at.get(3000, s2);
  EXPECT_EQ(at.now().driver_allocs, 1U);
  EXPECT_EQ(at.now().cross_stream_hits, 1U);
  at.put(kept);
  at.put(other);
  at.check();
}

TEST(end_stream, leaves_whichever_of_its_segments_has_room) {
  simulated_engine at;
  std::vector<block> kept;
  for (int i = 0; i < 65; ++i) kept.push_back(at.get(32768, s1));  // one segment full, another with one block
  EXPECT_EQ(at.now().driver_allocs, 2U);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  for (int i = 0; i < 63; ++i) kept.push_back(at.get(32768, s2));
  EXPECT_EQ(at.now().driver_allocs, 2U);
  EXPECT_EQ(at.now().cross_stream_hits, 1U);
  for (const block& piece : kept) at.put(piece);
  at.check();
}

TEST(end_stream, ends_the_uses_there_and_no_others) {
  simulated_engine at;
  const block used_there = at.get(3000, s1);
  const block used_elsewhere = at.get(3000, s1);
  at.use(used_there, 3000, s2);
  at.use(used_elsewhere, 3000, s3);
  EXPECT_EQ(at.memory->end_stream(s2), status::ok);
  EXPECT_EQ(at.now().driver_events, 1U);
  at.put(at.get(393216, s3));  // nothing of the ended stream is idle, but it is seen to have finished
  at.device.busy(s2);          // another stream of the number, whose work has nothing to do with the block
  at.device.busy(s3);
  at.put(used_there);
  at.put(used_elsewhere);
  EXPECT_EQ(at.now().driver_events, 2U) << "one on s3; what ended has its event already";
  EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 3072U);
  EXPECT_EQ(at.get(3000, s1).data(), used_there.data());
  EXPECT_NE(at.get(3000, s1).data(), used_elsewhere.data());
  at.device.finish(s3);
  at.device.finish(s2);
  at.check();
}

TEST(end_stream, of_one_that_only_used_others_blocks_is_followed_by_one_event) {
  simulated_engine at;
  const block piece = at.get(3000, s1);
  at.use(piece, 3000, s2);
  at.device.busy(s2);
  at.put(piece);
  EXPECT_EQ(at.memory->end_stream(s2), status::ok);
  EXPECT_EQ(at.memory->end_stream(s2), status::ok) << "nothing is known of it any more";
  EXPECT_EQ(at.now().driver_events, 2U) << "of the free, and of the end";
  at.device.finish(s2);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

TEST(end_stream, of_several_with_unfinished_work_keeps_them_apart) {
  simulated_engine at;
  const void* left[4] = {};
  for (std::uint64_t i = 0; i < 4; ++i) {
    const block piece = at.get(20 * mib, stream{10 + i});
    left[i] = piece.data();
    at.device.busy(stream{10 + i});
    at.put(piece);
    EXPECT_EQ(at.memory->end_stream(stream{10 + i}), status::ok);
  }
  EXPECT_EQ(at.now().driver_allocs, 4U);
  for (const std::uint64_t i : {2U, 0U, 3U, 1U}) {
    at.device.finish(stream{10 + i});
    EXPECT_EQ(at.get(20 * mib, s1).data(), left[i]) << "this one has finished, and no other";
    const block used = at.get(3000, stream{20 + i});
    at.put(used);
    EXPECT_EQ(at.memory->end_stream(stream{20 + i}), status::ok);
  }
  EXPECT_EQ(at.now().cross_stream_hits + at.now().driver_allocs, 4U + 4U + 4U);
  at.check();
}

TEST(end_stream, keeps_blocks_used_there_pending_until_that_use_has_passed) {
  simulated_engine at;
  const block freed_before = at.get(3000, s1);
  const block freed_after = at.get(3000, s1);
  const block kept = at.get(3000, s1);
  at.use(freed_before, 3000, s2);
  at.use(freed_after, 3000, s2);
  at.device.busy(s2);
  at.put(freed_before);
  EXPECT_EQ(at.memory->end_stream(s2), status::ok);
  at.put(freed_after);
  EXPECT_EQ(at.now().pending_bytes, 2 * 3072U);
  EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 2 * 3072U);
  at.device.finish(s2);
  EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  at.put(kept);
  at.check();
}

TEST(end_stream, is_waited_for_when_its_memory_must_go) {
  simulated_engine at;
  const block piece = at.get(3000, s1);
  const block used = at.get(3000, s3);
  at.use(used, 3000, s1);
  at.device.busy(s1);
  at.put(piece);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  at.put(used);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  at.check();
}

TEST(end_stream, that_the_driver_cannot_mark_has_not_ended) {
  simulated_engine at;
  const block piece = at.get(3000, s1);
  at.device.busy(s1);
  at.put(piece);
  at.device.plan_fault(sim_call::record_event, 1, false, status::backend_failed);
  EXPECT_EQ(at.memory->end_stream(s1), status::backend_failed);
  EXPECT_EQ(at.get(3000, s1).data(), piece.data());
  at.check();
}

TEST(end_stream, of_a_stream_that_has_nothing_costs_nothing) {
  simulated_engine at;
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  EXPECT_EQ(at.now().driver_events, 0U);
  testing::small_world host;
  const block piece = host.get(3000, s1);
  host.put(piece);
  EXPECT_EQ(host.memory->end_stream(s1), status::ok);
  EXPECT_EQ(host.get(3000, s2).data(), piece.data());
  host.check();
}

TEST(end_stream, knows_every_number_below_2_to_the_63_for_the_engines) {
  for (const std::uint64_t number : {UINT64_MAX >> 1, UINT64_MAX >> 2, (UINT64_MAX >> 2) + 1, std::uint64_t{3} << 61}) {
    simulated_engine at;
    const stream on{number};
    const block piece = at.get(20 * mib, on);
    at.device.busy(on);
    at.put(piece);
    EXPECT_NE(at.get(20 * mib, s2).data(), piece.data()) << number;
    EXPECT_EQ(at.memory->end_stream(on), status::ok) << number;
    EXPECT_NE(at.get(20 * mib, on).data(), piece.data()) << number;
    at.device.finish(on);
    EXPECT_EQ(at.get(20 * mib, s2).data(), piece.data()) << number;
    at.check();
  }
  simulated_engine at;
  EXPECT_EQ(at.memory->end_stream(stream{UINT64_MAX - 1}), status::invalid_argument) << "the library's own";
}

TEST(end_stream, a_thousand_times_needs_no_more_room_than_once) {
  simulated_engine at;
  for (std::uint64_t turn = 0; turn < 1000; ++turn) {
    const stream passing{100 + turn % 3};
    const block piece = at.get(3000, passing);
    at.put(piece);
    EXPECT_EQ(at.memory->end_stream(passing), status::ok);
  }
  EXPECT_EQ(at.now().driver_allocs, 1U);
  at.check();
}

TEST(per_thread_stream, is_another_stream_on_each_thread) {
  simulated_engine at;
  const block piece = at.get(3000, per_thread_stream);
  at.put(piece);
  EXPECT_EQ(at.get(3000, per_thread_stream).data(), piece.data());
  const stream own = this_thread_stream();
  std::thread([&] {
    EXPECT_NE(this_thread_stream(), own);
    const block other = at.get(3000, per_thread_stream);
    EXPECT_EQ(at.now().driver_allocs, 2U) << "the other thread's memory was handed on without a question";
    at.put(other);
  }).join();
  at.check();
}

TEST(per_thread_stream, ends_with_its_thread) {
  simulated_engine at;
  const void* left = nullptr;
  stream theirs{};
  std::thread([&] {
    theirs = this_thread_stream();
    const block piece = at.get(20 * mib, per_thread_stream);
    at.device.busy(theirs);
    left = piece.data();
    at.put(piece);
  }).join();
  EXPECT_NE(at.get(20 * mib, per_thread_stream).data(), left);
  at.device.finish(theirs);
  EXPECT_EQ(at.get(20 * mib, per_thread_stream).data(), left);
  at.check();
}

TEST(per_thread_stream, is_meant_by_frees_and_uses_too) {
  simulated_engine at;
  const block piece = at.get(3000, per_thread_stream);
  at.device.handed_back(piece.data());
  EXPECT_EQ(at.memory->deallocate(piece, per_thread_stream), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  const block used = at.get(3000, s1);
  at.device.use(this_thread_stream(), used.data(), 3000);
  EXPECT_EQ(at.memory->note_use(used, per_thread_stream), status::ok);
  at.device.busy(this_thread_stream());
  at.put(used);
  EXPECT_EQ(at.now().pending_bytes, 3072U);
  at.check();
}

}  // namespace
}  // namespace arcalloc
