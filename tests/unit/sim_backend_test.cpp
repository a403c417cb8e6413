// SPDX-License-Identifier: Apache-2.0
// What the simulated device answers, but for captures; whom it convicts is in sim_convictions_test.cpp.
#include <gtest/gtest.h>
#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>

#include <thread>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::gib;
using testing::kib;
using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;

void* lend(sim_backend& device, std::size_t bytes, stream on = s1) {
  void* address = nullptr;
  EXPECT_EQ(device.allocate(bytes, on, address), status::ok);
  return address;
}

event record(sim_backend& device, stream on) {
  event point{};
  EXPECT_EQ(device.record_event(on, point), status::ok);
  EXPECT_NE(point, event::none);
  return point;
}

bool finished(sim_backend& device, event point) {
  bool answer = false;
  EXPECT_EQ(device.query_event(point, answer), status::ok);
  return answer;
}

TEST(sim_backend, time_is_the_sum_of_the_costs_of_the_calls) {
  sim_backend device({.allocate_ns = 3, .free_ns = 50, .event_ns = 700});
  EXPECT_EQ(device.now_ns(), 0U);
  void* const address = lend(device, 4 * kib);
  EXPECT_EQ(device.now_ns(), 3U);
  device.use(s1, address, 4 * kib);
  const event point = record(device, s1);
  EXPECT_TRUE(finished(device, point));
  EXPECT_EQ(device.now_ns(), 1403U);
  device.drop_event(point);
  EXPECT_EQ(device.free(address, 4 * kib), status::ok);
  EXPECT_EQ(device.now_ns(), 1453U);
  EXPECT_EQ(device.calls(sim_call::allocate), 1U);
  EXPECT_EQ(device.calls(sim_call::query_event), 1U);
  EXPECT_EQ(device.calls(sim_call::wait_event), 0U);
  EXPECT_TRUE(device.convictions().empty());
}

TEST(sim_backend, lends_no_more_than_it_has_and_others_leave) {
  sim_backend device({.memory_bytes = 100 * mib, .others_bytes = 10 * mib});
  void* const first = lend(device, 60 * mib);
  void* refused = first;
  EXPECT_EQ(device.allocate(30 * mib + 512, s1, refused), status::device_out_of_memory);
  EXPECT_EQ(refused, nullptr);
  void* const second = lend(device, 30 * mib);
  EXPECT_EQ(device.lent_bytes(), 90 * mib);
  device.set_others_bytes(70 * mib);
  memory_info said;
  ASSERT_EQ(device.query_memory(said), status::ok);
  EXPECT_EQ(said.total_bytes, 100 * mib);
  EXPECT_EQ(said.free_bytes, 0U) << "others took more than there was";
  EXPECT_EQ(device.free(first, 60 * mib), status::ok);
  ASSERT_EQ(device.query_memory(said), status::ok);
  EXPECT_EQ(said.free_bytes, 0U);
  device.set_others_bytes(0);
  ASSERT_EQ(device.query_memory(said), status::ok);
  EXPECT_EQ(said.free_bytes, 70 * mib);
  EXPECT_EQ(device.free(second, 30 * mib), status::ok);
  EXPECT_EQ(device.lent_bytes(), 0U);
  EXPECT_EQ(device.lent_bytes_peak(), 90 * mib);
  EXPECT_TRUE(device.convictions().empty());
}

TEST(sim_backend, aligns_to_the_granule_and_to_512) {
  for (const std::size_t granule : {std::size_t{256}, std::size_t{512}, std::size_t{2 * mib}}) {
    sim_backend device({.granularity = granule});
    EXPECT_EQ(device.granularity(), granule);
    std::uint64_t end = 0;
    for (std::size_t i = 1; i <= 5; ++i) {
      const auto begin = reinterpret_cast<std::uint64_t>(lend(device, i * granule));
      EXPECT_EQ(begin % std::max<std::size_t>(granule, 512), 0U);
      EXPECT_GE(begin, end);
      end = begin + i * granule;
    }
    EXPECT_TRUE(device.convictions().empty());
  }
}

TEST(sim_backend, lends_the_lowest_gap_that_is_large_enough) {
  sim_backend device;
  void* const a = lend(device, mib);
  void* const b = lend(device, 2 * mib);
  void* const c = lend(device, mib);
  EXPECT_EQ(static_cast<char*>(b) - static_cast<char*>(a), 1 << 20);
  EXPECT_EQ(device.free(a, mib), status::ok);
  EXPECT_EQ(device.free(b, 2 * mib), status::ok);
  EXPECT_EQ(lend(device, 3 * mib), a) << "two gaps that touch are one";
  EXPECT_EQ(device.free(a, 3 * mib), status::ok);
  EXPECT_GT(lend(device, 4 * mib), c);
  EXPECT_EQ(lend(device, mib), a);
}

TEST(sim_backend, a_device_larger_than_its_addresses_runs_out_of_them) {
  sim_backend device({.memory_bytes = ~std::uint64_t{0}});
  void* address = nullptr;
  EXPECT_EQ(device.allocate(~std::size_t{511}, s1, address), status::device_out_of_memory);
  EXPECT_EQ(device.allocate(std::size_t{1} << 47, s1, address), status::device_out_of_memory);
  EXPECT_EQ(device.allocate(std::size_t{1} << 46, s1, address), status::ok);
}

TEST(sim_backend, a_planned_fault_hits_the_nth_call_of_its_kind_and_changes_nothing) {
  sim_backend device;
  device.plan_fault(sim_call::allocate, 2, false, status::backend_failed);
  void* const first = lend(device, mib);
  void* refused = nullptr;
  EXPECT_EQ(device.allocate(mib, s1, refused), status::backend_failed);
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(device.lent_bytes(), mib);
  void* const third = lend(device, mib);

  device.plan_fault(sim_call::free, 1, true, status::backend_failed);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(device.free(first, mib), status::backend_failed);
  EXPECT_EQ(device.lent_bytes(), 2 * mib) << "still lent, and the call may be repeated";
  device.plan_fault(sim_call::free, 1, true, status::ok);
  EXPECT_EQ(device.free(first, mib), status::ok);
  EXPECT_EQ(device.free(third, mib), status::ok);
  EXPECT_TRUE(device.convictions().empty());
}

TEST(sim_backend, several_plans_hold_at_once_and_the_latest_decides) {
  sim_backend device;
  device.plan_fault(sim_call::query_memory, 3, true, status::backend_failed);
  device.plan_fault(sim_call::query_memory, 1, false, status::backend_unavailable);
  device.plan_fault(sim_call::query_memory, 4, false, status::ok);
  device.plan_fault(sim_call::query_memory, 0, true, status::shutting_down);
  std::vector<status> said;
  for (int i = 0; i < 6; ++i) {
    memory_info info;
    said.push_back(device.query_memory(info));
  }
  EXPECT_EQ(said, (std::vector<status>{status::backend_unavailable, status::ok, status::backend_failed, status::ok,
                                       status::backend_failed, status::backend_failed}));
}

TEST(sim_backend, event_calls_fail_as_planned) {
  sim_backend device;
  event point{7};
  device.plan_fault(sim_call::record_event, 1, false, status::backend_failed);
  EXPECT_EQ(device.record_event(s1, point), status::backend_failed);
  EXPECT_EQ(point, event::none);
  point = record(device, s1);
  device.plan_fault(sim_call::query_event, 1, false, status::backend_failed);
  device.plan_fault(sim_call::wait_event, 1, false, status::backend_failed);
  bool answer = true;
  EXPECT_EQ(device.query_event(point, answer), status::backend_failed);
  EXPECT_FALSE(answer);
  EXPECT_EQ(device.wait_event(point), status::backend_failed);
  EXPECT_EQ(device.wait_event(point), status::ok);
  device.drop_event(point);
  EXPECT_TRUE(device.convictions().empty());
}

TEST(sim_backend, a_wait_that_fails_has_not_waited) {
  sim_backend device;
  device.busy(s1);
  const event point = record(device, s1);
  device.plan_fault(sim_call::wait_event, 1, false, status::backend_failed);
  EXPECT_EQ(device.wait_event(point), status::backend_failed);
  EXPECT_FALSE(finished(device, point));
}

std::vector<int> seeded_faults(std::uint64_t seed, std::uint64_t one_in) {
  sim_backend device;
  device.plan_faults_by_seed(sim_call::query_memory, seed, one_in, status::backend_failed);
  std::vector<int> failed;
  for (int i = 0; i < 2000; ++i) {
    memory_info info;
    if (device.query_memory(info) != status::ok) failed.push_back(i);
  }
  return failed;
}

TEST(sim_backend, faults_by_seed_are_as_many_as_asked_for_and_repeat) {
  EXPECT_EQ(seeded_faults(1, 0).size(), 0U);
  EXPECT_EQ(seeded_faults(1, 1).size(), 2000U);
  EXPECT_NEAR(static_cast<double>(seeded_faults(1, 10).size()), 200.0, 60.0);
  EXPECT_EQ(seeded_faults(1, 10), seeded_faults(1, 10));
  EXPECT_NE(seeded_faults(1, 10), seeded_faults(2, 10));
}

TEST(sim_backend, work_is_finished_at_once_unless_its_stream_is_busy) {
  sim_backend device;
  void* const address = lend(device, mib);
  device.use(s1, address, mib);
  const event idle = record(device, s1);
  device.busy(s2);
  device.use(s2, address, mib);
  const event held = record(device, s2);
  EXPECT_TRUE(finished(device, idle));
  EXPECT_FALSE(finished(device, held));
  device.finish(s1);
  EXPECT_FALSE(finished(device, held)) << "s1 was not busy";
  device.finish(s2);
  EXPECT_TRUE(finished(device, held));
}

TEST(sim_backend, busy_holds_earlier_work_unless_it_was_seen_to_have_finished) {
  sim_backend device;
  void* const address = lend(device, mib);
  device.use(s1, address, mib);
  const event seen = record(device, s1);
  EXPECT_TRUE(finished(device, seen));
  device.use(s1, address, mib);
  const event unseen = record(device, s1);
  device.busy(s1);
  EXPECT_TRUE(finished(device, seen));
  EXPECT_FALSE(finished(device, unseen));
}

TEST(sim_backend, a_wait_finishes_what_is_before_its_event_and_nothing_later) {
  sim_backend device;
  device.busy(s1);
  const event early = record(device, s1);
  void* const address = lend(device, mib);
  device.use(s1, address, mib);
  const event late = record(device, s1);
  EXPECT_EQ(device.wait_event(early), status::ok);
  EXPECT_TRUE(finished(device, early));
  EXPECT_FALSE(finished(device, late)) << "the stream is still busy";
  EXPECT_EQ(device.wait_event(late), status::ok);
  EXPECT_TRUE(finished(device, late));
  device.use(s1, address, mib);
  EXPECT_FALSE(finished(device, record(device, s1)));
}

TEST(sim_backend, work_ordered_after_unfinished_work_is_unfinished_through_any_number_of_streams) {
  sim_backend device;
  device.busy(s1);
  device.wait(s2, s1);
  device.wait(s3, s2);
  const event behind = record(device, s3);
  EXPECT_FALSE(finished(device, behind));
  const event source = record(device, s1);
  EXPECT_EQ(device.wait_event(behind), status::ok);
  EXPECT_TRUE(finished(device, source)) << "waiting for the last waits for the first";
}

TEST(sim_backend, a_wait_orders_what_was_enqueued_before_it_and_nothing_later) {
  sim_backend device;
  void* const address = lend(device, mib);
  device.use(s1, address, mib);
  const event before = record(device, s1);
  device.wait(s2, s1);
  device.busy(s1);
  EXPECT_FALSE(finished(device, record(device, s2))) << "s1's earlier work is held too, and s2 comes after it";
  EXPECT_EQ(device.wait_event(before), status::ok);
  EXPECT_TRUE(finished(device, record(device, s2))) << "what s1 enqueued later is not before s2";
}

// One engine with something of everything, driven by a seed.
std::uint64_t hash_of_run(std::uint64_t seed) {
  sim_backend device({.memory_bytes = 64 * mib});
  device.plan_faults_by_seed(sim_call::allocate, seed, 7, status::device_out_of_memory);
  std::vector<std::pair<void*, std::size_t>> lent;
  for (std::size_t i = 1; i <= 200; ++i) {
    const stream on{i % 3};
    const std::size_t bytes = (i * 37 % 11 + 1) * 512 * kib;
    void* address = nullptr;
    if (device.allocate(bytes, on, address) == status::ok) {
      lent.emplace_back(address, bytes);
      device.handed_out(on, address, bytes);
      device.use(on, address, bytes);
    }
    if (i % 5 == 0) device.busy(on);
    if (i % 2 == 0 && !lent.empty()) {
      const event point = record(device, on);
      (void)finished(device, point);
      EXPECT_EQ(device.wait_event(point), status::ok);
      device.drop_event(point);
      device.finish(on);
      device.handed_back(lent.front().first);
      (void)device.free(lent.front().first, lent.front().second);
      lent.erase(lent.begin());
    }
  }
  return device.history_hash();
}

TEST(sim_backend, two_runs_of_one_seed_have_one_history_and_two_seeds_have_two) {
  EXPECT_EQ(hash_of_run(1), hash_of_run(1));
  EXPECT_NE(hash_of_run(1), hash_of_run(2));
}

TEST(sim_backend, the_history_changes_with_the_order_of_two_calls) {
  sim_backend one;
  sim_backend other;
  const std::uint64_t fresh = one.history_hash();
  one.busy(s1);
  one.busy(s2);
  other.busy(s2);
  other.busy(s1);
  EXPECT_NE(one.history_hash(), fresh);
  EXPECT_NE(one.history_hash(), other.history_hash());
}

TEST(sim_backend, several_threads_may_call_at_once) {
  sim_backend device;
  std::vector<std::thread> engines;
  for (std::uint64_t i = 1; i <= 4; ++i) {
    engines.emplace_back([&device, on = stream{i}] {
      for (int turn = 0; turn < 200; ++turn) {
        void* const address = lend(device, mib, on);
        device.handed_out(on, address, mib);
        device.use(on, address, mib);
        const event point = record(device, on);
        EXPECT_EQ(device.wait_event(point), status::ok);
        device.drop_event(point);
        device.handed_back(address);
        EXPECT_EQ(device.free(address, mib), status::ok);
      }
    });
  }
  for (std::thread& engine : engines) engine.join();
  EXPECT_EQ(device.lent_bytes(), 0U);
  device.convict_leaks();
  EXPECT_TRUE(device.convictions().empty());
}

TEST(sim_backend, a_thousand_steps_of_the_allocator_on_one_stream_are_innocent) {
  sim_backend device({.memory_bytes = gib});
  device.set_capacity_bytes(256 * mib);
  {
    options settings = testing::capped(32 * mib);
    settings.capacity_bytes = 256 * mib;
    allocator* raw = nullptr;
    ASSERT_EQ(allocator::create(device, settings, raw), status::ok);
    const allocator_ptr memory(raw);
    for (std::uint64_t step = 1; step <= 1000; ++step) {
      const std::uint64_t bytes = step * 4 * kib;
      block pieces[2];
      for (block& piece : pieces) {
        ASSERT_EQ(memory->allocate(bytes, s1, piece), status::ok);
        device.handed_out(s1, piece.data(), bytes);
        device.use(s1, piece.data(), bytes);
      }
      for (const block& piece : pieces) {
        device.handed_back(piece.data());
        ASSERT_EQ(memory->deallocate(piece), status::ok);
      }
      memory->end_step();
    }
  }
  device.convict_leaks();
  EXPECT_TRUE(device.convictions().empty()) << device.convictions().front();
  EXPECT_EQ(device.lent_bytes(), 0U);
  EXPECT_GT(device.calls(sim_call::free), 0U);
}

}  // namespace
}  // namespace arcalloc
