// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base.hpp"

namespace arcalloc::detail {

/// A lock that costs its owner two plain stores, and whoever else wants in a membarrier.
///
/// The owner is one thread; it enters on every hit. A claimant is any other thread; it must hold the
/// pool's mutex, so there is at most one. The owner stores `inside`, then loads `gate`; the claimant
/// stores `gate`, has every running thread pass a full barrier (membarrier), then waits for `inside`
/// to clear. Whichever store came first, one of the two sees the other: the usual Dekker argument,
/// with the owner's half of the fence paid by the claimant.
/// Where membarrier is not to be had, bit gate_fenced stays set and the owner pays for its fence.
/// Rule: nobody claims while inside a lock of its own (two claimants would wait for each other).
class owner_lock {
 public:
  static constexpr std::uint32_t gate_claimed = 1;  ///< somebody else works on the owner's data
  static constexpr std::uint32_t gate_bypass = 2;   ///< the cache is off: every call takes the slow way
  static constexpr std::uint32_t gate_fenced = 4;   ///< no membarrier here: the owner fences itself
  static constexpr std::uint32_t gate_profile = 8;  ///< a profile is recorded: every call takes the slow way
  static constexpr std::uint32_t gate_noted = 16;   ///< calls are recorded: a hit notes what it did

  /// Owner: true when it is inside; false when it must take the slow way, under the pool's mutex.
  [[nodiscard]] bool try_enter() noexcept { return try_enter_open() || try_enter_otherwise(gate_fenced); }

  /// The same, but false also where the owner would have to fence itself. Must be followed by leave() either way.
  [[nodiscard]] bool try_enter_open() noexcept {
    inside_.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // pairs with the claimant's membarrier
    return gate_.load(std::memory_order_acquire) == 0;
  }

  /// Owner, while its hits are noted: true when it is inside, and nothing else closes the gate.
  [[nodiscard]] bool try_enter_noted() noexcept {
    return try_enter_noted_open() || try_enter_otherwise(gate_noted | gate_fenced);
  }
  /// The same, but false also where the owner would have to fence itself. Must be followed by leave() either way.
  [[nodiscard]] bool try_enter_noted_open() noexcept {
    inside_.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // pairs with the claimant's membarrier
    return gate_.load(std::memory_order_acquire) == gate_noted;
  }
  [[nodiscard]] bool notes() const noexcept { return (gate_.load(std::memory_order_relaxed) & gate_noted) != 0; }

  void leave() noexcept { inside_.store(0, std::memory_order_release); }

  /// Claimant: closes the gate; all_pass_barrier() and await_outside() must follow before it may touch anything.
  void close() noexcept { set_gate(gate_claimed); }
  void await_outside() const noexcept;
  void open() noexcept { clear_gate(gate_claimed); }

  /// Under the pool's mutex.
  void set_gate(std::uint32_t bit) noexcept {
    gate_.store(gate_.load(std::memory_order_relaxed) | bit, std::memory_order_seq_cst);
  }
  void clear_gate(std::uint32_t bit) noexcept {
    gate_.store(gate_.load(std::memory_order_relaxed) & ~bit, std::memory_order_release);
  }

 private:
  /// Outside again; and inside after all where the gate is exactly `gate`, of which gate_fenced is one bit.
  [[nodiscard]] bool try_enter_otherwise(std::uint32_t gate) noexcept {
    leave();
    return gate_.load(std::memory_order_acquire) == gate && try_enter_fenced(gate);
  }
  [[nodiscard]] bool try_enter_fenced(std::uint32_t gate) noexcept;

  std::atomic<std::uint32_t> inside_{0};
  std::atomic<std::uint32_t> gate_{0};
};

/// True when the kernel offers private expedited membarrier to this process; asked once.
[[nodiscard]] bool membarrier_works() noexcept;

/// Every running thread of the process has passed a full memory barrier when this returns.
/// Without membarrier nothing happens here: then every owner_lock carries gate_fenced.
void all_pass_barrier(bool with_membarrier) noexcept;

}  // namespace arcalloc::detail
