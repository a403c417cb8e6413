// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <arcalloc/allocator.hpp>

#include <cstring>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::gib;
using testing::kib;
using testing::mib;
using testing::small_world;

/// The counters but for the one a refusal may change.
bool same_but(counters before, counters after, std::uint64_t counters::*refusal) {
  before.*refusal = after.*refusal = 0;
  return std::memcmp(&before, &after, sizeof before) == 0;
}

TEST(allocate, of_zero_bytes_is_ok_and_no_block) {
  small_world at;
  const counters before = at.now();
  block piece;
  EXPECT_EQ(at.memory->allocate(0, default_stream, piece), status::ok);
  EXPECT_FALSE(piece);
  EXPECT_EQ(at.memory->deallocate(piece), status::ok);
  EXPECT_EQ(at.memory->deallocate(nullptr), status::ok);
  EXPECT_EQ(at.memory->deallocate(nullptr, 0), status::ok);
  EXPECT_TRUE(same_but(before, at.now(), &counters::requests));
  EXPECT_EQ(at.now().requests, 0U);
}

TEST(allocate, of_absurd_sizes_is_request_too_large_and_changes_only_counters) {
  small_world at;
  for (const std::uint64_t bytes : {request_bytes_max + 1, std::uint64_t{1} << 63, UINT64_MAX - 511, UINT64_MAX}) {
    block piece;
    EXPECT_EQ(at.memory->allocate(bytes, default_stream, piece), status::request_too_large) << bytes;
    EXPECT_FALSE(piece);
  }
  EXPECT_EQ(at.now().failed_request_too_large, 4U);
  EXPECT_EQ(at.now().requests, 4U);
  EXPECT_EQ(at.device.allocate_calls, 0U);
  block piece;
  EXPECT_EQ(at.memory->allocate(request_bytes_max, default_stream, piece), status::device_out_of_memory);
  at.check();
}

TEST(allocate, a_hit_makes_no_driver_call_and_returns_the_last_freed_block) {
  small_world at;
  const block first = at.get(8192);
  at.put(first);
  const std::uint64_t calls = at.device.allocate_calls + at.device.queries;
  for (int i = 0; i < 100; ++i) {
    const block again = at.get(8000);
    EXPECT_EQ(again.data(), first.data());
    at.put(again);
  }
  EXPECT_EQ(at.device.allocate_calls + at.device.queries, calls);
  EXPECT_EQ(at.now().stream_cache_hits, 100U);
  EXPECT_EQ(at.now().misses, 1U);
  at.check();
}

TEST(allocate, eleven_thousand_tensors_cost_few_driver_calls) {
  small_world at;
  for (int i = 0; i < 11000; ++i) (void)at.get(512 + 512 * static_cast<std::uint64_t>(i % 16));
  // 11,000 blocks of 4.25 KiB on average are 45.7 MiB: 24 segments, and the partly filled ones.
  EXPECT_LE(at.device.allocate_calls, 28U);
  at.check();
}

TEST(allocate, medium_blocks_share_segments) {
  small_world at(options{}, 24 * gib, 2 * mib);
  for (int i = 0; i < 6; ++i) (void)at.get(300 * kib);
  EXPECT_EQ(at.now().reserved_bytes, 2 * mib);
  EXPECT_EQ(at.now().segments_reserved, 1U);
  at.check();
}

TEST(allocate, counts_the_bytes_that_the_device_really_takes) {
  small_world at(options{}, 24 * gib, 2 * mib);
  const block piece = at.get(17 * mib);
  EXPECT_EQ(at.now().reserved_bytes, 18 * mib);
  EXPECT_EQ(at.now().allocated_bytes, 18 * mib);
  EXPECT_EQ(at.now().requested_bytes, 17 * mib);
  at.put(piece);
  EXPECT_EQ(at.now().cached_bytes, 18 * mib);
  at.check();
}

TEST(allocate, a_block_reused_for_less_keeps_its_true_size) {
  small_world at;
  at.put(at.get(100 * mib));
  const block smaller = at.get(97 * mib);
  EXPECT_EQ(at.now().pool_hits, 1U);
  EXPECT_EQ(at.now().requested_bytes, 97 * mib);
  EXPECT_EQ(at.now().allocated_bytes, 100 * mib);
  at.put(smaller);
  at.check();
}

TEST(allocate, idle_memory_in_partly_used_segments_stays_with_its_stream) {
  small_world at;
  const block kept = at.get(4096, stream{1});
  const block first = at.get(4096, stream{1});
  at.put(first);
  const block other = at.get(4096, stream{2});
  EXPECT_NE(first.data(), other.data());
  EXPECT_EQ(at.now().misses, 2U);
  EXPECT_EQ(at.get(4096, stream{1}).data(), first.data());
  at.put(kept);
  at.check();
}

TEST(allocate, wholly_idle_memory_whose_work_has_finished_serves_any_stream) {
  small_world at;
  at.put(at.get(4096, stream{1}));
  at.put(at.get(90 * mib, stream{1}));
  (void)at.get(4096, stream{2});
  (void)at.get(90 * mib, stream{2});
  EXPECT_EQ(at.now().cross_stream_hits, 2U);
  EXPECT_EQ(at.device.allocate_calls, 2U);
  at.check();
}

TEST(allocate, geometry_exact_makes_one_driver_allocation_per_block) {
  options settings;
  settings.classes = geometry::exact;
  settings.cached_bytes_max.mode = bound_mode::unbounded;
  small_world at(settings);
  for (std::uint64_t i = 1; i <= 50; ++i) at.put(at.get(i * 512));
  EXPECT_EQ(at.device.allocate_calls, 50U);
  EXPECT_EQ(at.now().classes_idle, 50U);
  at.put(at.get(25 * 512 - 3));
  EXPECT_EQ(at.device.allocate_calls, 50U);
  EXPECT_EQ(at.now().pool_hits, 1U);
  EXPECT_EQ(at.now().cached_bytes, 50U * 51 / 2 * 512);
  at.check();
}

TEST(deallocate, works_by_handle_by_address_and_by_address_and_size) {
  small_world at;
  for (const std::uint64_t bytes : {std::uint64_t{100}, 40 * kib, 5 * mib, 90 * mib}) {
    at.put(at.get(bytes));
    EXPECT_EQ(at.memory->deallocate(at.get(bytes).data()), status::ok);
    EXPECT_EQ(at.memory->deallocate(at.get(bytes).data(), bytes), status::ok);
  }
  EXPECT_EQ(at.now().blocks_live, 0U);
  EXPECT_EQ(at.now().frees, 12U);
  at.check();
}

TEST(deallocate, refuses_a_second_free_and_changes_only_its_counter) {
  small_world at;
  for (const std::uint64_t bytes : {std::uint64_t{100}, 5 * mib, 90 * mib}) {
    const block piece = at.get(bytes);
    at.put(piece);
    const counters before = at.now();
    EXPECT_EQ(at.memory->deallocate(piece), status::double_free);
    EXPECT_EQ(at.memory->deallocate(piece.data()), status::double_free);
    EXPECT_EQ(at.memory->deallocate(piece.data(), bytes), status::double_free);
    EXPECT_TRUE(same_but(before, at.now(), &counters::refused_double_free));
    EXPECT_EQ(at.now().refused_double_free - before.refused_double_free, 3U);
  }
  at.check();
}

TEST(deallocate, after_the_segment_went_back_a_second_free_is_an_unknown_pointer) {
  small_world at;
  for (const std::uint64_t bytes : {std::uint64_t{100}, 5 * mib, 90 * mib}) {
    const block piece = at.get(bytes);
    at.put(piece);
    ASSERT_EQ(at.memory->drain(), status::ok);
    const counters before = at.now();
    EXPECT_EQ(at.memory->deallocate(piece), status::unknown_pointer);
    EXPECT_EQ(at.memory->deallocate(piece.data()), status::unknown_pointer);
    EXPECT_TRUE(same_but(before, at.now(), &counters::refused_unknown_pointer));
  }
  at.check();
}

TEST(deallocate, refuses_foreign_pointers_interiors_and_wrong_sizes) {
  small_world at;
  small_world other;
  const block foreign = other.get(1000);
  const block piece = at.get(1000);
  const block large = at.get(90 * mib);
  int local = 0;
  const counters before = at.now();
  EXPECT_EQ(at.memory->deallocate(&local), status::unknown_pointer);
  EXPECT_EQ(at.memory->deallocate(static_cast<std::byte*>(piece.data()) + 512), status::unknown_pointer);
  EXPECT_EQ(at.memory->deallocate(static_cast<std::byte*>(piece.data()) + 1), status::unknown_pointer);
  EXPECT_EQ(at.memory->deallocate(static_cast<std::byte*>(large.data()) + mib), status::unknown_pointer);
  EXPECT_EQ(at.memory->deallocate(nullptr, 5), status::unknown_pointer);
  EXPECT_TRUE(same_but(before, at.now(), &counters::refused_unknown_pointer));
  EXPECT_EQ(at.memory->deallocate(piece.data(), 1001), status::invalid_argument);
  EXPECT_EQ(at.memory->deallocate(large.data(), 0), status::invalid_argument);
  EXPECT_EQ(at.now().refused_invalid_argument, 2U);
  at.put(piece);
  at.put(large);
  other.put(foreign);
  at.check();
}

TEST(deallocate, refuses_the_handle_of_another_allocator) {
  small_world at;
  small_world other;
  const block foreign = other.get(1000);
  EXPECT_EQ(at.memory->deallocate(foreign), status::unknown_pointer);
  EXPECT_EQ(at.now().refused_unknown_pointer, 1U);
  other.put(foreign);
  const block large = other.get(90 * mib);
  EXPECT_EQ(at.memory->deallocate(large), status::unknown_pointer);
  other.put(large);
  at.check();
  other.check();
}

TEST(locate, says_base_size_and_offset_of_the_segment) {
  small_world at;
  const block first = at.get(1000);
  const block large = at.get(90 * mib);
  segment_extent extent;
  ASSERT_EQ(at.memory->locate(static_cast<std::byte*>(large.data()) + 77, extent), status::ok);
  EXPECT_EQ(extent.base, large.data());
  EXPECT_EQ(extent.bytes, 90 * mib);
  EXPECT_EQ(extent.offset_bytes, 77U);
  ASSERT_EQ(at.memory->locate(first.data(), extent), status::ok);
  EXPECT_EQ(extent.bytes, 2 * mib);
  int local = 0;
  EXPECT_EQ(at.memory->locate(&local, extent), status::unknown_pointer);
}

TEST(create, refuses_options_and_devices_that_make_no_sense) {
  testing::recording_backend device(gib);
  allocator* raw = nullptr;
  options settings;
  settings.classes = static_cast<geometry>(77);
  EXPECT_EQ(allocator::create(device, settings, raw), status::invalid_argument);
  EXPECT_EQ(raw, nullptr);
  settings = {};
  settings.cached_bytes_max.mode = static_cast<bound_mode>(77);
  EXPECT_EQ(allocator::create(device, settings, raw), status::invalid_argument);
  testing::recording_backend odd(gib, 1000);
  EXPECT_EQ(allocator::create(odd, {}, raw), status::backend_failed);
}

TEST(destroy, gives_live_and_cached_segments_back) {
  testing::recording_backend device(gib);
  allocator* raw = nullptr;
  ASSERT_EQ(allocator::create(device, {}, raw), status::ok);
  block piece;
  ASSERT_EQ(raw->allocate(1000, default_stream, piece), status::ok);
  ASSERT_EQ(raw->allocate(90 * mib, default_stream, piece), status::ok);
  allocator::destroy(raw);
  EXPECT_EQ(device.lent_bytes, 0U);
  EXPECT_EQ(device.convictions, 0U);
  allocator::destroy(nullptr);
}

TEST(destroy, does_not_abort_when_the_driver_is_unloading) {
  testing::recording_backend device(gib);
  allocator* raw = nullptr;
  ASSERT_EQ(allocator::create(device, {}, raw), status::ok);
  block piece;
  ASSERT_EQ(raw->allocate(1000, default_stream, piece), status::ok);
  ASSERT_EQ(raw->deallocate(piece), status::ok);
  device.fail_free = {1, true, status::shutting_down};
  allocator::destroy(raw);
  EXPECT_EQ(device.free_calls, 1U);
}

TEST(allocate, leaves_no_block_where_it_hands_out_none) {
  small_world at(capped(0), 64 * mib);
  const block live = at.get(1000);
  for (const std::uint64_t bytes : {std::uint64_t{0}, 100 * mib, request_bytes_max + 1}) {
    block out = live;
    EXPECT_EQ(at.memory->allocate(bytes, default_stream, out) == status::ok, bytes == 0);
    EXPECT_EQ(out.data(), nullptr);
    EXPECT_EQ(at.memory->deallocate(out), status::ok) << "nothing is freed";
  }
  EXPECT_EQ(at.now().blocks_live, 1U);
  at.put(live);
  at.check();
}

TEST(allocate, takes_what_is_ready_before_it_takes_apart_what_is_ready_for_others) {
  small_world at;
  const block live = at.get(512);
  const block large = at.get(mib);
  const block rest = at.get(983040);  // 30 units of 32 KiB: one is left
  EXPECT_EQ(at.now().segments_reserved, 1U);
  const block other = at.get(70 * kib);
  EXPECT_EQ(at.now().segments_reserved, 2U);
  at.put(large);
  at.put(rest);
  at.put(other);
  EXPECT_EQ(at.get(70 * kib).data(), other.data());
  EXPECT_EQ(at.get(mib).data(), large.data());
  EXPECT_EQ(at.get(983040).data(), rest.data());
  EXPECT_EQ(at.now().driver_allocs, 2U);
  at.put(live);
  at.check();
}

TEST(allocator, refuses_an_address_inside_a_block_of_any_size) {
  small_world at;
  for (std::uint64_t bytes = kib; bytes <= 16 * mib; bytes += bytes / 8) {
    const block piece = at.get(bytes);
    auto* const begin = static_cast<std::byte*>(piece.data());
    segment_extent extent;
    ASSERT_EQ(at.memory->locate(begin, extent), status::ok);
    auto* const end = static_cast<std::byte*>(extent.base) + extent.bytes;
    for (std::byte* const inside : {begin + 1, begin + 511, begin + bytes - 1, end - 1, end - 2, end - 512}) {
      EXPECT_EQ(at.memory->deallocate(inside), status::unknown_pointer) << bytes;
      EXPECT_EQ(at.memory->note_use(inside, stream{9}), status::unknown_pointer) << bytes;
    }
    at.put(piece);
  }
  at.check();
}

TEST(allocator, fills_a_partly_used_segment_before_it_wakes_an_idle_one) {
  small_world at;
  const auto segment_of = [&at](const block& piece) {
    segment_extent where;
    EXPECT_EQ(at.memory->locate(piece.data(), where), status::ok);
    return where.base;
  };
  // A run of two, and the rest of its segment filled, so that the next run of the class is in a second segment.
  const block first = at.get(16 * kib);
  block other = at.get(16 * kib);
  std::vector<block> filler;
  for (int i = 0; i < 7; ++i) filler.push_back(at.get(256 * kib));
  for (int i = 0; i < 7; ++i) filler.push_back(at.get(32 * kib));
  filler.push_back(at.get(16 * kib));
  ASSERT_NE(segment_of(filler.back()), segment_of(first));
  for (const block& piece : filler) at.put(piece);
  ASSERT_EQ(at.now().cached_bytes, 2 * mib) << "the second is idle";
  // Room in the first, and its full run before the other one.
  const block large = at.get(mib);
  ASSERT_EQ(segment_of(large), segment_of(first));
  at.put(other);
  other = at.get(16 * kib);
  const block next = at.get(16 * kib);
  EXPECT_EQ(segment_of(next), segment_of(first));
  EXPECT_EQ(at.now().cached_bytes, 2 * mib);
  at.check();
}

}  // namespace
}  // namespace arcalloc
