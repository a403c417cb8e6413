// SPDX-License-Identifier: Apache-2.0
#include "segment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "arena.hpp"

namespace arcalloc::detail {
namespace {

struct shared_segment {
  shared_segment() : slots(segment_units) {
    home.base = reinterpret_cast<std::byte*>(std::uint64_t{1} << 40);
    home.bytes = segment_bytes_min;
    home.units_idle = ~std::uint64_t{0};
    home.idle_span = segment_units;
    home.per_unit = reciprocal(run_unit_bytes);
    home.runs = slots.data();
    std::fill_n(home.run_of, segment_units, &no_run);
  }
  std::vector<run> slots;
  segment home;
  arena memory;
  record_store records{memory};
};

std::uint64_t run_bytes(std::uint32_t index, std::uint64_t block_bytes) {
  return kind_of(index, block_bytes).run_units * run_unit_bytes;
}

TEST(find_span, finds_the_first_span_or_none) {
  EXPECT_EQ(find_span(~std::uint64_t{0}, 64), 0U);
  EXPECT_EQ(find_span(0, 1), segment_units);
  EXPECT_EQ(find_span(0b1011'1000, 3), 3U);
  EXPECT_EQ(find_span(0b1011'1000, 4), segment_units);
  EXPECT_EQ(find_span(std::uint64_t{0b111} << 61, 3), 61U);
  EXPECT_EQ(find_span(~std::uint64_t{0} << 1, 64), segment_units);
  EXPECT_EQ(find_span(~std::uint64_t{0}, 65), segment_units);
  EXPECT_EQ(find_span(~std::uint64_t{0}, 128), segment_units);
  for (std::uint32_t units = 1; units <= segment_units; ++units) {
    const std::uint64_t span = (~std::uint64_t{0} >> (segment_units - units)) << (segment_units - units);
    EXPECT_EQ(find_span(span, units), segment_units - units);
  }
}

TEST(segment, every_class_of_runs_fits_a_segment_and_finds_its_blocks) {
  const size_classes classes(geometry::classes_16);
  for (std::uint32_t index = 0; index < classes.run_count(); ++index) {
    const std::uint64_t block_bytes = classes.bytes_of(index);
    shared_segment at;
    const run* const fresh = carve_run(at.home, kind_of(index, block_bytes), at.records);
    ASSERT_NE(fresh, nullptr) << block_bytes;
    for (std::uint32_t i = 0; i < fresh->count; ++i) {
      EXPECT_EQ(record_at(at.home, fresh->records[i].address), &fresh->records[i]);
      EXPECT_EQ(record_at(at.home, fresh->records[i].address + 1), nullptr);
      EXPECT_EQ(record_at(at.home, fresh->records[i].address + 512 * (block_bytes > 512)),
                block_bytes > 512 ? nullptr : &fresh->records[i]);
    }
    EXPECT_LE(fresh->base + fresh->count * block_bytes, at.home.base + at.home.bytes);
  }
}

TEST(segment, runs_of_small_classes_waste_at_most_an_eighth_where_that_is_possible) {
  const size_classes classes(geometry::classes_8);
  for (std::uint32_t index = 0; classes.bytes_of(index) <= 32 * kibibyte; ++index) {
    const std::uint64_t bytes = run_bytes(index, classes.bytes_of(index));
    EXPECT_LE(bytes % classes.bytes_of(index) * 8, bytes) << classes.bytes_of(index);
  }
}

TEST(segment, a_run_that_must_waste_more_is_of_the_length_that_wastes_least) {
  constexpr std::uint64_t unit = run_unit_bytes;
  const size_classes classes(geometry::classes_16);
  std::uint32_t looked_at = 0;
  for (std::uint32_t index = 0; classes.bytes_of(index) <= 8 * unit; ++index) {
    const std::uint64_t block_bytes = classes.bytes_of(index);
    const std::uint64_t bytes = run_bytes(index, block_bytes);
    ASSERT_LE(bytes, 8 * unit) << block_bytes;
    ASSERT_GE(bytes, block_bytes);
    if (bytes % block_bytes * 8 <= bytes) continue;
    ++looked_at;
    for (std::uint64_t other = round_up(block_bytes, unit); other <= 8 * unit; other += unit) {
      EXPECT_LE(bytes % block_bytes * other, other % block_bytes * bytes) << block_bytes << " in " << other;
    }
  }
  EXPECT_GT(looked_at, 0U);
}

TEST(segment, a_block_below_an_eighth_stays_out_of_larger_segments) {
  segment large;
  large.bytes = 16 * mebibyte;
  EXPECT_FALSE(may_enter(large, 2 * mebibyte - 512));
  EXPECT_TRUE(may_enter(large, 2 * mebibyte));
  segment smallest;
  smallest.bytes = segment_bytes_min;
  EXPECT_TRUE(may_enter(smallest, 512));
}

TEST(segment, finds_no_block_at_an_address_inside_one_whatever_its_size) {
  const size_classes classes(geometry::classes_8);
  for (std::uint32_t index = 0; index < classes.run_count(); ++index) {
    const std::uint64_t block_bytes = classes.bytes_of(index);
    shared_segment at;
    while (carve_run(at.home, kind_of(index, block_bytes), at.records) != nullptr) continue;
    // The last bytes of each unit are where a reciprocal could be one off.
    for (std::uint32_t unit = 1; unit <= segment_units; ++unit) {
      const std::byte* const end = at.home.base + unit * run_unit_bytes;
      for (const int back : {1, 2, 511})
        ASSERT_EQ(record_at(at.home, end - back), nullptr) << block_bytes << ' ' << unit;
    }
  }
}

TEST(segment, dissolving_gives_the_units_back_and_makes_records_stale) {
  shared_segment at;
  run* const first = carve_run(at.home, kind_of(0, 512), at.records);
  run* const second = carve_run(at.home, kind_of(3, 2048), at.records);
  ASSERT_NE(second, nullptr);
  block_record* const stale = first->records;
  const std::byte* const address = stale->address;
  dissolve_run(*first, at.records);
  EXPECT_EQ(stale->home, &no_run);
  EXPECT_EQ(record_at(at.home, address), nullptr);
  EXPECT_EQ(std::popcount(at.home.units_idle), 63);
  EXPECT_EQ(carve_run(at.home, kind_of(1, 1024), at.records), first) << "the first span is taken again";
}

TEST(segment, a_full_segment_carves_nothing_more) {
  shared_segment at;
  for (int i = 0; i < 64; ++i) ASSERT_NE(carve_run(at.home, kind_of(0, 512), at.records), nullptr);
  EXPECT_EQ(carve_run(at.home, kind_of(0, 512), at.records), nullptr);
}

}  // namespace
}  // namespace arcalloc::detail
