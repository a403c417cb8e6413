// SPDX-License-Identifier: Apache-2.0
#include "stats.hpp"

#include <gtest/gtest.h>

#include <random>

namespace arcalloc::detail {
namespace {

/// The same marks, kept the plain way: every value looked at after every call.
struct plain_marks {
  std::int64_t requested = 0;
  std::int64_t allocated = 0;
  std::int64_t idle = 0;
  std::int64_t requested_high = 0;
  std::int64_t allocated_high = 0;
  std::int64_t allocated_low = 0;
  std::int64_t filled_low = 0;
  std::int64_t idle_high = 0;

  void look() {
    requested_high = std::max(requested_high, requested);
    allocated_high = std::max(allocated_high, allocated);
    allocated_low = std::min(allocated_low, allocated);
    filled_low = std::min(filled_low, allocated + idle);
    idle_high = std::max(idle_high, idle);
  }
  void restart() {
    requested_high = requested;
    allocated_high = allocated_low = allocated;
    filled_low = allocated + idle;
    idle_high = idle;
  }
};

TEST(thread_stats, marks_are_what_looking_after_every_call_would_see) {
  constexpr std::int64_t segment_bytes = 2 * 1024 * 1024;
  std::mt19937_64 random(11);
  thread_stats stats;
  plain_marks plain;
  plain.idle = 40 * segment_bytes;
  stats.idle_bytes = static_cast<std::uint64_t>(plain.idle);
  stats.restart_marks();
  plain.restart();
  // Two threads' share: it may go below zero, where blocks of others are freed here.
  for (int call = 0; call < 100000; ++call) {
    const auto requested = static_cast<std::int64_t>(1 + random() % 5000);
    const std::int64_t allocated = (requested + 511) / 512 * 512;
    const bool changes_idle = random() % 10 == 0;
    if (random() % 2 == 0) {
      stats.add(static_cast<std::uint64_t>(requested), static_cast<std::uint64_t>(allocated));
      plain.requested += requested;
      plain.allocated += allocated;
      if (changes_idle && plain.idle >= segment_bytes) {
        stats.idle_fell(segment_bytes);
        plain.idle -= segment_bytes;
      }
    } else {
      if (changes_idle) {
        stats.idle_rose(segment_bytes);
        plain.idle += segment_bytes;
      }
      stats.subtract(static_cast<std::uint64_t>(requested), static_cast<std::uint64_t>(allocated));
      plain.requested -= requested;
      plain.allocated -= allocated;
    }
    plain.look();
    ASSERT_EQ(stats.requested_bytes(), plain.requested);
    ASSERT_EQ(stats.allocated_bytes(), plain.allocated);
    if (random() % 50 != 0) continue;
    stats.close_marks();
    ASSERT_EQ(stats.requested_high(), plain.requested_high) << call;
    ASSERT_EQ(stats.allocated_high(), plain.allocated_high) << call;
    ASSERT_EQ(stats.allocated_floor(), plain.allocated_low) << call;
    ASSERT_EQ(stats.filled_floor(), plain.filled_low) << call;
    ASSERT_EQ(stats.idle_high(), static_cast<std::uint64_t>(plain.idle_high)) << call;
    stats.restart_marks();
    plain.restart();
  }
}

}  // namespace
}  // namespace arcalloc::detail
