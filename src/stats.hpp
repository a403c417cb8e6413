// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base.hpp"

namespace arcalloc::detail {

/// One thread's half of the counters: what a hit and a free must touch, and nothing else. The other
/// half is the pool's tally. Single writer; guarded by the thread record's gate.
///
/// Bytes are sums of this thread's calls alone, so they go below zero where one thread allocates and
/// another frees; summed over all threads they do not.
///
/// The marks make peaks exact while one thread uses the allocator: they follow allocated, requested
/// and idle bytes between two readings, during which reserved bytes stand still. With more threads
/// the marks of one say nothing about the sum, and peaks are taken at readings only.
///
/// Bytes are kept as what they have fallen below their mark: the sign of one subtraction says that the
/// mark must rise, so a request pays for its peak with a branch that is almost never taken.
class thread_stats {
 public:
  std::uint64_t hits = 0;  ///< requests answered by a stream cache before the pool was asked
  std::uint64_t frees = 0;
  std::uint64_t idle_bytes = 0;  ///< of wholly idle segments: this record's share of cached

  [[nodiscard]] std::int64_t requested_bytes() const noexcept { return requested_high_ - requested_fall_; }
  [[nodiscard]] std::int64_t allocated_bytes() const noexcept { return allocated_high_ - allocated_fall_; }

  // Since the marks were restarted; the lowest ones after close_marks().
  [[nodiscard]] std::int64_t requested_high() const noexcept { return requested_high_; }
  [[nodiscard]] std::int64_t allocated_high() const noexcept { return allocated_high_; }
  [[nodiscard]] std::int64_t allocated_floor() const noexcept { return allocated_floor_; }
  /// Lowest allocated + idle: where slack was highest.
  [[nodiscard]] std::int64_t filled_floor() const noexcept { return filled_floor_; }
  [[nodiscard]] std::uint64_t idle_high() const noexcept { return idle_high_; }

  void add(std::uint64_t requested, std::uint64_t allocated) noexcept {
    requested_fall_ -= static_cast<std::int64_t>(requested);
    if (requested_fall_ < 0) [[unlikely]] {
      read_again();
      requested_high_ -= requested_fall_;
      requested_fall_ = 0;
    }
    allocated_fall_ -= static_cast<std::int64_t>(allocated);
    if (allocated_fall_ < 0) [[unlikely]] {
      read_again();
      allocated_high_ -= allocated_fall_;
      allocated_fall_max_ -= allocated_fall_;
      allocated_fall_ = 0;
    }
  }

  void subtract(std::uint64_t requested, std::uint64_t allocated) noexcept {
    requested_fall_ += static_cast<std::int64_t>(requested);
    allocated_fall_ += static_cast<std::int64_t>(allocated);
    if (allocated_fall_ > allocated_fall_max_) [[unlikely]]
      allocated_fall_max_ = allocated_fall_;
  }

  /// A segment of ours ceased to be idle. Called in the call that allocates, after add().
  void idle_fell(std::uint64_t bytes) noexcept {
    close_marks();
    idle_bytes -= bytes;
    allocated_fall_max_ = allocated_fall_;
  }

  /// A segment of ours became idle. Called in the call that frees, before subtract().
  void idle_rose(std::uint64_t bytes) noexcept {
    close_marks();
    idle_bytes += bytes;
    idle_high_ = std::max(idle_high_, idle_bytes);
    allocated_fall_max_ = nothing_noted;
  }

  /// Folds the window since idle_bytes last changed into the floors.
  void close_marks() noexcept {
    if (allocated_fall_max_ < 0) return;
    const std::int64_t allocated_low = allocated_high_ - allocated_fall_max_;
    allocated_floor_ = std::min(allocated_floor_, allocated_low);
    filled_floor_ = std::min(filled_floor_, allocated_low + static_cast<std::int64_t>(idle_bytes));
  }

  /// Starts the marks anew from the present values, after a reading.
  void restart_marks() noexcept {
    requested_high_ = requested_bytes();
    allocated_high_ = allocated_floor_ = allocated_bytes();
    requested_fall_ = allocated_fall_ = allocated_fall_max_ = 0;
    filled_floor_ = allocated_high_ + static_cast<std::int64_t>(idle_bytes);
    idle_high_ = idle_bytes;
  }

 private:
  /// Lets the compiler subtract in memory and test the sign of that: nothing is kept for the rare branch.
  static void read_again() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

  /// Far below zero, and still so when allocated_high_ has risen by all the bytes there are.
  static constexpr std::int64_t nothing_noted = INT64_MIN;

  std::int64_t requested_fall_ = 0;      ///< below requested_high_, never negative between calls
  std::int64_t allocated_fall_ = 0;      ///< below allocated_high_, likewise
  std::int64_t allocated_fall_max_ = 0;  ///< the deepest since idle_bytes last changed; negative: none noted
  std::int64_t requested_high_ = 0;
  std::int64_t allocated_high_ = 0;
  std::int64_t allocated_floor_ = 0;
  std::int64_t filled_floor_ = 0;
  std::uint64_t idle_high_ = 0;
};

}  // namespace arcalloc::detail
