// SPDX-License-Identifier: Apache-2.0
// Blocks between 1 and 16 MiB share segments: what a class is lent grows with what it has asked for.
#include <gtest/gtest.h>

#include <vector>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::gib;
using testing::mib;
using testing::small_world;

constexpr std::size_t granule = 2 * mib;
constexpr std::uint64_t block_bytes = 9 * mib / 4;  // a class, and an eighth more than a granule

TEST(medium_class, asks_for_no_more_than_its_first_block_needs) {
  small_world at(capped(gib), 24 * gib, granule);
  const block piece = at.get(block_bytes);
  EXPECT_EQ(at.now().reserved_bytes, 4 * mib);
  at.put(piece);
  at.check();
}

TEST(medium_class, wastes_little_of_the_devices_granule_once_it_has_many_blocks) {
  small_world at(capped(gib), 24 * gib, granule);
  for (int i = 0; i < 48; ++i) (void)at.get(block_bytes);
  const counters said = at.now();
  EXPECT_EQ(said.allocated_bytes, 48 * block_bytes);
  EXPECT_LE(said.reserved_bytes, said.allocated_bytes * 115 / 100) << "a segment for each would be 1.78 times";
  EXPECT_LE(said.driver_allocs, 12U);
  at.check();
}

TEST(medium_class, without_waste_gets_a_segment_for_each_block_until_there_are_many) {
  small_world at(capped(gib), 24 * gib, granule);
  for (std::uint64_t i = 1; i <= 8; ++i) {
    (void)at.get(4 * mib);
    EXPECT_EQ(at.now().reserved_bytes, i * 4 * mib);
  }
  for (int i = 0; i < 4; ++i) (void)at.get(4 * mib);
  EXPECT_EQ(at.now().driver_allocs, 10U) << "two blocks each";
  EXPECT_EQ(at.now().slack_bytes, 0U);
  at.check();
}

TEST(medium_class, asks_for_less_where_the_capacity_or_the_device_has_no_more) {
  for (const bool by_capacity : {true, false}) {
    options settings = capped(gib);
    if (by_capacity) settings.capacity_bytes = 14 * mib;
    small_world at(settings, by_capacity ? 24 * gib : 14 * mib, granule);
    // 4 MiB, then 6 for two, and then not 8 for three but 4.
    for (int i = 0; i < 4; ++i) (void)at.get(block_bytes);
    const counters said = at.now();
    EXPECT_EQ(said.reserved_bytes, 14 * mib);
    EXPECT_EQ(said.driver_allocs, 3U);
    EXPECT_EQ(said.driver_refusals, by_capacity ? 0U : 1U);
    EXPECT_EQ(said.evict_retries, 0U);
    at.check();
  }
}

TEST(medium_class, is_lent_at_most_half_of_the_bound_at_once) {
  small_world at(capped(8 * mib), 24 * gib, granule);
  for (int i = 0; i < 3; ++i) (void)at.get(block_bytes);
  EXPECT_EQ(at.now().reserved_bytes, 12 * mib) << "three times 4 MiB: two blocks would be 6";
  at.check();
}

TEST(medium_class, has_what_a_prewarm_asks_for_and_no_more) {
  small_world at(capped(gib), 24 * gib, granule);
  for (int i = 0; i < 8; ++i) (void)at.get(block_bytes);
  const std::uint64_t before = at.now().reserved_bytes;
  profile wanted;
  ASSERT_TRUE(wanted.add({stream{7}, block_bytes, 1}));
  ASSERT_EQ(at.memory->prewarm(wanted), status::ok);
  EXPECT_EQ(at.now().reserved_bytes, before + 4 * mib);
  at.check();
}

TEST(medium_class, forgets_what_it_had_when_that_is_back_with_the_driver) {
  small_world at(capped(gib), 24 * gib, granule);
  std::vector<block> pieces;
  for (int i = 0; i < 48; ++i) pieces.push_back(at.get(block_bytes));
  for (const block& piece : pieces) at.put(piece);
  ASSERT_EQ(at.memory->drain(), status::ok);
  (void)at.get(block_bytes);
  EXPECT_EQ(at.now().reserved_bytes, 4 * mib);
  at.check();
}

}  // namespace
}  // namespace arcalloc
