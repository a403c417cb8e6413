// SPDX-License-Identifier: Apache-2.0
#include "block_table.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace arcalloc::detail {
namespace {

std::byte* at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

segment& add(block_table& table, std::deque<segment>& all, std::uint64_t base, std::uint64_t bytes, segment_use use) {
  segment& fresh = all.emplace_back();
  fresh.base = at(base);
  fresh.bytes = bytes;
  fresh.use = use;
  EXPECT_TRUE(table.try_reserve(bytes));
  table.insert(fresh);
  return fresh;
}

TEST(block_table, an_empty_table_knows_nothing) {
  const block_table table;
  EXPECT_EQ(table.find(at(4096)), nullptr);
}

TEST(block_table, looks_first_where_a_unit_s_own_slot_is) {
  block_table table;
  EXPECT_EQ(&table.first_for(at(4096)), &no_segment);
  EXPECT_EQ(&table.first_for(nullptr), &no_segment);
  std::deque<segment> all;
  const std::uint64_t base = std::uint64_t{1} << 40;
  for (std::uint64_t i = 0; i < 1000; ++i) add(table, all, base + i * 2 * mebibyte, 2 * mebibyte, segment_use::shared);
  for (const segment& one : all) {
    EXPECT_EQ(&table.first_for(one.base), &one) << "neighbours have slots of their own";
    EXPECT_EQ(&table.first_for(one.base + one.bytes - 1), &one);
  }
  // Whatever it says of an address that is in no segment, the caller sees that it is not there.
  EXPECT_FALSE(table.first_for(at(base - 1)).contains(at(base - 1)));
}

TEST(block_table, finds_what_its_first_look_does_not) {
  block_table table;
  std::deque<segment> all;
  const std::uint64_t base = std::uint64_t{1} << 40;
  // So many terabytes apart that their units fall on one slot of any table of this size.
  for (std::uint64_t i = 0; i < 5; ++i) add(table, all, base * (i + 1), 2 * mebibyte, segment_use::shared);
  std::uint64_t at_first_look = 0;
  for (const segment& one : all) {
    EXPECT_EQ(table.find(one.base), &one);
    at_first_look += &table.first_for(one.base) == &one ? 1U : 0U;
  }
  EXPECT_EQ(at_first_look, 1U);
}

TEST(block_table, tells_two_segments_in_one_unit_apart) {
  block_table table;
  std::deque<segment> all;
  const std::uint64_t base = (std::uint64_t{1} << 40) + mebibyte;
  segment& first = add(table, all, base, 2 * mebibyte, segment_use::shared);
  segment& second = add(table, all, base + 2 * mebibyte, 2 * mebibyte, segment_use::shared);
  EXPECT_EQ(table.find(at(base)), &first);
  EXPECT_EQ(table.find(at(base + 2 * mebibyte - 1)), &first);
  EXPECT_EQ(table.find(at(base + 2 * mebibyte)), &second);
  EXPECT_EQ(table.find(at(base - 1)), nullptr);
  EXPECT_EQ(table.find(at(base + 4 * mebibyte)), nullptr);
  table.remove(first);
  EXPECT_EQ(table.find(at(base)), nullptr);
  EXPECT_EQ(table.find(at(base + 2 * mebibyte)), &second);
}

TEST(block_table, finds_single_blocks_by_their_base_only) {
  block_table table;
  std::deque<segment> all;
  segment& single = add(table, all, 512 * 77, 512 * 9, segment_use::dedicated);
  EXPECT_EQ(table.find(at(512 * 77)), &single);
  EXPECT_EQ(table.find(at(512 * 78)), nullptr);
  EXPECT_EQ(table.find(at(512 * 77 + 8)), nullptr);
}

TEST(block_table, follows_thousands_of_segments_that_come_and_go) {
  block_table table;
  std::deque<segment> all;
  std::vector<segment*> live;
  std::mt19937_64 random(7);
  std::uint64_t next = std::uint64_t{1} << 33;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 3 != 0 || live.empty()) {
      const auto use = random() % 2 == 0 ? segment_use::shared : segment_use::dedicated;
      const std::uint64_t bytes =
          use == segment_use::shared ? 2 * mebibyte * (1 + random() % 8) : 512 * (1 + random() % 99);
      live.push_back(&add(table, all, next, bytes, use));
      next += bytes + 512 * (random() % 3);
    } else {
      const std::size_t victim = random() % live.size();
      table.remove(*live[victim]);
      EXPECT_EQ(table.find(live[victim]->base), nullptr);
      live[victim] = live.back();
      live.pop_back();
    }
  }
  for (segment* home : live) ASSERT_EQ(table.find(home->base), home);
}

TEST(block_table, can_let_go_of_the_tables_it_outgrew) {
  block_table table;
  EXPECT_FALSE(table.has_outgrown());
  std::deque<segment> all;
  std::uint64_t dropped = 0;
  // A driver that never lends an address twice: every entry is new, and the last hundred are live.
  for (std::uint64_t i = 1; i <= 20000; ++i) {
    add(table, all, i * 2 * mebibyte, 2 * mebibyte, segment_use::shared);
    if (all.size() > 100) {
      table.remove(all.front());
      all.pop_front();
    }
    if (!table.has_outgrown()) continue;
    table.drop_outgrown();
    ++dropped;
    EXPECT_FALSE(table.has_outgrown());
    for (const segment& one : all) ASSERT_EQ(table.find(one.base), &one);
  }
  EXPECT_GT(dropped, 10U);
}

}  // namespace
}  // namespace arcalloc::detail
