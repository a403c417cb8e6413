// SPDX-License-Identifier: Apache-2.0
#include "dedicated_bins.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "sizes_and_streams.hpp"

namespace arcalloc::detail {
namespace {

using testing::s1;
using testing::s2;

struct filed_segments {
  segment& file(std::uint64_t class_bytes, stream on) {
    segment& fresh = all.emplace_back();
    fresh.class_bytes = class_bytes;
    fresh.on = on;
    EXPECT_TRUE(bins.try_reserve());
    bins.insert(fresh);
    return fresh;
  }
  std::deque<segment> all;
  arena memory;
  dedicated_bins bins{memory};
};

TEST(dedicated_bins, empty_ones_find_nothing) {
  const filed_segments at;
  EXPECT_EQ(at.bins.find(s1, 512, 0), nullptr);
  EXPECT_EQ(at.bins.first_of(512), nullptr);
  EXPECT_EQ(at.bins.coldest(), nullptr);
  EXPECT_EQ(at.bins.classes(), 0U);
  EXPECT_EQ(at.bins.count(), 0U);
}

TEST(dedicated_bins, find_the_last_filed_of_a_class_and_a_stream) {
  filed_segments at;
  segment& older = at.file(1024, s1);
  segment& newer = at.file(1024, s1);
  segment& elsewhere = at.file(1024, s2);
  (void)at.file(2048, s1);
  EXPECT_EQ(at.bins.find(s1, 1024, 0), &newer);
  EXPECT_EQ(at.bins.find(s2, 1024, 0), &elsewhere);
  EXPECT_EQ(at.bins.find(s2, 2048, 0), nullptr);
  EXPECT_EQ(at.bins.first_of(1024), &elsewhere);
  EXPECT_EQ(dedicated_bins::next_of(elsewhere), &newer);
  EXPECT_EQ(dedicated_bins::next_of(newer), &older);
  EXPECT_EQ(dedicated_bins::next_of(older), nullptr);
  at.bins.remove(newer);
  EXPECT_EQ(at.bins.find(s1, 1024, 0), &older);
}

TEST(dedicated_bins, find_none_that_is_shorter_than_was_asked_for) {
  filed_segments at;
  segment& longer = at.file(4096, s1);
  segment& shorter = at.file(4096, s1);
  longer.bytes = 4096;
  shorter.bytes = 3584;
  EXPECT_EQ(at.bins.find(s1, 4096, 3584), &shorter);
  EXPECT_EQ(at.bins.find(s1, 4096, 4096), &longer);
  EXPECT_EQ(at.bins.find(s1, 4096, 4608), nullptr);
}

TEST(dedicated_bins, are_in_order_of_coldness_whatever_the_class) {
  filed_segments at;
  segment& coldest = at.file(4096, s1);
  segment& warmer = at.file(512, s2);
  segment& warmest = at.file(4096, s2);
  EXPECT_EQ(at.bins.coldest(), &coldest);
  EXPECT_EQ(dedicated_bins::warmer(&coldest), &warmer);
  EXPECT_EQ(dedicated_bins::warmer(&warmer), &warmest);
  EXPECT_EQ(dedicated_bins::warmer(&warmest), nullptr);
  at.bins.remove(coldest);
  EXPECT_EQ(at.bins.coldest(), &warmer);
}

TEST(dedicated_bins, count_a_class_once_and_until_its_last_segment_goes) {
  filed_segments at;
  segment& first = at.file(1024, s1);
  segment& second = at.file(1024, s2);
  segment& other = at.file(512, s1);
  EXPECT_EQ(at.bins.classes(), 2U);
  EXPECT_EQ(at.bins.count(), 3U);
  at.bins.remove(second);
  EXPECT_EQ(at.bins.classes(), 2U);
  at.bins.remove(first);
  EXPECT_EQ(at.bins.classes(), 1U);
  at.bins.remove(other);
  EXPECT_EQ(at.bins.classes(), 0U);
  EXPECT_EQ(at.bins.count(), 0U);
}

TEST(dedicated_bins, keep_the_order_of_thousands_while_they_grow) {
  filed_segments at;
  constexpr std::uint64_t classes = 40;
  constexpr std::uint64_t rounds = 60;
  for (std::uint64_t i = 0; i < classes * rounds; ++i) (void)at.file(512 * (1 + i % classes), s1);
  EXPECT_EQ(at.bins.count(), classes * rounds);
  EXPECT_EQ(at.bins.classes(), classes);
  EXPECT_EQ(at.bins.coldest(), &at.all.front());
  for (std::uint64_t index = 0; index < classes; ++index) {
    std::uint64_t round = rounds;
    for (segment* home = at.bins.first_of(512 * (1 + index)); home != nullptr; home = dedicated_bins::next_of(*home)) {
      ASSERT_GT(round, 0U);
      ASSERT_EQ(home, &at.all[--round * classes + index]) << "the warmest of a class in front";
    }
    EXPECT_EQ(round, 0U);
  }
}

}  // namespace
}  // namespace arcalloc::detail
