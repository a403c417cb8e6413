// SPDX-License-Identifier: Apache-2.0
// The rules of PyTorch's allocator, each on a sequence that was worked out by hand.
#include "trace/peers/pytorch_policy.hpp"

#include <gtest/gtest.h>

#include "placed_ranges.hpp"
#include "reading.hpp"

namespace arcalloc::trace {
namespace {

/// A policy on a device of its own.
struct pytorch_on_device {
  explicit pytorch_on_device(std::uint64_t memory_bytes = 1024 * mib) : device(memory_bytes, 2 * mib), rules(device) {}

  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t stream = 0) {
    const auto address = rules.allocate(bytes, stream);
    EXPECT_TRUE(address) << bytes;
    return address.value_or(0);
  }

  model_device device;
  pytorch_policy rules;
};

TEST(pytorch_policy, rounds_to_512_bytes) {
  const pytorch_on_device its;
  for (const auto& [asked, given] : {std::pair{1, 512}, {512, 512}, {513, 1024}, {1048577, 1049088}}) {
    EXPECT_EQ(its.rules.rounded(static_cast<std::uint64_t>(asked)), static_cast<std::uint64_t>(given));
  }
}

TEST(pytorch_policy, asks_the_driver_for_2_mib_20_mib_or_steps_of_2_mib) {
  EXPECT_EQ(pytorch_policy::segment_bytes(512), 2 * mib);
  EXPECT_EQ(pytorch_policy::segment_bytes(mib), 2 * mib);
  EXPECT_EQ(pytorch_policy::segment_bytes(mib + 512), 20 * mib);
  EXPECT_EQ(pytorch_policy::segment_bytes(10 * mib - 512), 20 * mib);
  EXPECT_EQ(pytorch_policy::segment_bytes(10 * mib), 10 * mib);
  EXPECT_EQ(pytorch_policy::segment_bytes(10 * mib + 512), 12 * mib);
}

TEST(pytorch_policy, splits_a_small_block_from_512_bytes_on) {
  pytorch_on_device its;
  const std::uint64_t first = its.allocate(mib);
  EXPECT_EQ(its.allocate(mib), first + mib);
  EXPECT_EQ(its.device.reserved_bytes(), 2 * mib);
  its.rules.deallocate(first);
  EXPECT_EQ(its.allocate(mib - 512), first);
  EXPECT_EQ(its.allocate(512), first + mib - 512);
  EXPECT_EQ(its.device.reserved_bytes(), 2 * mib);
  EXPECT_EQ(its.rules.bytes().allocated, 2 * mib);
  EXPECT_EQ(its.rules.blocks_idle(), 0U);
}

TEST(pytorch_policy, splits_a_large_block_above_one_mib_only) {
  pytorch_on_device its;
  const std::uint64_t first = its.allocate(9 * mib);  // 20 MiB, of which 11 are split off
  const std::uint64_t rest = its.allocate(10 * mib);  // exactly 1 MiB more than that: handed out with it
  EXPECT_EQ(rest, first + 9 * mib);
  EXPECT_EQ(its.rules.bytes().allocated, 20 * mib);
  EXPECT_EQ(its.rules.blocks_idle(), 0U);
  its.rules.deallocate(rest);
  EXPECT_EQ(its.allocate(10 * mib - 512), rest);  // 512 bytes more than 1 MiB: split off
  EXPECT_EQ(its.rules.bytes().allocated, 19 * mib - 512);
  EXPECT_EQ(its.rules.largest_idle_bytes(), mib + 512);
  EXPECT_EQ(its.device.reserved_bytes(), 20 * mib);
}

TEST(pytorch_policy, keeps_small_and_large_blocks_apart) {
  pytorch_on_device its;
  its.rules.deallocate(its.allocate(9 * mib));
  (void)its.allocate(512);  // the idle 20 MiB are large
  EXPECT_EQ(its.device.reserved_bytes(), 22 * mib);
  (void)its.allocate(mib + 1);  // what is idle of the 2 MiB is small; of the 20 there is enough
  EXPECT_EQ(its.device.reserved_bytes(), 22 * mib);
}

TEST(pytorch_policy, merges_with_idle_neighbours_on_both_sides) {
  for (const auto& order : {std::array{0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {0, 1, 2}}) {
    pytorch_on_device its;
    const std::array blocks{its.allocate(512 * kib), its.allocate(512 * kib), its.allocate(512 * kib)};
    for (const int each : order) its.rules.deallocate(blocks[static_cast<std::size_t>(each)]);
    EXPECT_EQ(its.rules.blocks_idle(), 1U);
    EXPECT_EQ(its.rules.largest_idle_bytes(), 2 * mib);
    EXPECT_EQ(its.rules.bytes().cached, 2 * mib);
  }
}

TEST(pytorch_policy, does_not_merge_across_segments) {
  pytorch_on_device its;
  const std::uint64_t first = its.allocate(10 * mib);
  const std::uint64_t second = its.allocate(10 * mib);
  ASSERT_EQ(second, first + 10 * mib);
  its.rules.deallocate(first);
  its.rules.deallocate(second);
  EXPECT_EQ(its.rules.blocks_idle(), 2U);
  EXPECT_EQ(its.rules.largest_idle_bytes(), 10 * mib);
  EXPECT_EQ(its.rules.bytes().cached, 20 * mib);
}

TEST(pytorch_policy, takes_the_smallest_block_that_fits_and_of_equal_ones_the_lowest) {
  pytorch_on_device its;
  const std::uint64_t big = its.allocate(30 * mib);
  const std::uint64_t low = its.allocate(14 * mib);
  const std::uint64_t high = its.allocate(14 * mib);
  for (const std::uint64_t each : {high, big, low}) its.rules.deallocate(each);
  EXPECT_EQ(its.allocate(13 * mib), low);
  EXPECT_EQ(its.allocate(13 * mib), high);
  EXPECT_EQ(its.allocate(13 * mib), big);
  EXPECT_EQ(its.device.allocates(), 3U);
}

TEST(pytorch_policy, keeps_streams_apart) {
  pytorch_on_device its;
  const std::uint64_t first = its.allocate(512, 1);
  its.rules.deallocate(first);
  EXPECT_NE(its.allocate(512, 2), first);
  EXPECT_EQ(its.device.allocates(), 2U);
  EXPECT_EQ(its.allocate(512, 1), first);
  EXPECT_EQ(its.device.allocates(), 2U);
}

TEST(pytorch_policy, holds_a_block_used_elsewhere_until_the_next_request) {
  pytorch_on_device its;
  const std::uint64_t first = its.allocate(512 * kib);
  const std::uint64_t second = its.allocate(512 * kib);
  its.rules.note_use(first, 2);
  its.rules.note_use(first, 3);
  its.rules.note_use(second, 0);  // its own stream: no use elsewhere
  its.rules.deallocate(first);
  its.rules.deallocate(second);
  EXPECT_EQ(its.rules.events(), 2U);
  EXPECT_EQ(its.rules.bytes().pending, 512 * kib);
  EXPECT_EQ(its.rules.largest_idle_bytes(), 3 * 512 * kib) << "the second and the rest, but not the first";
  EXPECT_EQ(its.allocate(mib), first) << "by now its work has passed, and all is one block";
  EXPECT_EQ(its.rules.bytes().pending, 0U);
}

TEST(pytorch_policy, gives_back_whole_idle_segments_and_asks_again_where_the_driver_refuses) {
  pytorch_on_device its(22 * mib);
  its.rules.deallocate(its.allocate(9 * mib, 1));
  (void)its.allocate(12 * mib, 2);
  EXPECT_EQ(its.device.refusals(), 1U);
  EXPECT_EQ(its.device.frees(), 1U);
  EXPECT_EQ(its.device.reserved_bytes(), 12 * mib);
}

TEST(pytorch_policy, is_out_of_memory_where_what_is_idle_is_split) {
  pytorch_on_device its(24 * mib);
  const std::uint64_t first = its.allocate(9 * mib);
  (void)its.allocate(9 * mib);
  its.rules.deallocate(first);
  EXPECT_FALSE(its.rules.allocate(12 * mib, 0));
  EXPECT_EQ(its.device.refusals(), 2U);
  EXPECT_EQ(its.device.frees(), 0U);
  EXPECT_EQ(its.allocate(9 * mib), first) << "a refusal changes nothing";
}

TEST(pytorch_policy, drains_what_is_wholly_idle) {
  pytorch_on_device its;
  const std::uint64_t first = its.allocate(512);
  its.rules.deallocate(its.allocate(30 * mib));
  its.rules.drain();
  EXPECT_EQ(its.device.reserved_bytes(), 2 * mib);
  its.rules.note_use(first, 5);
  its.rules.deallocate(first);
  its.rules.drain();  // waits for the other stream
  EXPECT_EQ(its.device.reserved_bytes(), 0U);
  EXPECT_EQ(its.rules.blocks_idle(), 0U);
}

TEST(pytorch_policy, never_hands_out_a_byte_twice) {
  pytorch_on_device its(256 * mib);
  test::expect_blocks_apart(its.rules, its.device);
  its.rules.drain();
  EXPECT_EQ(its.device.reserved_bytes(), 0U);
}

}  // namespace
}  // namespace arcalloc::trace
