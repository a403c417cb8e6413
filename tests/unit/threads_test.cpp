// SPDX-License-Identifier: Apache-2.0
// Many threads in one allocator: frees across threads, shared streams, thread exits, eviction meanwhile.
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <random>
#include <thread>

#include "pool.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::gib;
using testing::kib;
using testing::mib;
using testing::small_world;

/// Blocks handed from thread to thread.
class mailbox {
 public:
  /// False when it is full.
  bool post(const block& piece) {
    const std::lock_guard guard(mutex_);
    if (pieces_.size() >= 100) return false;
    pieces_.push_back(piece);
    return true;
  }
  bool fetch(block& piece) {
    const std::lock_guard guard(mutex_);
    if (pieces_.empty()) return false;
    piece = pieces_.front();
    pieces_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::deque<block> pieces_;
};

TEST(threads, eight_of_them_on_eight_streams_with_frees_across_and_one_evicting) {
  options settings = capped(24 * mib);
  settings.capacity_bytes = 1 * gib;
  small_world at(settings);
  mailbox box;
  std::atomic<std::uint64_t> requests{0};
  std::vector<std::thread> crew;
  for (std::uint64_t t = 0; t < 8; ++t) {
    crew.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::vector<block> mine;
      for (int step = 0; step < 4000; ++step) {
        const std::uint64_t what = random() % 100;
        block piece;
        if (what < 50 && mine.size() < 60) {
          const std::uint64_t bytes = 1 + random() % (what < 45 ? 30 * kib : 3 * mib);
          requests.fetch_add(1);
          ASSERT_EQ(at.memory->allocate(bytes, stream{random() % 8}, piece), status::ok);
          mine.push_back(piece);
        } else if (what < 70 && !mine.empty()) {
          if (box.post(mine.back())) mine.pop_back();
        } else if (what < 85) {
          if (box.fetch(piece)) {
            ASSERT_EQ(at.memory->deallocate(piece.data()), status::ok);
          }
        } else if (!mine.empty()) {
          ASSERT_EQ(at.memory->deallocate(mine.back()), status::ok);
          mine.pop_back();
        }
        if (t == 0 && step % 50 == 0) {
          ASSERT_EQ(at.memory->trim(step % 3 == 0 ? 0 : 8 * mib), status::ok);
        }
        if (t == 1 && step % 50 == 0) at.memory->end_step();
        if (t == 2 && step % 70 == 0) {
          counters said;
          at.memory->read_counters(said);
          ASSERT_LE(said.cached_bytes, said.cached_bytes_max);
          ASSERT_LE(said.reserved_bytes, said.capacity_bytes);
        }
      }
      for (const block& piece : mine) ASSERT_EQ(at.memory->deallocate(piece), status::ok);
    });
  }
  for (std::thread& member : crew) member.join();
  for (block piece; box.fetch(piece);) at.put(piece);
  const counters said = at.now();
  EXPECT_EQ(said.requests, requests.load());
  EXPECT_EQ(said.blocks_live, 0U);
  EXPECT_LE(at.device.lent_bytes_peak, 1 * gib);
  at.check();
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.device.lent_bytes, 0U);
}

TEST(threads, two_on_one_stream_never_hold_the_same_block) {
  small_world at;
  std::vector<std::thread> crew;
  for (int t = 0; t < 2; ++t) {
    crew.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        block piece;
        ASSERT_EQ(at.memory->allocate(2048, stream{5}, piece), status::ok);
        ASSERT_EQ(at.memory->deallocate(piece), status::ok);
      }
    });
  }
  for (std::thread& member : crew) member.join();
  EXPECT_EQ(at.now().requests, 40000U);
  EXPECT_LE(at.now().misses, 2U);
  at.check();
}

TEST(threads, what_an_exited_thread_had_serves_the_next_one) {
  small_world at;
  block left;
  std::thread([&] {
    left = at.get(3000);
    at.put(at.get(5000));
    at.put(at.get(3 * mib));
  }).join();
  const std::uint64_t calls = at.device.allocate_calls;
  at.put(at.get(5000));
  at.put(at.get(3 * mib));
  at.put(left);
  EXPECT_EQ(at.device.allocate_calls, calls);
  EXPECT_GE(at.now().pool_hits + at.now().stream_cache_hits, 2U);
  at.check();
}

TEST(threads, room_between_the_blocks_of_an_exited_thread_serves_other_classes) {
  small_world at(capped(0));
  at.put(at.get(kib));  // so that this thread does not simply take over the other's record
  at.device.allocate_calls = 0;
  std::vector<block> left;
  std::thread([&] {
    for (int i = 0; i < 64; ++i) left.push_back(at.get(32 * kib));
    for (int i = 0; i < 48; ++i) at.put(left[static_cast<std::size_t>(i)]);
  }).join();
  const block piece = at.get(mib);
  EXPECT_EQ(at.device.allocate_calls, 1U) << "three quarters of its segment had no live block";
  at.put(piece);
  for (std::size_t i = 48; i < 64; ++i) at.put(left[i]);
  at.check();
}

TEST(threads, idle_memory_of_a_running_thread_serves_another_on_the_same_stream) {
  small_world at;
  std::mutex mutex;
  std::condition_variable changed;
  int stage = 0;
  std::thread other([&] {
    at.put(at.get(3 * mib));
    std::unique_lock guard(mutex);
    stage = 1;
    changed.notify_all();
    changed.wait(guard, [&] { return stage == 2; });
  });
  {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return stage == 1; });
  }
  const std::uint64_t calls = at.device.allocate_calls;
  at.put(at.get(3 * mib));
  EXPECT_EQ(at.device.allocate_calls, calls);
  EXPECT_EQ(at.now().pool_hits, 1U);
  {
    const std::lock_guard guard(mutex);
    stage = 2;
  }
  changed.notify_all();
  other.join();
  at.check();
}

TEST(threads, thousands_that_come_and_go_reuse_the_records_of_those_before) {
  small_world at;
  for (int i = 0; i < 300; ++i) {
    std::thread([&] { at.put(at.get(1000)); }).join();
  }
  EXPECT_EQ(at.now().requests, 300U);
  EXPECT_EQ(at.now().driver_allocs, 1U);
  EXPECT_EQ(at.now().stream_cache_hits, 299U) << "each has what the one before had, as its own";
  at.check();
}

TEST(threads, an_allocator_may_die_before_the_threads_that_used_it) {
  std::mutex mutex;
  std::condition_variable changed;
  int stage = 0;
  testing::recording_backend device(gib);
  allocator* raw = nullptr;
  ASSERT_EQ(allocator::create(device, {}, raw), status::ok);
  std::thread user([&] {
    block piece;
    ASSERT_EQ(raw->allocate(1000, default_stream, piece), status::ok);
    std::unique_lock guard(mutex);
    stage = 1;
    changed.notify_all();
    changed.wait(guard, [&] { return stage == 2; });
  });
  {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return stage == 1; });
  }
  allocator::destroy(raw);
  {
    const std::lock_guard guard(mutex);
    stage = 2;
  }
  changed.notify_all();
  user.join();
  EXPECT_EQ(device.lent_bytes, 0U);
}

TEST(threads, a_slow_driver_call_does_not_hold_up_a_hit) {
  small_world at;
  at.put(at.get(1000));
  std::mutex mutex;
  std::condition_variable changed;
  bool in_driver = false;
  bool go_on = false;
  at.device.before_allocate = [&] {
    std::unique_lock guard(mutex);
    in_driver = true;
    changed.notify_all();
    changed.wait(guard, [&] { return go_on; });
  };
  std::thread slow([&] { (void)at.get(90 * mib); });
  {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return in_driver; });
  }
  // The other thread is inside the driver now, and stays there until these calls are through.
  for (int i = 0; i < 1000; ++i) at.put(at.get(1000));
  at.memory->end_step();
  {
    const std::lock_guard guard(mutex);
    go_on = true;
  }
  changed.notify_all();
  slow.join();
  at.device.before_allocate = nullptr;
  EXPECT_EQ(at.now().stream_cache_hits, 1000U);
  at.check();
}

TEST(threads, a_reading_waits_for_a_thread_that_is_inside_its_cache) {
  small_world at;
  std::atomic<bool> inside{false};
  std::atomic<bool> left{false};
  std::atomic<bool> read{false};
  std::thread owner([&] {
    at.put(at.get(1000));
    // Where a hit is for some tens of instructions, this thread stays until the reading is through, or long enough.
    detail::owner_lock& gate = detail::recent_of_thread.record->gate;
    const bool entered = gate.try_enter();
    inside.store(true);
    EXPECT_TRUE(entered);
    for (int turns = 0; turns < 20000 && !read.load(); ++turns) std::this_thread::yield();
    left.store(true);
    gate.leave();
  });
  while (!inside.load()) std::this_thread::yield();
  EXPECT_EQ(at.now().requests, 1U);
  EXPECT_TRUE(left.load()) << "the counters were read while their owner could change them";
  read.store(true);
  owner.join();
  at.check();
}

TEST(threads, nobody_enters_a_cache_that_is_claimed) {
  testing::recording_backend device(gib);
  detail::pool shared(device, {});
  shared.open();
  std::mutex mutex;
  std::condition_variable changed;
  int stage = 0;
  const auto go_to = [&](int next) {
    const std::lock_guard guard(mutex);
    stage = next;
    changed.notify_all();
  };
  const auto wait_for = [&](int expected) {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return stage >= expected; });
  };
  std::thread owner([&] {
    detail::block_record* piece = nullptr;
    EXPECT_EQ(shared.acquire(1000, default_stream, piece), status::ok);
    detail::owner_lock& gate = detail::find_record(shared.id())->gate;
    go_to(1);
    wait_for(2);
    const bool while_claimed = gate.try_enter();
    EXPECT_FALSE(while_claimed);
    if (while_claimed) gate.leave();
    go_to(3);
    wait_for(4);
    EXPECT_TRUE(gate.try_enter());
    gate.leave();
  });
  wait_for(1);
  {
    const detail::claimed all(shared);  // nobody else calls the pool now: its mutex is not missed
    go_to(2);
    wait_for(3);
  }
  go_to(4);
  owner.join();
}

TEST(threads, leases_unused_by_one_thread_are_there_for_another) {
  small_world at(capped(64 * mib));
  std::mutex mutex;
  std::condition_variable changed;
  int stage = 0;
  std::thread first([&] {
    at.put(at.get(mib));  // leases a share far above what it keeps
    std::unique_lock guard(mutex);
    stage = 1;
    changed.notify_all();
    changed.wait(guard, [&] { return stage == 2; });
  });
  {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return stage == 1; });
  }
  std::vector<block> pieces;
  for (int i = 0; i < 64; ++i) pieces.push_back(at.get(mib, stream{1}));  // two a segment
  for (const block& piece : pieces) at.put(piece);
  EXPECT_EQ(at.now().cached_bytes, 64 * mib);
  EXPECT_EQ(at.now().evictions, 0U);
  {
    const std::lock_guard guard(mutex);
    stage = 2;
  }
  changed.notify_all();
  first.join();
  at.check();
}

TEST(threads, a_record_that_is_taken_over_knows_how_warm_its_memory_is) {
  small_world at(capped(gib));
  block kept;
  std::thread([&] {
    kept = at.get(kib);
    // Each of these frees makes a segment idle without the pool's mutex, and the pool does not see how often.
    for (int i = 0; i < 100; ++i) at.put(at.get(2 * mib));
  }).join();
  at.put(at.get(3 * kib));
  at.put(kept);  // idle after the other, by a thread that is new
  at.check();
}

}  // namespace
}  // namespace arcalloc
