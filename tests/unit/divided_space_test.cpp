// SPDX-License-Identifier: Apache-2.0
// What is idle in divided segments: cut from the smallest that will do, and whole again when it comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::gib;
using testing::kib;
using testing::mib;
using testing::small_world;

constexpr std::size_t lent_at_least = 2 * mib;

std::byte* address_of(const block& piece) { return static_cast<std::byte*>(piece.data()); }

TEST(divided, a_block_has_the_bytes_that_were_asked_for_in_steps_of_512) {
  small_world at(capped(gib), 24 * gib, lent_at_least);
  const block piece = at.get(3 * mib + 1);
  EXPECT_EQ(at.now().allocated_bytes, 3 * mib + 512);
  EXPECT_EQ(at.now().reserved_bytes, 4 * mib);
  at.put(piece);
  EXPECT_EQ(at.now().cached_bytes, 4 * mib);
  at.check();
}

TEST(divided, what_is_left_serves_others_and_is_whole_again_in_any_order_of_return) {
  constexpr std::uint64_t sizes[] = {5 * mib, 4 * mib, 3 * mib};
  int order[] = {0, 1, 2};
  do {
    small_world at(capped(gib), 24 * gib, lent_at_least);
    at.put(at.get(12 * mib));
    std::vector<block> pieces;
    for (const std::uint64_t bytes : sizes) pieces.push_back(at.get(bytes));
    EXPECT_EQ(at.now().misses, 1U);
    EXPECT_EQ(at.now().slack_bytes, 0U);
    for (const int each : order) {
      at.put(pieces[static_cast<std::size_t>(each)]);
      at.check();
    }
    EXPECT_EQ(at.now().blocks_idle, 1U);
    (void)at.get(12 * mib);
    EXPECT_EQ(at.now().misses, 1U);
  } while (std::next_permutation(std::begin(order), std::end(order)));
}

TEST(divided, a_request_gets_the_smallest_part_that_will_do) {
  small_world at(capped(gib), 24 * gib, lent_at_least);
  at.put(at.get(16 * mib));
  std::vector<block> row;
  for (const std::uint64_t bytes : {6 * mib, 2 * mib, 4 * mib, 2 * mib}) row.push_back(at.get(bytes));
  at.put(row[0]);
  at.put(row[2]);
  const block third = at.get(3 * mib);
  EXPECT_EQ(third.data(), row[2].data()) << "4 MiB rather than 6";
  const block fourth = at.get(5 * mib);
  EXPECT_EQ(fourth.data(), row[0].data());
  at.check();
}

TEST(divided, partly_used_segments_are_filled_before_idle_ones) {
  small_world at(capped(gib), 24 * gib, lent_at_least);
  const block large = at.get(14 * mib);
  const block small = at.get(6 * mib);
  at.put(large);
  at.put(small);
  ASSERT_EQ(at.now().segments_reserved, 2U);
  const block first = at.get(5 * mib);  // in the one of 6
  const block kept = at.get(8 * mib);   // in the one of 14: 6 are left there
  at.put(first);
  const block again = at.get(5 * mib);
  EXPECT_EQ(again.data(), address_of(kept) + 8 * mib);
  EXPECT_EQ(at.now().cached_bytes, 6 * mib);
  at.check();
}

TEST(divided, a_block_keeps_at_most_eight_times_its_size_from_the_driver) {
  small_world at(capped(gib), 24 * gib, lent_at_least);
  at.put(at.get(16 * mib));
  (void)at.get(2 * mib - 512);
  EXPECT_EQ(at.now().misses, 2U) << "an eighth of 16 MiB is 2";
  (void)at.get(2 * mib);
  EXPECT_EQ(at.now().misses, 2U);
  at.check();
}

TEST(divided, a_second_free_is_known_after_the_block_has_merged) {
  for (const bool by_handle : {true, false}) {
    small_world at(capped(gib), 24 * gib, lent_at_least);
    at.put(at.get(12 * mib));
    const block left = at.get(4 * mib), right = at.get(4 * mib), last = at.get(4 * mib);
    at.put(left);
    at.put(right);  // into the left one
    const auto again = [&](const block& piece) {
      return by_handle ? at.memory->deallocate(piece) : at.memory->deallocate(piece.data());
    };
    EXPECT_EQ(again(right), status::double_free);
    EXPECT_EQ(again(left), status::double_free);
    at.put(last);
    EXPECT_EQ(again(last), status::double_free);
    EXPECT_EQ(at.now().refused_double_free, 3U);
    const block over = at.get(12 * mib);
    EXPECT_NE(again(right), status::ok) << "inside of another now";
    at.put(over);
    at.check();
  }
}

TEST(divided, an_address_inside_a_block_is_nobodys) {
  small_world at(capped(gib), 24 * gib, lent_at_least);
  const block piece = at.get(9 * mib);
  for (const std::uint64_t inside : {std::uint64_t{1}, std::uint64_t{512}, 512 * kib, 4 * mib, 9 * mib}) {
    EXPECT_EQ(at.memory->deallocate(address_of(piece) + inside), status::unknown_pointer) << inside;
  }
  at.put(piece);
  at.check();
}

TEST(divided, a_cut_is_a_hit_of_the_stream_cache_and_asks_the_driver_nothing) {
  small_world at(capped(gib), 24 * gib, lent_at_least);
  at.put(at.get(16 * mib));
  for (int i = 0; i < 1000; ++i) {
    const block one = at.get(2 * mib + static_cast<std::uint64_t>(i) * 512);
    const block two = at.get(5 * mib + static_cast<std::uint64_t>(i) * 1024);
    at.put(one);
    at.put(two);
  }
  const counters said = at.now();
  EXPECT_EQ(said.stream_cache_hits, 2000U);
  EXPECT_EQ(said.driver_allocs, 1U);
  EXPECT_EQ(said.blocks_idle, 1U);
  at.check();
}

TEST(divided, goes_through_any_sequence_whole) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    small_world at(capped(64 * mib), 24 * gib, lent_at_least);
    std::mt19937_64 draw(seed);
    std::vector<block> live;
    for (int i = 0; i < 2000; ++i) {
      if (live.size() > 24 || (!live.empty() && draw() % 2 == 0)) {
        const std::size_t which = draw() % live.size();
        at.put(live[which]);
        live[which] = live.back();
        live.pop_back();
      } else {
        live.push_back(at.get(mib + 1 + draw() % (draw() % 4 == 0 ? 15 * mib : 3 * mib)));
      }
      if (i % 16 == 0) at.check();
      if (i % 512 == 511) {
        EXPECT_EQ(at.memory->trim(draw() % 32 * mib), status::ok);
      }
    }
    for (const block& piece : live) at.put(piece);
    at.check();
    ASSERT_EQ(at.memory->drain(), status::ok);
    EXPECT_EQ(at.now().reserved_bytes, 0U) << seed;
  }
}

}  // namespace
}  // namespace arcalloc
