// SPDX-License-Identifier: Apache-2.0
// Each rung moves exactly one counter; a refusal leaves everything live as it was.
#include <gtest/gtest.h>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::gib;
using testing::kib;
using testing::mib;
using testing::small_world;

struct rungs {
  std::uint64_t stream_cache, pool, evict, tight, drain, misses, failed;
  friend bool operator==(const rungs&, const rungs&) = default;
};

rungs of(const counters& said) {
  return {said.stream_cache_hits, said.pool_hits, said.evict_retries, said.tight_blocks,
          said.drain_retries,     said.misses,    said.failed};
}

TEST(ladder, rung_1_serves_from_the_stream_cache) {
  small_world at;
  (void)at.get(1000);
  (void)at.get(1000);
  (void)at.get(70 * kib);
  EXPECT_EQ(of(at.now()), (rungs{2, 0, 0, 0, 0, 1, 0}));
}

TEST(ladder, rung_2_serves_large_blocks_from_the_pool) {
  small_world at;
  at.put(at.get(90 * mib));
  (void)at.get(90 * mib);
  EXPECT_EQ(of(at.now()), (rungs{0, 1, 0, 0, 0, 1, 0}));
}

TEST(ladder, rung_2_lends_a_larger_block_sooner_than_ask_the_driver) {
  small_world at(capped(gib));
  at.put(at.get(64 * mib));
  at.put(at.get(90 * mib));
  const block lent = at.get(50 * mib);  // the smallest that will do has 64
  EXPECT_EQ(of(at.now()), (rungs{0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(at.now().allocated_bytes, 64 * mib);
  EXPECT_EQ(testing::audit(*at.memory).oversize_bytes, 14 * mib);
  at.check();
  at.put(lent);
  EXPECT_EQ(testing::audit(*at.memory).oversize_bytes, 0U);
  (void)at.get(64 * mib);  // filed as what it is
  EXPECT_EQ(of(at.now()), (rungs{0, 2, 0, 0, 0, 2, 0}));
  at.check();
}

TEST(ladder, rung_2_lends_no_block_of_more_than_twice_what_is_asked) {
  small_world at(capped(gib));
  at.put(at.get(64 * mib));
  (void)at.get(30 * mib);
  EXPECT_EQ(of(at.now()), (rungs{0, 0, 0, 0, 0, 2, 0}));
  (void)at.get(32 * mib);
  EXPECT_EQ(of(at.now()), (rungs{0, 1, 0, 0, 0, 2, 0}));
  at.check();
}

TEST(ladder, what_is_lent_beyond_a_class_is_at_most_a_quarter_of_the_bound) {
  small_world at(capped(256 * mib));
  for (std::uint64_t i = 0; i < 3; ++i)
    at.put(at.get((80 + 16 * i) * mib));  // 80 idles, then 80 and 96; 112 drives out 80
  const counters before = at.now();
  (void)at.get(64 * mib);  // 96: 32 MiB beyond
  (void)at.get(64 * mib);  // 112: 48 more would be 80 of 64 MiB
  EXPECT_EQ(at.now().pool_hits, before.pool_hits + 1);
  EXPECT_EQ(at.now().misses, before.misses + 1);
  EXPECT_EQ(testing::audit(*at.memory).oversize_bytes, 32 * mib);
  at.check();
}

TEST(ladder, rung_2_lends_nothing_larger_on_another_stream_or_of_exact_sizes_or_in_a_prewarm) {
  small_world at(capped(gib));
  at.put(at.get(64 * mib, stream{1}));
  (void)at.get(50 * mib, stream{2});
  EXPECT_EQ(at.now().misses, 2U);

  options settings = capped(gib);
  settings.classes = geometry::exact;
  small_world exact(settings);
  exact.put(exact.get(64 * mib));
  (void)exact.get(50 * mib);
  EXPECT_EQ(exact.now().misses, 2U);

  small_world warm(capped(gib));
  warm.put(warm.get(64 * mib));
  profile wanted;
  ASSERT_TRUE(wanted.add({default_stream, 50 * mib, 1}));
  EXPECT_EQ(warm.memory->verify(wanted), status::capture_miss);
  EXPECT_EQ(warm.memory->prewarm(wanted), status::ok);
  EXPECT_EQ(warm.memory->verify(wanted), status::ok);
  EXPECT_EQ(warm.now().segments_reserved, 2U);
}

TEST(ladder, what_the_bound_will_drive_out_goes_before_a_large_block_comes) {
  small_world at(capped(256 * mib));
  at.put(at.get(96 * mib));
  at.put(at.get(112 * mib));
  const block large = at.get(144 * mib);  // idle beside it 112 would be all that the bound allows
  EXPECT_EQ(at.now().evictions, 1U);
  EXPECT_EQ(at.now().cached_bytes, 112 * mib);
  EXPECT_EQ(at.now().reserved_bytes_peak, 256 * mib);
  at.put(large);
  EXPECT_EQ(at.now().evictions, 1U) << "it was driven out already";
  at.put(at.get(16 * mib));  // shares segments: nothing goes for it
  EXPECT_EQ(at.now().evictions, 2U) << "but the bound is obeyed when it idles";
  at.check();

  small_world without(capped(0));  // nothing idle, nothing to drive out
  without.put(without.get(144 * mib));
  EXPECT_EQ(without.now().cached_bytes, 0U);
  without.check();
}

TEST(ladder, rung_6_evicts_after_one_refusal_of_the_driver) {
  options settings;
  settings.cached_bytes_max.mode = bound_mode::unbounded;
  small_world at(settings, 600 * mib);
  at.put(at.get(512 * mib));
  (void)at.get(513 * mib);
  EXPECT_EQ(of(at.now()), (rungs{0, 0, 1, 0, 0, 2, 0}));
  EXPECT_EQ(at.now().driver_refusals, 1U);
  at.check();
}

TEST(ladder, a_large_block_takes_no_more_than_it_needs_until_its_size_comes_again) {
  small_world at(capped(gib));
  at.put(at.get(97 * mib));
  EXPECT_EQ(at.now().reserved_bytes, 98 * mib);
  at.put(at.get(99 * mib));  // of the class of 104 MiB again, and the 98 are too few
  EXPECT_EQ(at.now().reserved_bytes, (98 + 104) * mib);
  for (const std::uint64_t bytes : {101 * mib, 104 * mib, 98 * mib}) at.put(at.get(bytes));
  EXPECT_EQ(at.now().misses, 2U);
  at.check();
}

TEST(ladder, rung_6_takes_a_tight_block_where_whole_steps_would_not_fit) {
  small_world at(capped(600 * mib), 599 * mib + 512 * kib);
  const block tight = at.get(598 * mib + 513);  // in steps of 2 MiB it would be 600
  EXPECT_EQ(of(at.now()), (rungs{0, 0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(at.now().allocated_bytes, 598 * mib + 1024);
  at.put(tight);
  (void)at.get(592 * mib);  // filed under the largest class not above it
  EXPECT_EQ(at.now().pool_hits, 1U);
  at.check();
}

TEST(ladder, a_small_request_fits_a_device_smaller_than_a_segment) {
  small_world at(capped(mib), mib);
  const block piece = at.get(3000);
  EXPECT_EQ(at.now().tight_blocks, 1U);
  EXPECT_EQ(at.now().reserved_bytes, 3072U);
  at.put(piece);
  (void)at.get(3000);
  EXPECT_EQ(at.now().pool_hits, 1U);
  at.check();
}

TEST(ladder, rung_8_drains_when_the_driver_refuses_for_reasons_of_its_own) {
  options settings;
  settings.cached_bytes_max.mode = bound_mode::unbounded;
  small_world at(settings, 4 * gib);
  at.put(at.get(64 * mib));
  at.put(at.get(80 * mib));
  at.device.fail_allocate = {1, true, status::device_out_of_memory};
  // The driver has room and still refuses, as a fragmented one does; it gives in when all is back.
  at.device.before_free = [&] {
    if (at.device.lent_bytes <= 80 * mib) at.device.fail_allocate = {};
  };
  (void)at.get(30 * mib);  // nothing of up to twice its size idles
  EXPECT_EQ(of(at.now()), (rungs{0, 0, 0, 0, 1, 3, 0}));
  at.device.before_free = nullptr;
  at.check();
}

TEST(ladder, rung_9_refuses_and_leaves_live_blocks_and_bounds_alone) {
  small_world at(capped(64 * mib), 100 * mib);
  const block live = at.get(60 * mib);
  at.put(at.get(20 * mib));
  block refused;
  EXPECT_EQ(at.memory->allocate(50 * mib, default_stream, refused), status::device_out_of_memory);
  EXPECT_FALSE(refused);
  const counters said = at.now();
  EXPECT_EQ(said.failed_device_out_of_memory, 1U);
  EXPECT_EQ(said.blocks_live, 1U);
  EXPECT_EQ(said.cached_bytes_max, 64 * mib);
  const failure_record record = at.memory->last_failure();
  EXPECT_EQ(record.driver_free_bytes, 40 * mib);
  EXPECT_EQ(record.requested_bytes, 50 * mib);
  char text[512];
  EXPECT_GT(format_failure(record, text, sizeof text), 100U);
  EXPECT_NE(std::string(text).find("device_out_of_memory: requested 52428800"), std::string::npos) << text;
  (void)at.get(30 * mib);
  at.put(live);
  at.check();
}

TEST(ladder, without_oom_retry_the_first_refusal_is_final) {
  options settings = capped(600 * mib);
  settings.oom_retry = false;
  small_world at(settings, 600 * mib);
  at.put(at.get(512 * mib));
  block refused;
  EXPECT_EQ(at.memory->allocate(200 * mib, default_stream, refused), status::device_out_of_memory);
  EXPECT_EQ(at.now().evictions, 0U);
  EXPECT_EQ(at.now().cached_bytes, 512 * mib);
  at.check();
}

TEST(ladder, other_driver_errors_are_reported_as_they_are_and_the_next_call_works) {
  small_world at;
  at.device.fail_allocate = {1, false, status::backend_failed};
  block refused;
  EXPECT_EQ(at.memory->allocate(1000, default_stream, refused), status::backend_failed);
  EXPECT_EQ(at.now().failed_backend_failed, 1U);
  EXPECT_EQ(at.device.allocate_calls, 1U) << "no retry for an error that is not out of memory";
  at.put(at.get(1000));
  at.check();
}

TEST(ladder, every_answer_of_the_driver_has_its_own_counter) {
  const std::pair<status, std::uint64_t counters::*> cases[] = {
      {status::invalid_argument, &counters::failed_invalid_argument},
      {status::request_too_large, &counters::failed_request_too_large},
      {status::capacity_exceeded, &counters::failed_capacity_exceeded},
      {status::device_out_of_memory, &counters::failed_device_out_of_memory},
      {status::capture_miss, &counters::failed_capture_miss},
      {status::backend_unavailable, &counters::failed_backend_unavailable},
      {status::backend_failed, &counters::failed_backend_failed},
      {status::shutting_down, &counters::failed_shutting_down},
  };
  small_world at;
  std::uint64_t failed = 0;
  for (const auto& [answer, counter] : cases) {
    at.device.fail_allocate = {1, true, answer};
    block refused;
    EXPECT_EQ(at.memory->allocate(90 * mib, default_stream, refused), answer);
    EXPECT_EQ(at.now().*counter, 1U) << status_name(answer);
    EXPECT_EQ(at.now().failed, ++failed);
    EXPECT_EQ(at.now().requests, failed);
    at.device.fail_allocate = {};
  }
  at.check();
}

TEST(ladder, every_nth_driver_call_may_fail_once_or_for_ever) {
  for (const bool persistent : {false, true}) {
    for (std::uint64_t nth = 1; nth <= 40; ++nth) {
      for (const bool frees : {false, true}) {
        small_world at(capped(8 * mib), 64 * mib);
        (frees ? at.device.fail_free : at.device.fail_allocate) = {
            nth, persistent, frees ? status::backend_failed : status::device_out_of_memory};
        std::vector<block> live;
        for (std::uint64_t i = 0; i < 60; ++i) {
          block piece;
          const counters before = at.now();
          if (at.memory->allocate((i % 7 + 1) * mib + 1, stream{i % 2}, piece) == status::ok) {
            live.push_back(piece);
          } else {
            EXPECT_EQ(at.now().blocks_live, before.blocks_live);
            EXPECT_EQ(at.now().allocated_bytes, before.allocated_bytes);
          }
          if (live.size() > 3) {
            EXPECT_EQ(at.memory->deallocate(live.front()), status::ok);
            live.erase(live.begin());
          }
          at.check();
          ASSERT_FALSE(::testing::Test::HasFailure()) << "nth " << nth << " step " << i;
        }
        at.device.fail_free = at.device.fail_allocate = {};
        for (const block& piece : live) at.put(piece);
        EXPECT_EQ(at.memory->drain(), status::ok);
        EXPECT_EQ(at.device.lent_bytes, 0U) << "stuck segments are retried";
        EXPECT_EQ(at.now().stuck_bytes, 0U);
      }
    }
  }
}

TEST(ladder, a_driver_free_that_fails_leaves_a_stuck_segment_that_the_next_trim_retries) {
  small_world at(capped(gib));
  at.put(at.get(64 * mib));
  at.device.fail_free = {1, false, status::backend_failed};
  EXPECT_EQ(at.memory->drain(), status::backend_failed);
  EXPECT_EQ(at.now().stuck_bytes, 64 * mib);
  EXPECT_EQ(at.now().cached_bytes, 0U);
  at.check();
  EXPECT_EQ(at.memory->trim(gib), status::ok);
  EXPECT_EQ(at.now().stuck_bytes, 0U);
  EXPECT_EQ(at.device.lent_bytes, 0U);
  at.check();
}

/// The working set of 106 MiB of the documentation, 20 steps of it.
void run_working_set(small_world& at) {
  for (int step = 0; step < 20; ++step) {
    const std::uint64_t sizes[] = {8, 2, 2, 8, 22, 64};
    block pieces[6];
    for (int i = 0; i < 6; ++i) pieces[i] = at.get(sizes[i] * mib);
    for (const block& piece : pieces) at.put(piece);
    at.memory->end_step();
  }
}

TEST(thrash, is_counted_when_the_bound_is_below_the_working_set_and_says_which_would_do) {
  small_world at(capped(64 * mib));
  run_working_set(at);
  EXPECT_GT(at.now().thrash_evictions, 10U);
  const std::uint64_t wanted = at.memory->read_cap().cached_bytes_max_wanted;
  EXPECT_GE(wanted, 106 * mib);
  EXPECT_LE(wanted, 212 * mib);
  ASSERT_EQ(at.memory->set_cached_bytes_max({bound_mode::explicit_bytes, wanted}), status::ok);
  const std::uint64_t evictions = at.now().evictions;
  run_working_set(at);
  EXPECT_EQ(at.now().evictions, evictions) << "the bound it named does";
  EXPECT_EQ(at.memory->read_cap().cached_bytes_max_wanted, 0U);
  at.check();
}

TEST(thrash, is_not_seen_above_the_working_set) {
  small_world at(capped(128 * mib));
  run_working_set(at);
  EXPECT_EQ(at.now().thrash_evictions, 0U);
  EXPECT_EQ(at.memory->read_cap().cached_bytes_max_wanted, 0U);
  at.check();
}

}  // namespace
}  // namespace arcalloc
