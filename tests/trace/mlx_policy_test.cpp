// SPDX-License-Identifier: Apache-2.0
// The rules of MLX's allocator, each on a sequence that was worked out by hand.
#include "trace/peers/mlx_policy.hpp"

#include <gtest/gtest.h>

#include "placed_ranges.hpp"
#include "reading.hpp"

namespace arcalloc::trace {
namespace {

/// What the range of scalars takes of the device from the start.
constexpr std::uint64_t scalars = 64 * kib;

/// A policy on a device of its own, whose granule is as small as a buffer may be.
struct mlx_on_device {
  explicit mlx_on_device(std::optional<std::uint64_t> cached_bytes_max = {}, std::uint64_t memory_bytes = 1024 * mib,
                         std::uint64_t granule_bytes = 8)
      : device(memory_bytes, granule_bytes), rules(device, cached_bytes_max) {}

  std::uint64_t allocate(std::uint64_t bytes) {
    const auto address = rules.allocate(bytes, 0);
    EXPECT_TRUE(address) << bytes;
    return address.value_or(0);
  }
  /// Caches buffers of these sizes, the first being the oldest.
  void cache(std::initializer_list<std::uint64_t> sizes) {
    std::vector<std::uint64_t> addresses;
    for (const std::uint64_t bytes : sizes) addresses.push_back(allocate(bytes));
    for (const std::uint64_t address : addresses) rules.deallocate(address);
  }
  /// Whether a request is served from a cache of one buffer.
  static bool serves(std::uint64_t cached, std::uint64_t request) {
    mlx_on_device its;
    its.cache({cached});
    (void)its.allocate(request);
    return its.device.allocates() == 2;
  }

  model_device device;
  mlx_policy rules;
};

TEST(mlx_policy, rounds_to_pages_and_below_a_page_to_a_power_of_two) {
  const mlx_on_device its;
  for (const auto& [asked, given] :
       {std::pair{1, 8}, {8, 8}, {9, 16}, {100, 128}, {16383, 16384}, {16384, 16384}, {16385, 32768}}) {
    EXPECT_EQ(its.rules.rounded(static_cast<std::uint64_t>(asked)), static_cast<std::uint64_t>(given));
  }
}

TEST(mlx_policy, makes_a_driver_call_for_each_buffer) {
  mlx_on_device its;
  (void)its.allocate(100);
  (void)its.allocate(100);
  EXPECT_EQ(its.device.allocates(), 3U);
  EXPECT_EQ(its.device.reserved_bytes(), scalars + 256);
}

TEST(mlx_policy, serves_from_below_twice_the_size_and_below_two_pages_more) {
  EXPECT_TRUE(mlx_on_device::serves(80 * kib, 64 * kib));
  EXPECT_FALSE(mlx_on_device::serves(96 * kib, 64 * kib)) << "two pages more";
  EXPECT_TRUE(mlx_on_device::serves(48 * kib, 32 * kib));
  EXPECT_FALSE(mlx_on_device::serves(64 * kib, 32 * kib)) << "twice as much, and two pages more";
  EXPECT_FALSE(mlx_on_device::serves(32 * kib, 16 * kib)) << "twice as much";
  EXPECT_TRUE(mlx_on_device::serves(128, 65));
  EXPECT_FALSE(mlx_on_device::serves(128, 64));
  EXPECT_FALSE(mlx_on_device::serves(64 * kib, 80 * kib)) << "too small";
}

TEST(mlx_policy, takes_the_smallest_buffer_that_fits_and_of_equal_ones_the_first_to_come) {
  mlx_on_device its;
  const std::uint64_t large = its.allocate(80 * kib);
  const std::uint64_t first = its.allocate(64 * kib);
  const std::uint64_t second = its.allocate(64 * kib);
  for (const std::uint64_t each : {large, second, first}) its.rules.deallocate(each);
  EXPECT_EQ(its.allocate(60 * kib), second);
  EXPECT_EQ(its.allocate(60 * kib), first);
  EXPECT_EQ(its.allocate(60 * kib), large);
  EXPECT_EQ(its.rules.bytes().allocated, 208 * kib);
  EXPECT_EQ(its.rules.bytes().cached, 0U);
}

TEST(mlx_policy, knows_no_streams) {
  mlx_on_device its;
  const std::uint64_t first = its.allocate(64 * kib);
  its.rules.note_use(first, 7);
  its.rules.deallocate(first);
  EXPECT_EQ(its.rules.allocate(64 * kib, 9), first);
}

TEST(mlx_policy, frees_the_least_recently_cached_where_the_cache_is_above_its_max) {
  mlx_on_device its(64 * kib);
  its.cache({48 * kib, 40 * kib});  // the second finds it below, and brings it to 96 KiB
  EXPECT_EQ(its.rules.bytes().cached, 96 * kib);
  EXPECT_EQ(its.device.frees(), 0U);
  (void)its.allocate(16 * kib);  // after it 32 KiB are to go: the older one
  EXPECT_EQ(its.device.frees(), 1U);
  EXPECT_EQ(its.rules.bytes().cached, 48 * kib);
  EXPECT_EQ(its.rules.largest_idle_bytes(), 48 * kib) << "40 KiB are three pages";
  EXPECT_EQ(its.rules.blocks_idle(), 1U);
}

TEST(mlx_policy, frees_to_the_driver_what_finds_the_cache_full) {
  mlx_on_device its(64 * kib);
  its.cache({64 * kib, 16 * kib});
  EXPECT_EQ(its.device.frees(), 1U);
  EXPECT_EQ(its.rules.bytes().cached, 64 * kib);
  mlx_on_device without(0);
  without.cache({64 * kib, 16 * kib});
  EXPECT_EQ(without.device.frees(), 2U);
  EXPECT_EQ(without.device.reserved_bytes(), scalars);
}

TEST(mlx_policy, makes_room_below_the_memory_it_may_use_before_it_asks_the_driver) {
  // Of 1000 KiB 800 may be used: 608 are cached, so 304 more are 112 too many, and the oldest goes.
  mlx_on_device its({}, 1000 * kib);
  EXPECT_EQ(its.rules.cached_bytes_max(), 800 * kib);
  its.cache({208 * kib, 400 * kib});
  (void)its.allocate(304 * kib);
  EXPECT_EQ(its.device.frees(), 1U);
  EXPECT_EQ(its.rules.bytes().cached, 400 * kib);
  // It holds nothing back: what is out may be more than that.
  mlx_on_device full({}, 1000 * kib);
  (void)full.allocate(912 * kib);
  EXPECT_EQ(full.device.reserved_bytes(), scalars + 912 * kib);
}

TEST(mlx_policy, frees_all_of_the_cache_where_nine_tenths_of_it_are_wanted) {
  // 588.8 KiB may be used and 672 are cached. With 528 more 611.2 are too many, of which nine tenths are 604.8.
  mlx_on_device all(mib, 736 * kib);
  all.cache({608 * kib, 64 * kib});
  (void)all.allocate(528 * kib);
  EXPECT_EQ(all.device.frees(), 2U);
  // With 512 more 595.2 are: the oldest will do.
  mlx_on_device oldest(mib, 736 * kib);
  oldest.cache({608 * kib, 64 * kib});
  (void)oldest.allocate(512 * kib);
  EXPECT_EQ(oldest.device.frees(), 1U);
  EXPECT_EQ(oldest.rules.bytes().cached, 64 * kib);
}

TEST(mlx_policy, is_out_of_memory_where_the_driver_refuses_whatever_is_cached) {
  mlx_on_device its({}, 8 * mib, 2 * mib);  // a granule for the scalars, three for the others
  its.cache({16 * kib, 16 * kib, 16 * kib});
  EXPECT_FALSE(its.rules.allocate(112 * kib, 0));
  EXPECT_EQ(its.device.frees(), 0U);
  EXPECT_EQ(its.rules.bytes().cached, 48 * kib);
}

TEST(mlx_policy, has_room_for_8192_scalars_from_the_start) {
  mlx_on_device its;
  EXPECT_EQ(its.device.allocates(), 1U);
  const std::uint64_t first = its.allocate(1);
  for (int i = 1; i < 8192; ++i) (void)its.allocate(8);
  EXPECT_EQ(its.device.allocates(), 1U);
  const std::uint64_t one_more = its.allocate(8);
  EXPECT_EQ(its.device.allocates(), 2U);
  its.rules.deallocate(first);
  its.rules.deallocate(one_more);
  EXPECT_EQ(its.rules.bytes().cached, 8U) << "a scalar of the range is not cached";
  EXPECT_EQ(its.allocate(4), first);
}

TEST(mlx_policy, drains_the_cache) {
  mlx_on_device its;
  its.cache({64 * kib, 16 * kib});
  its.rules.drain();
  EXPECT_EQ(its.device.reserved_bytes(), scalars);
  EXPECT_EQ(its.rules.bytes().cached, 0U);
}

TEST(mlx_policy, never_hands_out_a_byte_twice) {
  for (const std::uint64_t cached_bytes_max : {std::uint64_t{0}, 8 * mib, 1024 * mib}) {
    mlx_on_device its(cached_bytes_max);
    test::expect_blocks_apart(its.rules, its.device);
    its.rules.drain();
    EXPECT_EQ(its.device.reserved_bytes(), scalars);
  }
}

}  // namespace
}  // namespace arcalloc::trace
