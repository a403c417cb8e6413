// SPDX-License-Identifier: Apache-2.0
// The bounds on cached and reserved bytes, where they come from, and the bound on slack.
#include <gtest/gtest.h>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::gib;
using testing::kib;
using testing::mib;
using testing::small_world;

TEST(cached_max, growth_per_token_stays_within_it) {
  for (const int buffers : {1, 2}) {
    small_world at(capped(256 * mib));
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const std::uint64_t bytes = 4 * mib + i * 16 * kib;
      block pieces[2];
      for (int b = 0; b < buffers; ++b) pieces[b] = at.get(bytes);
      const counters said = at.now();
      EXPECT_LE(said.reserved_bytes, 256 * mib + said.allocated_bytes) << "step " << i;
      for (int b = 0; b < buffers; ++b) at.put(pieces[b]);
      at.memory->end_step();
      ASSERT_LE(at.now().cached_bytes, 256 * mib);
    }
    EXPECT_LE(at.now().driver_allocs, 64U) << buffers << " buffers";
    at.check();
  }
}

TEST(cached_max, the_origins_cache_dies_of_the_same_growth) {
  options settings;
  settings.classes = geometry::exact;
  settings.cached_bytes_max.mode = bound_mode::unbounded;
  settings.oom_retry = false;
  small_world at(settings);
  std::uint64_t step = 0;
  for (; step < 2000; ++step) {
    block piece;
    if (at.memory->allocate(4 * mib + step * 16 * kib, default_stream, piece) != status::ok) break;
    at.put(piece);
  }
  EXPECT_LT(step, 1600U);
  EXPECT_EQ(at.now().failed_device_out_of_memory, 1U);
  EXPECT_EQ(at.now().evictions, 0U);
  at.check();
}

TEST(cached_max, of_zero_holds_nothing) {
  small_world at(capped(0));
  for (const std::uint64_t bytes : {std::uint64_t{1}, 100 * kib, 3 * mib, 40 * mib}) {
    const block piece = at.get(bytes);
    at.put(piece);
    EXPECT_EQ(at.now().cached_bytes, 0U);
    EXPECT_EQ(at.device.lent_bytes, 0U);
  }
  at.check();
}

TEST(cached_max, evicts_the_coldest_and_only_what_is_needed) {
  small_world at(capped(600 * mib), 600 * mib);
  const block a = at.get(100 * mib);
  const block b = at.get(200 * mib);
  const block c = at.get(200 * mib);
  at.put(a);
  at.put(b);
  at.put(c);
  (void)at.get(300 * mib);
  EXPECT_EQ(at.now().evictions, 2U);
  EXPECT_EQ(at.now().evicted_bytes, 300 * mib) << "A and B";
  EXPECT_EQ(at.get(200 * mib).data(), c.data()) << "C stayed";
  at.check();
}

TEST(cached_max, set_while_memory_is_held_is_obeyed_before_the_call_returns) {
  small_world at;
  block pieces[4];
  for (block& piece : pieces) piece = at.get(64 * mib);
  for (const block& piece : pieces) at.put(piece);
  EXPECT_EQ(at.now().cached_bytes, 256 * mib);
  ASSERT_EQ(at.memory->set_cached_bytes_max({bound_mode::explicit_bytes, 100 * mib}), status::ok);
  EXPECT_EQ(at.now().cached_bytes, 64 * mib);
  EXPECT_EQ(at.now().evictions, 3U);
  EXPECT_EQ(at.memory->set_cached_bytes_max({static_cast<bound_mode>(9), 0}), status::invalid_argument);
  EXPECT_EQ(at.now().cached_bytes_max, 100 * mib);
  at.check();
}

TEST(trim, goes_down_to_the_target_and_no_further) {
  small_world at;
  block pieces[8];
  for (block& piece : pieces) piece = at.get(32 * mib);
  for (const block& piece : pieces) at.put(piece);
  ASSERT_EQ(at.memory->trim(100 * mib), status::ok);
  EXPECT_EQ(at.now().cached_bytes, 96 * mib);
  EXPECT_EQ(at.now().evictions, 0U) << "asked for, not driven out by a bound";
  EXPECT_EQ(at.get(32 * mib).data(), pieces[7].data()) << "the warmest stays";
  at.check();
}

TEST(trim, of_shared_segments_leaves_the_warmest_too) {
  small_world at;
  block pieces[6];  // two a segment
  for (block& piece : pieces) piece = at.get(mib);
  for (const block& piece : pieces) at.put(piece);
  EXPECT_EQ(at.now().cached_bytes, 6 * mib);
  ASSERT_EQ(at.memory->trim(2 * mib), status::ok);
  EXPECT_EQ(at.now().cached_bytes, 2 * mib);
  EXPECT_EQ(at.get(mib).data(), pieces[4].data());
  at.check();
}

TEST(capacity, refuses_only_when_nothing_idle_is_left) {
  options settings;
  settings.cached_bytes_max.mode = bound_mode::unbounded;
  settings.capacity_bytes = 1024 * mib;
  small_world at(settings);
  at.put(at.get(512 * mib));
  const block second = at.get(768 * mib);
  EXPECT_EQ(at.now().evictions, 1U);
  EXPECT_EQ(at.now().evict_retries, 1U);
  block refused;
  EXPECT_EQ(at.memory->allocate(300 * mib, default_stream, refused), status::capacity_exceeded);
  const failure_record record = at.memory->last_failure();
  EXPECT_EQ(record.outcome, status::capacity_exceeded);
  EXPECT_EQ(record.requested_bytes, 300 * mib);
  EXPECT_EQ(record.capacity_bytes, 1024 * mib);
  EXPECT_EQ(record.allocated_bytes, 768 * mib);
  EXPECT_EQ(record.reserved_bytes, 768 * mib);
  EXPECT_EQ(at.device.lent_bytes_peak, 768 * mib) << "the driver was never asked beyond the capacity";
  at.put(second);
  (void)at.get(300 * mib);
  at.check();
}

TEST(capacity, lowered_below_what_is_live_is_refused_and_above_it_obeyed) {
  small_world at;
  const block kept = at.get(100 * mib);
  at.put(at.get(200 * mib));
  EXPECT_EQ(at.memory->set_capacity_bytes(90 * mib), status::capacity_exceeded);
  EXPECT_EQ(at.now().capacity_bytes, ARCALLOC_NO_BOUND);
  EXPECT_EQ(at.now().cached_bytes, 200 * mib);
  EXPECT_EQ(at.memory->set_capacity_bytes(150 * mib), status::ok);
  EXPECT_EQ(at.now().cached_bytes, 0U);
  EXPECT_EQ(at.memory->set_capacity_bytes(0), status::ok);
  EXPECT_EQ(at.now().capacity_bytes, ARCALLOC_NO_BOUND);
  at.put(kept);
  at.check();
}

TEST(capacity, may_be_lowered_to_what_is_live_to_the_byte) {
  small_world at;
  const block kept = at.get(104 * mib);
  at.put(at.get(208 * mib));
  EXPECT_EQ(at.memory->set_capacity_bytes(104 * mib - 1), status::capacity_exceeded);
  EXPECT_EQ(at.now().cached_bytes, 208 * mib) << "refused, and nothing has changed";
  EXPECT_EQ(at.memory->set_capacity_bytes(104 * mib), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, 104 * mib);
  at.put(kept);
  at.memory->reset_peaks();
  at.check();
}

TEST(capacity, that_the_driver_would_not_free_for_stays_as_it_was) {
  small_world at;
  at.put(at.get(104 * mib));
  at.device.fail_free = {1, true, status::shutting_down};
  EXPECT_EQ(at.memory->set_capacity_bytes(50 * mib), status::shutting_down);
  EXPECT_EQ(at.now().capacity_bytes, ARCALLOC_NO_BOUND);
  EXPECT_EQ(at.now().stuck_bytes, 104 * mib);
  at.check();
  at.device.fail_free = {};
  EXPECT_EQ(at.memory->set_capacity_bytes(50 * mib), status::capacity_exceeded) << "it is stuck until the next trim";
  EXPECT_EQ(at.memory->trim(UINT64_MAX), status::ok);
  EXPECT_EQ(at.memory->set_capacity_bytes(50 * mib), status::ok);
  at.memory->reset_peaks();
  at.check();
}

TEST(derived_cap, is_armed_at_creation_and_when_decode_begins) {
  small_world at(options{}, 262 * mib);
  EXPECT_EQ(at.now().cached_bytes_max * 4, 393 * mib);
  EXPECT_EQ(at.now().cap_source, static_cast<std::uint64_t>(ARCALLOC_CAP_DERIVED));
  at.device.others_bytes = 100 * mib;
  ASSERT_EQ(at.memory->begin_phase(phase::decode), status::ok);
  EXPECT_EQ(at.now().cached_bytes_max * 8, 3 * 162 * mib);
  const std::uint64_t queries = at.device.queries;
  ASSERT_EQ(at.memory->begin_phase(phase::decode), status::ok);
  EXPECT_EQ(at.device.queries, queries) << "entering the current phase does nothing";
}

TEST(derived_cap, is_measured_where_the_cache_is_switched_on) {
  small_world at(options{}, 262 * mib);
  ASSERT_EQ(at.memory->set_enabled(false), status::ok);
  at.device.others_bytes = 100 * mib;
  ASSERT_EQ(at.memory->set_enabled(true), status::ok);
  EXPECT_EQ(at.now().cached_bytes_max * 8, 3 * 162 * mib);
}

TEST(derived_cap, shrinks_when_others_take_memory_and_the_driver_refuses) {
  small_world at(options{}, 1000 * mib);
  at.put(at.get(160 * mib));
  at.device.others_bytes = 800 * mib;
  (void)at.get(176 * mib);
  EXPECT_EQ(at.now().evict_retries, 1U);
  const cap_arithmetic cap = at.memory->read_cap();
  EXPECT_EQ(cap.driver_free_bytes, 200 * mib);
  EXPECT_EQ(cap.cached_bytes_max, 75 * mib);
  at.check();
}

TEST(derived_cap, is_measured_again_on_a_driver_call_after_256_steps_and_never_on_a_hit) {
  small_world at(options{}, 8 * gib);
  at.put(at.get(1000));
  at.device.others_bytes = 7 * gib;
  const std::uint64_t queries = at.device.queries;
  for (int step = 0; step < 300; ++step) {
    at.put(at.get(1000));
    at.memory->end_step();
  }
  EXPECT_EQ(at.device.queries, queries);
  (void)at.get(20 * mib);
  EXPECT_EQ(at.device.queries, queries + 1);
  EXPECT_LT(at.now().cached_bytes_max, gib / 2);
  at.check();
}

TEST(derived_cap, of_a_device_that_does_not_answer_is_the_finite_fallback) {
  testing::recording_backend device(gib);
  device.fail_query = status::backend_failed;
  allocator* raw = nullptr;
  ASSERT_EQ(allocator::create(device, {}, raw), status::ok);
  const allocator_ptr memory(raw);
  cap_arithmetic cap = memory->read_cap();
  EXPECT_EQ(cap.cached_bytes_max, 256 * mib);
  EXPECT_EQ(cap.cap_source, static_cast<std::uint64_t>(ARCALLOC_CAP_FALLBACK));
  EXPECT_EQ(cap.query, status::backend_failed);
  device.fail_query = status::ok;
  ASSERT_EQ(memory->begin_phase(phase::decode), status::ok);
  EXPECT_EQ(memory->read_cap().cached_bytes_max, (gib - 256 * mib) / 2);
  device.fail_query = status::backend_failed;
  ASSERT_EQ(memory->begin_phase(phase::mixed), status::ok);
  cap = memory->read_cap();
  EXPECT_EQ(cap.cached_bytes_max, (gib - 256 * mib) / 2) << "the last good value stays";
  EXPECT_EQ(cap.query, status::backend_failed);
}

TEST(slack, stays_within_its_structural_bound_in_the_worst_case) {
  // Fill segments of every kind, then free all but the one block that keeps each segment.
  for (const std::uint64_t bytes : {std::uint64_t{512}, 40 * kib, 300 * kib, 2 * mib + 1, 9 * mib}) {
    small_world at(capped(0));
    std::vector<block> pieces;
    for (int i = 0; i < 3000 && at.now().reserved_bytes < 64 * mib; ++i) pieces.push_back(at.get(bytes));
    std::vector<std::uint64_t> seen;
    for (const block& piece : pieces) {
      segment_extent extent;
      ASSERT_EQ(at.memory->locate(piece.data(), extent), status::ok);
      const auto base = reinterpret_cast<std::uint64_t>(extent.base);
      if (std::find(seen.begin(), seen.end(), base) == seen.end()) {
        seen.push_back(base);
      } else {
        at.put(piece);
      }
    }
    EXPECT_EQ(at.now().blocks_live, seen.size());
    at.check();  // includes slack <= sum of max(2 MiB, 8 b) - b
  }
}

TEST(slack, is_reused_by_other_classes_before_the_driver_is_asked) {
  small_world at(capped(0));
  std::vector<block> pieces;
  for (int i = 0; i < 64; ++i) pieces.push_back(at.get(32 * kib));
  EXPECT_EQ(at.now().segments_reserved, 1U);
  for (std::size_t i = 1; i < pieces.size(); ++i) at.put(pieces[i]);
  EXPECT_EQ(at.now().slack_bytes, 63 * 32 * kib);
  (void)at.get(mib);
  (void)at.get(600 * kib);
  (void)at.get(100);
  EXPECT_EQ(at.device.allocate_calls, 1U);
  at.check();
}

}  // namespace
}  // namespace arcalloc
