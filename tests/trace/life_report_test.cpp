// SPDX-License-Identifier: Apache-2.0
#include "trace/replay/life_report.hpp"

#include <gtest/gtest.h>

namespace arcalloc::trace {
namespace {

constexpr std::uint64_t kib = 1 << 10;
constexpr std::uint64_t mib = 1 << 20;

class watched {
 public:
  watched() : device_(sim_options{}), replay_("t", device_, &device_, settings()), watch_(replay_, device_) {}

  void allocate(std::uint64_t id, std::uint64_t bytes) { say(event_kind::allocate, id, bytes); }
  /// As the readers do, with the bytes of its block.
  void free(std::uint64_t id, std::uint64_t bytes) { say(event_kind::free, id, bytes); }
  void step() { say(event_kind::step, 0, 0); }
  life_report finish() { return watch_.finish(); }

 private:
  static options settings() {
    options made;
    made.cached_bytes_max = {bound_mode::explicit_bytes, 64 * mib};
    return made;
  }
  void say(event_kind kind, std::uint64_t id, std::uint64_t bytes) {
    event what;
    what.kind = kind;
    what.id = id;
    what.bytes = bytes;
    watch_.take(what);
  }

  sim_backend device_;
  trace_replay replay_;
  life_watch watch_;
};

TEST(life_report, classes_are_those_of_the_default_geometry) {
  const std::pair<std::uint64_t, std::uint64_t> cases[] = {
      {1, 512},        {512, 512}, {513, 1024},           {4096, 4096},           {4097, 4608},
      {8193, 9 * kib}, {mib, mib}, {mib + 1, 1152 * kib}, {200 * mib, 208 * mib}, {257 * mib, 272 * mib}};
  for (const auto& [bytes, expected] : cases) EXPECT_EQ(class_of(bytes), expected) << bytes;
}

TEST(life_report, keeps_every_peak_however_many_events_there_are) {
  watched at;
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    const std::uint64_t bytes = i == 12'345 ? 300 * mib : 100 * kib;
    at.allocate(i, bytes);
    at.free(i, bytes);
  }
  const life_report found = at.finish();
  EXPECT_LE(found.timeline.size(), life_report::timeline_max);
  EXPECT_GT(found.timeline.size(), life_report::timeline_max / 4);
  EXPECT_EQ(found.timeline.back().last_event, 40'000U);
  std::uint64_t above = 0;
  for (const life_stretch& one : found.timeline) {
    if (one.peaks.requested < 300 * mib) continue;
    ++above;
    EXPECT_GE(one.last_event, 2 * 12'345U - 1);
    EXPECT_LT(one.last_event, 2 * 12'345U + found.events_per_stretch);
    EXPECT_GE(one.peaks.reserved, 300 * mib);
  }
  EXPECT_EQ(above, 1U);
  EXPECT_GE(found.played.last.reserved_bytes_peak, 300 * mib);
  EXPECT_EQ(found.played.last.requested_bytes_peak, 300 * mib);
  EXPECT_EQ(found.cached_bytes_max, 64 * mib);
}

TEST(life_report, adds_steps_up) {
  watched at;
  std::uint64_t id = 0;
  for (int step = 0; step < 1000; ++step) {
    for (int i = 0; i < 3; ++i) {
      at.allocate(++id, 8 * kib);
      at.free(id, 8 * kib);
    }
    at.step();
  }
  const life_report found = at.finish();
  EXPECT_LE(found.steps.size(), life_report::steps_max);
  std::uint64_t steps = 0;
  std::uint64_t requests = 0;
  for (const life_steps& one : found.steps) {
    EXPECT_EQ(one.first, steps + 1);
    steps += one.count;
    requests += one.requests;
    EXPECT_EQ(one.requests, one.hits + one.misses);
  }
  EXPECT_EQ(steps, 1000U);
  EXPECT_EQ(requests, 3000U);
}

TEST(life_report, counts_requests_and_misses_by_class) {
  watched at;
  for (std::uint64_t i = 1; i <= 5; ++i) at.allocate(i, 100 * mib);
  for (std::uint64_t i = 1; i <= 5; ++i) at.free(i, 100 * mib);
  at.allocate(6, 3 * kib);
  const life_report found = at.finish();
  const life_class& large = found.classes.at(104 * mib);
  EXPECT_EQ(large.requests, 5U);
  EXPECT_EQ(large.misses, 5U);
  EXPECT_EQ(large.live_most, 5U);
  EXPECT_EQ(large.bytes, 500 * mib);
  EXPECT_EQ(found.classes.at(3 * kib).live, 1U);
}

TEST(life_report, names_what_grows_from_step_to_step) {
  watched at;
  std::uint64_t id = 0;
  const auto pair = [&](std::uint64_t bytes) {
    at.allocate(++id, bytes);
    at.free(id, bytes);
  };
  for (std::uint64_t i = 0; i < 40; ++i) pair(mib);  // before the first step: no part of one
  at.step();
  for (std::uint64_t step = 0; step < 20; ++step) {
    pair(10 * kib);
    pair(10 * kib + step * 256);
    pair(step % 2 == 0 ? kib : 2 * kib);
    pair(mib + step * 4 * kib);
    at.step();
  }
  const life_report found = at.finish();
  ASSERT_EQ(found.growing.size(), 2U);
  EXPECT_EQ(found.distinct_growing, 2U);
  EXPECT_EQ(found.growing[0].ordinal, 4U);
  EXPECT_EQ(found.growing[0].first_bytes, mib);
  EXPECT_EQ(found.growing[0].last_bytes, mib + 76 * kib);
  EXPECT_EQ(found.growing[0].steps, 20U);
  EXPECT_EQ(found.growing[1].ordinal, 2U);
}

}  // namespace
}  // namespace arcalloc::trace
