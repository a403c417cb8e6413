// SPDX-License-Identifier: Apache-2.0
// Peaks are exact on one thread: a model that looks after every call agrees to the byte.
#include <gtest/gtest.h>

#include <latch>
#include <random>
#include <thread>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::kib;
using testing::mib;
using testing::small_world;

struct peaks {
  std::uint64_t requested = 0, allocated = 0, cached = 0, slack = 0, held = 0, reserved = 0, pending = 0;
  void see(const testing::audit_result& walk) {
    requested = std::max(requested, walk.requested_bytes);
    allocated = std::max(allocated, walk.allocated_bytes);
    cached = std::max(cached, walk.cached_bytes);
    slack = std::max(slack, walk.slack_bytes);
    held = std::max(held, walk.cached_bytes + walk.slack_bytes);
    reserved = std::max(reserved, walk.reserved_bytes);
  }
  friend bool operator==(const peaks&, const peaks&) = default;
};

peaks said_by(const counters& said) {
  return {said.requested_bytes_peak, said.allocated_bytes_peak, said.cached_bytes_peak, said.slack_bytes_peak,
          said.held_bytes_peak,      said.reserved_bytes_peak,  said.pending_bytes_peak};
}

TEST(peaks, agree_with_a_walk_after_every_call_though_nobody_read_in_between) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    options settings = testing::capped(seed % 2 == 0 ? 12 * mib : 200 * mib);
    settings.classes = seed % 5 == 0 ? geometry::exact : geometry::classes_8;
    small_world at(settings, 2048 * mib);
    std::mt19937_64 random(seed);
    std::vector<block> live;
    peaks model;
    for (int step = 0; step < 400; ++step) {
      const std::uint64_t what = random() % 100;
      if (what < 55 && live.size() < 50) {
        const std::uint64_t bytes = 1 + random() % (what < 40 ? 40 * kib : 24 * mib);
        live.push_back(at.get(bytes, stream{random() % 2}));
      } else if (what < 97 && !live.empty()) {
        const std::size_t victim = random() % live.size();
        at.put(live[victim]);
        live[victim] = live.back();
        live.pop_back();
      } else if (what == 98) {
        EXPECT_EQ(at.memory->trim(random() % (64 * mib)), status::ok);
      } else {
        ASSERT_EQ(at.memory->begin_phase(what % 2 == 0 ? phase::decode : phase::mixed), status::ok);
      }
      model.see(testing::audit(*at.memory));
    }
    EXPECT_EQ(said_by(at.now()), model) << "seed " << seed;
  }
}

TEST(peaks, between_two_readings_are_seen_though_every_call_was_a_hit) {
  small_world at;
  block pieces[4];
  for (block& piece : pieces) piece = at.get(1000);
  for (int i = 0; i < 3; ++i) at.put(pieces[i]);
  at.memory->reset_peaks();
  const std::uint64_t hits = at.now().stream_cache_hits;
  for (int i = 0; i < 3; ++i) pieces[i] = at.get(900);
  for (int i = 0; i < 3; ++i) at.put(pieces[i]);
  EXPECT_EQ(at.now().requested_bytes_peak, 3700U);
  EXPECT_EQ(at.now().allocated_bytes_peak, 4096U);

  for (int i = 0; i < 3; ++i) pieces[i] = at.get(1000);
  at.memory->reset_peaks();
  EXPECT_EQ(at.now().slack_bytes_peak, 2 * mib - 4096);
  at.put(pieces[0]);
  at.put(pieces[1]);
  for (int i = 0; i < 2; ++i) pieces[i] = at.get(1000);
  EXPECT_EQ(at.now().slack_bytes_peak, 2 * mib - 2048);
  EXPECT_EQ(at.now().held_bytes_peak, 2 * mib - 2048);
  EXPECT_EQ(at.now().cached_bytes_peak, 0U);

  for (const block& piece : pieces) at.put(piece);
  for (block& piece : pieces) piece = at.get(1000);
  EXPECT_EQ(at.now().cached_bytes_peak, 2 * mib);
  EXPECT_EQ(at.now().held_bytes_peak, 2 * mib);
  EXPECT_EQ(at.now().slack_bytes_peak, 2 * mib - 1024);
  EXPECT_EQ(at.now().stream_cache_hits, hits + 12) << "nothing took the slow way";
  for (const block& piece : pieces) at.put(piece);
  at.check();
}

TEST(peaks, a_reset_keeps_the_live_totals_and_resets_nothing_else) {
  small_world at(testing::capped(100 * mib));
  const block kept = at.get(5000);
  at.put(at.get(90 * mib));
  at.put(at.get(20 * mib));
  counters before = at.now();
  EXPECT_EQ(before.evicted_bytes, 90 * mib);
  at.memory->reset_peaks();
  counters after = at.now();
  EXPECT_EQ(after.requested_bytes_peak, 5000U);
  EXPECT_EQ(after.allocated_bytes_peak, after.allocated_bytes);
  EXPECT_EQ(after.reserved_bytes_peak, after.reserved_bytes);
  EXPECT_EQ(after.cached_bytes_peak, after.cached_bytes);
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::string(fields[i].name).find("_peak") != std::string::npos) continue;
    EXPECT_EQ(before.*fields[i].value, after.*fields[i].value) << fields[i].name;
  }
  at.put(kept);
  at.check();
}

TEST(peaks, of_the_thread_that_is_left_do_not_reach_back_to_when_there_were_two) {
  small_world at;
  at.put(at.get(64 * kib));
  std::latch there{1};
  std::latch enough{1};
  std::thread other([&] {
    at.put(at.get(kib));
    there.count_down();
    enough.wait();
  });
  there.wait();
  at.put(at.get(64 * kib));
  at.memory->reset_peaks();
  enough.count_down();
  other.join();
  const counters after = at.now();
  EXPECT_EQ(after.requested_bytes_peak, 0U);
  EXPECT_EQ(after.allocated_bytes_peak, 0U);
  EXPECT_EQ(after.slack_bytes_peak, 0U);
  at.check();
}

TEST(peaks, count_once_what_an_exiting_thread_leaves_of_its_own_stream) {
  small_world at(testing::capped(2 * mib));
  std::thread([&] { at.put(at.get(512, per_thread_stream)); }).join();
  const counters after = at.now();
  EXPECT_EQ(after.cached_bytes, 2 * mib);
  EXPECT_EQ(after.cached_bytes_peak, 2 * mib);
  at.check();
}

}  // namespace
}  // namespace arcalloc
