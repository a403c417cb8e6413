// SPDX-License-Identifier: Apache-2.0
// Recordings of several threads: what comes of them is an order in which it can have happened.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "recorded_events.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::kib;
using testing::mib;
using testing::recorded_events;
using testing::small_world;

/// No block is allocated where one is live, and only live ones are freed.
std::string contradiction_in(const std::vector<recorded_event>& events) {
  std::map<std::uint64_t, std::uint64_t> live;  // address -> bytes
  for (std::size_t i = 0; i < events.size(); ++i) {
    const recorded_event& one = events[i];
    const std::string at = "event " + std::to_string(i);
    if (i > 0 && one.order < events[i - 1].order) return at + " is out of order";
    if (one.kind == ARCALLOC_RECORDED_ALLOCATE) {
      const auto behind = live.lower_bound(one.id);
      if (behind != live.end() && behind->first < one.id + one.bytes) return at + " overlaps what is live";
      if (behind != live.begin()) {
        const auto before = std::prev(behind);
        if (before->first + before->second > one.id) return at + " overlaps what is live";
      }
      live.emplace(one.id, one.bytes);
    } else if (one.kind == ARCALLOC_RECORDED_FREE && live.erase(one.id) == 0) {
      return at + " frees what is not live";
    }
  }
  return live.empty() ? "" : "blocks are left";
}

TEST(recording_threads, are_written_in_an_order_that_can_have_been) {
  options settings;
  settings.cached_bytes_max = {bound_mode::explicit_bytes, 16 * mib};
  small_world at(settings);
  recorded_events kept;
  ASSERT_EQ(at.memory->begin_recording(kept.sink()), status::ok);
  std::mutex mutex;
  std::deque<block> handed_on;
  std::vector<std::thread> crew;
  for (std::uint64_t t = 0; t < 6; ++t) {
    crew.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::vector<block> mine;
      for (int step = 0; step < 4000; ++step) {
        block piece;
        if (mine.size() < 40 && random() % 2 == 0) {
          ASSERT_EQ(at.memory->allocate(1 + random() % (100 * kib), stream{t / 2}, piece), status::ok);
          mine.push_back(piece);
        } else if (!mine.empty()) {
          std::swap(mine[random() % mine.size()], mine.back());
          if (random() % 8 != 0) {
            ASSERT_EQ(at.memory->deallocate(mine.back()), status::ok);
          } else {
            const std::lock_guard guard(mutex);
            handed_on.push_back(mine.back());
          }
          mine.pop_back();
        }
        std::unique_lock guard(mutex);
        if (random() % 8 == 0 && !handed_on.empty()) {
          piece = handed_on.front();
          handed_on.pop_front();
          guard.unlock();
          ASSERT_EQ(at.memory->deallocate(piece), status::ok);
        }
      }
      for (const block& piece : mine) ASSERT_EQ(at.memory->deallocate(piece), status::ok);
    });
  }
  for (std::thread& one : crew) one.join();
  for (const block& piece : handed_on) EXPECT_EQ(at.memory->deallocate(piece), status::ok);
  EXPECT_EQ(at.memory->end_recording(), status::ok);
  counters now;
  at.memory->read_counters(now);
  EXPECT_EQ(kept.count(ARCALLOC_RECORDED_ALLOCATE), now.requests);
  EXPECT_EQ(kept.count(ARCALLOC_RECORDED_FREE), now.frees);
  EXPECT_EQ(contradiction_in(kept.all), "");
  EXPECT_EQ(at.memory->read_recording().lost, 0U);
}

TEST(recording_threads, what_a_thread_did_is_written_when_it_exits) {
  small_world at;
  recorded_events kept;
  ASSERT_EQ(at.memory->begin_recording(kept.sink()), status::ok);
  std::thread([&] {
    block piece;
    for (const std::size_t bytes : {100U, 100U, 200U}) {
      ASSERT_EQ(at.memory->allocate(bytes, default_stream, piece), status::ok);
      ASSERT_EQ(at.memory->deallocate(piece), status::ok);
    }
  }).join();
  EXPECT_EQ(kept.text(), "allocate 100, free, allocate 100, free, allocate 200, free");
}

TEST(recording_threads, begin_and_end_while_others_go_on) {
  small_world at;
  std::atomic<bool> over{false};
  std::vector<std::thread> crew;
  for (std::uint64_t t = 0; t < 3; ++t) {
    crew.emplace_back([&, t] {
      block piece;
      while (!over) {
        ASSERT_EQ(at.memory->allocate(100, stream{t}, piece), status::ok);
        ASSERT_EQ(at.memory->deallocate(piece), status::ok);
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    recorded_events kept;
    ASSERT_EQ(at.memory->begin_recording(kept.sink()), status::ok);
    at.memory->end_step();
    at.memory->flush_recording();
    at.memory->end_step();
    ASSERT_EQ(at.memory->end_recording(), status::ok);
    EXPECT_EQ(kept.count(ARCALLOC_RECORDED_STEP), 2U);
    const std::string wrong = contradiction_in(kept.all);
    EXPECT_TRUE(wrong.empty() || wrong == "blocks are left") << wrong;
  }
  over = true;
  for (std::thread& one : crew) one.join();
}

}  // namespace
}  // namespace arcalloc
