// SPDX-License-Identifier: Apache-2.0
#include "owner_lock.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace arcalloc::detail {

/// Inside where the gate is exactly `gate`: the owner fences itself.
bool owner_lock::try_enter_fenced(std::uint32_t gate) noexcept {
  inside_.exchange(1, std::memory_order_seq_cst);
  if (gate_.load(std::memory_order_seq_cst) == gate) return true;
  inside_.store(0, std::memory_order_release);
  return false;
}

void owner_lock::await_outside() const noexcept {
  // The owner is inside for some tens of instructions, unless the scheduler took it off its core there.
  for (int spins = 0; inside_.load(std::memory_order_seq_cst) != 0; ++spins) {
    if (spins >= 64) ::sched_yield();
  }
}

bool membarrier_works() noexcept {
  // 0 unknown, 1 works, 2 does not. Two threads may both ask; they get the same answer.
  static std::atomic<int> known{0};
  int answer = known.load(std::memory_order_acquire);
  if (answer == 0) {
    const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    const bool offered = commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 &&
                         (commands & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
    const bool works = offered && ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    answer = works ? 1 : 2;
    known.store(answer, std::memory_order_release);
  }
  return answer == 1;
}

void all_pass_barrier(bool with_membarrier) noexcept {
  // Without it the stores and loads of gate and inside are sequentially consistent on both sides.
  if (!with_membarrier) return;
  // Registered, so it cannot fail; going on without the barrier would hand out memory twice.
  ARCALLOC_ASSERT(::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0);
}

}  // namespace arcalloc::detail
