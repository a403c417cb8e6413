// SPDX-License-Identifier: Apache-2.0
#include "owner_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

namespace arcalloc::detail {
namespace {

/// One owner and two claimants count up the same plain number. A lost update is a broken lock, and the
/// thread sanitizer sees a missing ordering.
void count_together(bool with_membarrier) {
  owner_lock gate;
  std::mutex claimants;
  std::uint64_t shared = 0;
  std::uint64_t slow = 0;
  if (!with_membarrier) gate.set_gate(owner_lock::gate_fenced);
  std::uint64_t owner_turns = 0;
  constexpr std::uint64_t claims = 2000;
  std::atomic<bool> done{false};
  std::thread owner([&] {
    for (; !done.load(); ++owner_turns) {
      if (gate.try_enter()) {
        ++shared;
        gate.leave();
      } else {
        const std::lock_guard guard(claimants);  // no claimant can be at work now
        ++shared;
        ++slow;
      }
    }
  });
  const auto claim = [&] {
    for (std::uint64_t i = 0; i < claims; ++i) {
      const std::lock_guard guard(claimants);
      gate.close();
      all_pass_barrier(with_membarrier);
      gate.await_outside();
      ++shared;
      gate.open();
    }
  };
  std::thread first(claim);
  std::thread second(claim);
  first.join();
  second.join();
  done.store(true);
  owner.join();
  EXPECT_EQ(shared, owner_turns + 2 * claims);
  EXPECT_LE(slow, owner_turns);
}

TEST(owner_lock, keeps_owner_and_claimants_apart_by_membarrier) {
  if (!membarrier_works()) GTEST_SKIP() << "this kernel offers no private expedited membarrier";
  count_together(true);
}

TEST(owner_lock, keeps_them_apart_where_there_is_no_membarrier) { count_together(false); }

TEST(owner_lock, a_closed_gate_lets_its_owner_in_only_when_it_is_open_again) {
  for (const bool fenced : {false, true}) {
    owner_lock gate;
    if (fenced) gate.set_gate(owner_lock::gate_fenced);
    gate.close();
    const bool entered = gate.try_enter();
    EXPECT_FALSE(entered);
    if (entered) gate.leave();
    gate.await_outside();  // returns: a refused owner is not inside
    gate.open();
    EXPECT_TRUE(gate.try_enter());
    gate.leave();
    gate.await_outside();
  }
}

TEST(owner_lock, a_closed_or_bypassed_gate_lets_nobody_in) {
  owner_lock gate;
  EXPECT_TRUE(gate.try_enter());
  gate.leave();
  gate.set_gate(owner_lock::gate_bypass);
  EXPECT_FALSE(gate.try_enter());
  gate.set_gate(owner_lock::gate_fenced);
  EXPECT_FALSE(gate.try_enter());
  gate.clear_gate(owner_lock::gate_bypass);
  EXPECT_TRUE(gate.try_enter());
  gate.leave();
  gate.close();
  EXPECT_FALSE(gate.try_enter());
  gate.open();
  EXPECT_TRUE(gate.try_enter());
}

}  // namespace
}  // namespace arcalloc::detail
