// SPDX-License-Identifier: Apache-2.0
// Partly used segments are found by what they have room for.
#include "room_index.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "size_class.hpp"

namespace arcalloc::detail {
namespace {

/// A partly used segment as far as the index looks.
std::unique_ptr<segment> partly_used(std::uint32_t idle_span) {
  auto home = std::make_unique<segment>();
  home->idle_span = idle_span;
  return home;
}

run_kind kind_for(std::uint64_t block_bytes) { return kind_of(0, block_bytes); }

TEST(room_index, of_nothing_finds_nothing) {
  const room_index index;
  EXPECT_EQ(index.any(), nullptr);
  EXPECT_EQ(index.find(kind_for(512)), nullptr);
  EXPECT_EQ(index.first_that([](const segment&) { return true; }), nullptr);
}

TEST(room_index, finds_no_segment_whose_span_is_a_unit_too_short) {
  room_index index;
  const auto home = partly_used(7);
  index.insert(*home);
  EXPECT_EQ(index.find(kind_for(8 * run_unit_bytes)), nullptr);
  index.remove(*home);
  home->idle_span = 8;
  index.insert(*home);
  EXPECT_EQ(index.find(kind_for(8 * run_unit_bytes)), home.get());
  index.remove(*home);
  EXPECT_EQ(index.any(), nullptr);
}

TEST(room_index, finds_no_room_in_what_is_full) {
  room_index index;
  const auto full = partly_used(0);
  index.insert(*full);
  EXPECT_EQ(index.find(kind_for(512)), nullptr);
  EXPECT_EQ(index.any(), full.get());
}

TEST(room_index, prefers_the_shorter_span) {
  room_index index;
  const auto roomy = partly_used(40), tight = partly_used(16);
  for (segment* home : {roomy.get(), tight.get()}) index.insert(*home);
  EXPECT_EQ(index.find(kind_for(12 * run_unit_bytes)), tight.get());
  index.remove(*tight);
  EXPECT_EQ(index.find(kind_for(12 * run_unit_bytes)), roomy.get());
}

TEST(room_index, looks_past_what_is_too_short_in_the_list_that_may_have_room) {
  room_index index;
  const auto first = partly_used(17), second = partly_used(27);  // of one list
  index.insert(*first);
  index.insert(*second);
  EXPECT_EQ(index.find(kind_for(27 * run_unit_bytes)), second.get());
}

// Whatever is in it, it finds a segment exactly where a look at all would.
TEST(room_index, finds_one_where_there_is_one) {
  std::mt19937_64 draw(7);
  const size_classes classes(geometry::classes_8);
  for (int round = 0; round < 300; ++round) {
    room_index index;
    std::vector<std::unique_ptr<segment>> homes;
    for (std::uint64_t count = draw() % 6; count > 0; --count) {
      homes.push_back(partly_used(static_cast<std::uint32_t>(draw() % (draw() % 2 == 0 ? 8 : segment_units + 1))));
      index.insert(*homes.back());
    }
    for (std::uint32_t class_index = 0; class_index < classes.run_count(); ++class_index) {
      const run_kind kind = kind_of(class_index, classes.bytes_of(class_index));
      const auto serves = [&](const segment& home) { return kind.run_units <= home.idle_span; };
      const segment* const found = index.find(kind);
      EXPECT_EQ(found != nullptr, index.first_that(serves) != nullptr)
          << "round " << round << " of " << kind.block_bytes;
      EXPECT_TRUE(found == nullptr || serves(*found));
    }
  }
}

}  // namespace
}  // namespace arcalloc::detail
