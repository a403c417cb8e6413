// SPDX-License-Identifier: Apache-2.0
// Memory between streams: pending blocks, reuse across streams, and who waits for what.
#include <gtest/gtest.h>

#include <vector>

#include "simulated_engine.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
using testing::simulated_engine;

TEST(note_use, keeps_a_freed_block_pending_until_the_other_stream_has_finished) {
  simulated_engine at;
  const block kept = at.get(3000, s1);
  const block piece = at.get(3000, s1);
  at.use(piece, 3000, s2);
  at.device.busy(s2);
  at.put(piece);
  EXPECT_EQ(at.now().pending_bytes, 3072U);
  EXPECT_EQ(at.now().blocks_live, 1U);
  EXPECT_EQ(at.memory->deallocate(piece), status::double_free);
  at.check();
  for (int i = 0; i < 9; ++i) EXPECT_NE(at.get(3000, s1).data(), piece.data());
  at.device.finish(s2);
  EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 0U);
  EXPECT_EQ(at.now().waits, 0U);
  at.put(kept);
  at.check();
}

TEST(note_use, of_the_blocks_own_stream_costs_nothing) {
  simulated_engine at;
  const block piece = at.get(3000, s1);
  at.device.busy(s1);
  at.use(piece, 3000, s1);
  at.put(piece);
  EXPECT_EQ(at.get(3000, s1).data(), piece.data());
  EXPECT_EQ(at.now().driver_events, 0U);
  at.check();
}

TEST(note_use, refuses_what_a_free_would_refuse) {
  simulated_engine at;
  const block piece = at.get(3000, s1);
  int local = 0;
  EXPECT_EQ(at.memory->note_use(&local, s2), status::unknown_pointer);
  EXPECT_EQ(at.memory->note_use(block{}, s2), status::ok);
  at.put(piece);
  EXPECT_EQ(at.memory->note_use(piece, s2), status::double_free);
  at.check();
}

TEST(free_on_another_stream, implies_a_use_there) {
  simulated_engine at;
  const block kept = at.get(3000, s1);
  const block piece = at.get(3000, s1);
  at.device.busy(s2);
  at.device.use(s2, piece.data(), 3000);
  at.device.handed_back(piece.data());
  EXPECT_EQ(at.memory->deallocate(piece, s2), status::ok);
  EXPECT_EQ(at.now().pending_bytes, 3072U);
  at.device.finish(s2);
  at.put(kept);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.device.lent_bytes(), 0U);
  at.check();
}

TEST(pending, waits_for_each_of_several_uses_whichever_finishes_first) {
  constexpr stream s4{4};
  for (const auto& order : {std::vector<stream>{s2, s3, s4}, std::vector<stream>{s4, s3, s2}, {s3, s4, s2}}) {
    simulated_engine at;
    const block piece = at.get(20 * mib, s1);
    for (const stream on : {s2, s3, s4}) {
      at.use(piece, 20 * mib, on);
      at.use(piece, 20 * mib, on);
      at.device.busy(on);
    }
    at.put(piece);
    EXPECT_EQ(at.now().driver_events, 3U) << "one for each stream";
    for (const stream on : order) {
      EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
      EXPECT_EQ(at.now().pending_bytes, 20 * mib);
      EXPECT_NE(at.get(20 * mib, s1).data(), piece.data());
      at.device.finish(on);
    }
    EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
    EXPECT_EQ(at.now().pending_bytes, 0U);
    EXPECT_EQ(at.get(20 * mib, s1).data(), piece.data());
    at.check();
  }
}

TEST(pending, is_not_what_a_free_was_refused_for) {
  simulated_engine at;
  const block piece = at.get(20 * mib, s1);
  at.use(piece, 20 * mib, s2);
  at.use(piece, 20 * mib, s3);
  at.device.busy(s2);
  for (const std::uint64_t nth : {1U, 2U}) {
    at.device.plan_fault(sim_call::record_event, nth, false, status::backend_failed);
    EXPECT_EQ(at.memory->deallocate(piece), status::backend_failed);
    EXPECT_EQ(at.now().pending_bytes, 0U);
    EXPECT_EQ(at.now().frees, 0U);
    EXPECT_EQ(at.now().allocated_bytes, 20 * mib);
  }
  at.device.finish(s2);
  at.device.busy(s3);
  at.put(piece);
  EXPECT_EQ(at.now().pending_bytes, 20 * mib);
  const block other = at.get(20 * mib, s1);
  EXPECT_NE(other.data(), piece.data());
  at.device.finish(s3);
  const block again = at.get(20 * mib, s1);
  EXPECT_EQ(again.data(), piece.data());
  at.put(other);
  at.put(again);
  at.check();
  at.memory.reset();
  at.device.convict_leaks();
  for (const std::string& conviction : at.device.convictions()) ADD_FAILURE() << conviction;
}

TEST(pending, an_unfinished_block_in_front_does_not_keep_a_finished_one_behind_it) {
  simulated_engine at(options{}, {.memory_bytes = 64 * mib});
  const block first = at.get(20 * mib, s1);
  const block second = at.get(20 * mib, s1);
  at.use(first, 20 * mib, s2);
  at.use(second, 20 * mib, s3);
  at.device.busy(s2);
  at.put(first);
  at.put(second);
  EXPECT_EQ(at.get(20 * mib, s1).data(), second.data());
  EXPECT_EQ(at.now().reclaim_hits, 1U);
  EXPECT_EQ(at.now().waits, 0U);
  at.device.finish(s2);
  at.check();
}

TEST(ladder_7, waits_for_a_pending_block_that_fits_instead_of_failing) {
  simulated_engine at(options{}, {.memory_bytes = 100 * mib});
  const block a = at.get(80 * mib, s1);
  at.use(a, 80 * mib, s2);
  at.device.busy(s2);
  at.put(a);
  const block b = at.get(80 * mib, s1);
  EXPECT_EQ(b.data(), a.data());
  EXPECT_EQ(at.now().wait_hits, 1U);
  EXPECT_EQ(at.now().waits, 1U);
  EXPECT_EQ(at.now().driver_allocs, 1U);
  at.check();
}

TEST(ladder_7, waits_for_a_pending_block_that_only_makes_room) {
  simulated_engine at(options{}, {.memory_bytes = 2 * mib});
  std::vector<block> all;
  block piece;
  while (at.try_get(3000, s1, piece) == status::ok) all.push_back(piece);
  ASSERT_GT(all.size(), 100U);
  at.device.busy(s2);
  for (const block& one : all) at.use(one, 3000, s2);
  for (const block& one : all) at.put(one);
  const counters full = at.now();
  (void)at.get(30'000, s1);
  EXPECT_EQ(at.now().wait_hits, full.wait_hits + 1);
  EXPECT_EQ(at.now().drain_retries, full.drain_retries) << "nothing else had to go";
  at.check();
}

TEST(ladder_4, takes_idle_memory_of_another_stream_only_when_its_work_has_finished) {
  simulated_engine at;
  const block a = at.get(20 * mib, s1);
  at.device.busy(s1);
  at.put(a);
  const block b = at.get(20 * mib, s2);
  EXPECT_NE(b.data(), a.data());
  EXPECT_EQ(at.now().cross_stream_hits, 0U);
  at.device.finish(s1);
  const block c = at.get(20 * mib, s2);
  EXPECT_EQ(c.data(), a.data());
  EXPECT_EQ(at.now().cross_stream_hits, 1U);
  at.check();
}

TEST(ladder_7, waits_for_another_streams_idle_memory_when_the_device_is_full) {
  options settings;
  settings.cached_bytes_max = {bound_mode::explicit_bytes, 100 * mib};
  simulated_engine at(settings, {.memory_bytes = 100 * mib});
  const block a = at.get(80 * mib, s1);
  at.device.busy(s1);
  at.put(a);
  EXPECT_EQ(at.get(80 * mib, s2).data(), a.data());
  EXPECT_EQ(at.now().wait_hits, 1U);
  EXPECT_EQ(at.now().driver_allocs, 1U);
  at.check();
}

TEST(ladder_4, does_not_take_an_event_for_an_answer_about_work_enqueued_after_it) {
  simulated_engine at;
  const block late = at.get(3000, s1);
  const block half = at.get(mib, s1);
  at.put(at.get(mib, s1));  // in a segment of its own
  at.put(half);
  (void)at.get(3000, s2);  // asks about s1's idle segment, and gets it
  EXPECT_EQ(at.now().cross_stream_hits, 1U);
  at.device.busy(s1);
  at.device.use(s1, late.data(), 3000);
  at.put(late);
  (void)at.get(mib, s2);
  EXPECT_NE(at.get(mib, s2).data(), late.data());
  EXPECT_EQ(at.now().cross_stream_hits, 1U);
  at.device.finish(s1);
  at.check();
}

TEST(streams, by_the_hundred_never_share_a_segment) {
  simulated_engine at;
  block kept[200];
  for (std::uint64_t i = 0; i < 200; ++i) kept[i] = at.get(3000, stream{1 + i * i});
  EXPECT_EQ(at.now().segments_reserved, 200U);
  for (std::uint64_t i = 0; i < 200; ++i) at.put(at.get(3000, stream{1 + i * i}));
  EXPECT_EQ(at.now().stream_cache_hits, 200U);
  for (const block& piece : kept) at.put(piece);
  at.check();
}

TEST(handed_on, through_a_third_stream_memory_never_outruns_its_first_user) {
  simulated_engine at;
  const block a = at.get(20 * mib, s1);
  at.device.busy(s1);
  at.put(a);
  const block b = at.get(20 * mib, s2);
  at.put(b);
  const block c = at.get(20 * mib, s3);
  EXPECT_NE(c.data(), a.data());
  at.device.finish(s1);
  at.check();
}

TEST(trim, never_waits_and_leaves_what_is_busy) {
  simulated_engine at;
  at.device.busy(s1);
  at.put(at.get(20 * mib, s1));
  at.put(at.get(20 * mib, s2));
  EXPECT_EQ(at.memory->trim(0), status::ok);
  EXPECT_EQ(at.now().waits, 0U);
  EXPECT_EQ(at.now().cached_bytes, 20 * mib);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.now().waits, 1U);
  EXPECT_EQ(at.now().cached_bytes, 0U);
  at.check();
}

TEST(eviction, prefers_what_has_finished_to_what_is_colder_and_busy) {
  options settings;
  settings.cached_bytes_max = {bound_mode::explicit_bytes, 44 * mib};
  simulated_engine at(settings);
  block pieces[3];
  pieces[0] = at.get(20 * mib, s1);
  at.device.busy(s1);
  pieces[1] = at.get(20 * mib, s2);
  pieces[2] = at.get(20 * mib, s2);
  for (const block& piece : pieces) at.put(piece);
  EXPECT_EQ(at.now().evictions, 1U);
  EXPECT_EQ(at.now().waits, 0U);
  EXPECT_EQ(at.get(20 * mib, s1).data(), pieces[0].data());
  at.device.finish(s1);
  at.check();
}

TEST(bound, is_obeyed_even_where_that_means_waiting) {
  options settings;
  settings.cached_bytes_max = {bound_mode::explicit_bytes, 0};
  simulated_engine at(settings);
  at.device.busy(s1);
  at.put(at.get(20 * mib, s1));
  EXPECT_EQ(at.now().cached_bytes, 0U);
  EXPECT_EQ(at.now().waits, 1U);
  EXPECT_EQ(at.device.lent_bytes(), 0U);
  at.check();
}

TEST(events, are_not_recorded_for_memory_that_stays_on_its_stream) {
  simulated_engine at;
  at.device.busy(s1);
  for (int i = 0; i < 100; ++i) {
    at.put(at.get(8192, s1));
    at.put(at.get(40 * mib, s1));
  }
  EXPECT_EQ(at.now().driver_events, 0U);
  EXPECT_EQ(at.device.calls(sim_call::query_event), 0U);
  at.check();
}

TEST(destroy, waits_for_work_and_drops_every_event) {
  sim_backend device;
  allocator* raw = nullptr;
  ASSERT_EQ(allocator::create(device, {}, raw), status::ok);
  block piece;
  ASSERT_EQ(raw->allocate(20 * mib, s1, piece), status::ok);
  device.handed_out(s1, piece.data(), 20 * mib);
  device.use(s1, piece.data(), 20 * mib);
  device.use(s2, piece.data(), 20 * mib);
  ASSERT_EQ(raw->note_use(piece, s2), status::ok);
  device.busy(s1);
  device.busy(s2);
  device.handed_back(piece.data());
  allocator::destroy(raw);
  device.convict_leaks();
  for (const std::string& conviction : device.convictions()) ADD_FAILURE() << conviction;
  EXPECT_EQ(device.lent_bytes(), 0U);
}

TEST(destroy, waits_for_pending_blocks_and_drops_their_events) {
  simulated_engine at;
  for (const stream on : {s2, s3}) {
    const block piece = at.get(20 * mib, s1);
    at.use(piece, 20 * mib, on);
    at.device.busy(on);
    at.put(piece);
  }
  EXPECT_EQ(at.now().pending_bytes, 40 * mib);
  EXPECT_EQ(at.memory->end_stream(s3), status::ok);
  at.memory.reset();
  at.device.convict_leaks();
  for (const std::string& conviction : at.device.convictions()) ADD_FAILURE() << conviction;
  EXPECT_EQ(at.device.lent_bytes(), 0U);
}

TEST(driver_failures, of_events_lose_nothing_and_the_next_call_works) {
  for (const sim_call call : {sim_call::record_event, sim_call::query_event, sim_call::wait_event}) {
    for (std::uint64_t nth = 1; nth <= 6; ++nth) {
      simulated_engine at(options{}, {.memory_bytes = 100 * mib});
      at.device.plan_fault(call, nth, false, status::backend_failed);
      for (int turn = 0; turn < 4; ++turn) {
        block a;
        if (at.try_get(40 * mib, s1, a) != status::ok) continue;
        at.use(a, 40 * mib, s2);
        at.device.busy(s2);
        if (at.try_put(a) != status::ok) {
          EXPECT_EQ(at.now().blocks_live, 1U) << "a refused free leaves the block live";
          at.device.finish(s2);
          at.device.handed_out(s1, a.data(), 40 * mib);
          at.put(a);
        }
        block b;
        if (at.try_get(80 * mib, s3, b) == status::ok) at.put(b);
        at.device.finish(s2);
        at.check();
      }
      (void)at.memory->drain();
      EXPECT_EQ(at.memory->drain(), status::ok);
      EXPECT_EQ(at.device.lent_bytes(), 0U);
      at.check();
    }
  }
}

}  // namespace
}  // namespace arcalloc
