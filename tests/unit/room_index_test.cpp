// SPDX-License-Identifier: Apache-2.0
// Partly used segments are found by what they have room for, the smallest size first.
#include "room_index.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "size_class.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc::detail {
namespace {

using testing::mib;

/// A partly used segment as far as the index looks.
std::unique_ptr<segment> partly_used(std::uint64_t bytes, std::uint32_t idle_span) {
  auto home = std::make_unique<segment>();
  home->bytes = bytes;
  home->unit_bytes = bytes / segment_units;
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
  const auto home = partly_used(16 * mib, 7);  // units of 256 KiB
  index.insert(*home);
  EXPECT_EQ(index.find(kind_for(2 * mib)), nullptr);
  index.remove(*home);
  home->idle_span = 8;
  index.insert(*home);
  EXPECT_EQ(index.find(kind_for(2 * mib)), home.get());
  index.remove(*home);
  EXPECT_EQ(index.any(), nullptr);
}

TEST(room_index, lets_no_small_run_into_a_large_segment) {
  room_index index;
  const auto large = partly_used(16 * mib, segment_units);
  index.insert(*large);
  EXPECT_EQ(index.find(kind_for(2 * mib - 512)), nullptr) << "an eighth of it at least";
  EXPECT_EQ(index.find(kind_for(2 * mib)), large.get());
  const auto small = partly_used(2 * mib, segment_units);
  index.insert(*small);
  EXPECT_EQ(index.find(kind_for(512)), small.get());
}

TEST(room_index, prefers_the_smaller_segment_and_of_equals_the_shorter_span) {
  room_index index;
  const auto large = partly_used(8 * mib, 16), roomy = partly_used(4 * mib, 40), tight = partly_used(4 * mib, 16);
  for (segment* home : {large.get(), roomy.get(), tight.get()}) index.insert(*home);
  EXPECT_EQ(index.find(kind_for(mib)), tight.get());
  index.remove(*tight);
  EXPECT_EQ(index.find(kind_for(mib)), roomy.get());
  index.remove(*roomy);
  EXPECT_EQ(index.find(kind_for(mib)), large.get());
}

TEST(room_index, looks_past_what_is_too_short_in_the_list_that_may_have_room) {
  room_index index;
  const auto first = partly_used(6 * mib, 17),
             second = partly_used(6 * mib, 27);  // of one list; 2.5 MiB takes 27 units
  index.insert(*first);
  index.insert(*second);
  EXPECT_EQ(index.find(kind_for(2560 * 1024)), second.get());
}

// Whatever is in it, it finds a segment exactly where a look at all would.
TEST(room_index, finds_one_where_there_is_one) {
  std::mt19937_64 draw(7);
  const size_classes classes(geometry::classes_8);
  for (int round = 0; round < 300; ++round) {
    room_index index;
    std::vector<std::unique_ptr<segment>> homes;
    for (std::uint64_t count = draw() % 12; count > 0; --count) {
      const std::uint64_t bytes = 2 * mib * (1 + draw() % (draw() % 2 == 0 ? 3 : 24));  // up to 48 MiB
      homes.push_back(partly_used(bytes, static_cast<std::uint32_t>(draw() % (segment_units + 1))));
      index.insert(*homes.back());
    }
    for (std::uint32_t class_index = 0; class_index < classes.shared_count(); ++class_index) {
      const run_kind kind = kind_of(class_index, classes.bytes_of(class_index));
      const auto serves = [&](const segment& home) {
        return may_enter(home, kind.block_bytes) && units_in(home, kind) <= home.idle_span;
      };
      const segment* const found = index.find(kind);
      EXPECT_EQ(found != nullptr, index.first_that(serves) != nullptr)
          << "round " << round << " of " << kind.block_bytes;
      EXPECT_TRUE(found == nullptr || serves(*found));
    }
  }
}

}  // namespace
}  // namespace arcalloc::detail
