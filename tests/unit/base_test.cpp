// SPDX-License-Identifier: Apache-2.0
#include "base.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace arcalloc::detail {
namespace {

struct node {
  int number = 0;
  list_links<node> links{};
};

using nodes = list<node, &node::links>;

std::vector<int> forwards(const nodes& all) {
  std::vector<int> seen;
  for (const node* at = all.front(); at != nullptr; at = nodes::next(at)) seen.push_back(at->number);
  return seen;
}

std::vector<int> backwards(const nodes& all) {
  std::vector<int> seen;
  for (const node* at = all.back(); at != nullptr; at = nodes::previous(at)) seen.push_back(at->number);
  return seen;
}

TEST(list, reads_the_same_from_both_ends_however_it_was_filled) {
  node pieces[5] = {{0}, {1}, {2}, {3}, {4}};
  nodes all;
  EXPECT_TRUE(all.empty());
  all.insert_after(nullptr, &pieces[1]);
  all.push_front(&pieces[0]);
  all.insert_after(&pieces[1], &pieces[4]);
  all.insert_after(&pieces[1], &pieces[2]);
  all.insert_after(&pieces[2], &pieces[3]);
  EXPECT_FALSE(all.empty());
  EXPECT_EQ(forwards(all), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(backwards(all), (std::vector{4, 3, 2, 1, 0}));
}

TEST(list, forgets_what_is_removed_at_either_end_and_in_between) {
  node pieces[4] = {{0}, {1}, {2}, {3}};
  nodes all;
  for (node& piece : pieces) all.push_back(&piece);
  all.remove(&pieces[1]);
  EXPECT_EQ(forwards(all), (std::vector{0, 2, 3}));
  EXPECT_EQ(backwards(all), (std::vector{3, 2, 0}));
  all.remove(&pieces[3]);
  all.remove(&pieces[0]);
  EXPECT_EQ(forwards(all), std::vector{2});
  EXPECT_EQ(backwards(all), std::vector{2});
  EXPECT_EQ(pieces[0].links.next, nullptr);
  EXPECT_EQ(pieces[3].links.previous, nullptr);
  all.remove(&pieces[2]);
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(all.back(), nullptr);
}

TEST(round_up, gives_the_smallest_multiple_that_is_no_less) {
  EXPECT_EQ(round_up(0, 512), 0U);
  EXPECT_EQ(round_up(1, 512), 512U);
  EXPECT_EQ(round_up(512, 512), 512U);
  EXPECT_EQ(round_up(513, 512), 1024U);
  EXPECT_EQ(round_up(10, 3), 12U);
}

TEST(assertion, that_fails_says_where_and_what_and_ends_the_program) {
  EXPECT_DEATH(ARCALLOC_ASSERT(1 + 1 == 3), "arcalloc: internal error at .*base_test.cpp:[0-9]+: 1 \\+ 1 == 3");
  ARCALLOC_ASSERT(1 + 1 == 2);
}

}  // namespace
}  // namespace arcalloc::detail
