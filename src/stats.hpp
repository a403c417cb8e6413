// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
struct thread_stats {
  std::uint64_t requests = 0;
  std::uint64_t stream_cache_hits = 0;
  std::uint64_t frees = 0;
  std::int64_t requested_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::uint64_t idle_bytes = 0;  ///< of wholly idle segments: this record's share of cached

  std::int64_t requested_high = 0;
  std::int64_t allocated_high = 0;
  std::int64_t allocated_low = 0;  ///< since idle_bytes last changed
  std::int64_t allocated_floor = 0;
  std::int64_t filled_floor = 0;  ///< lowest allocated + idle: where slack was highest
  std::uint64_t idle_high = 0;

  void add(std::uint64_t requested, std::uint64_t allocated) noexcept {
    requested_bytes += static_cast<std::int64_t>(requested);
    allocated_bytes += static_cast<std::int64_t>(allocated);
    requested_high = std::max(requested_high, requested_bytes);
    allocated_high = std::max(allocated_high, allocated_bytes);
  }

  void subtract(std::uint64_t requested, std::uint64_t allocated) noexcept {
    requested_bytes -= static_cast<std::int64_t>(requested);
    allocated_bytes -= static_cast<std::int64_t>(allocated);
    allocated_low = std::min(allocated_low, allocated_bytes);
  }

  /// A segment of ours ceased to be idle. Called in the call that allocates, after add().
  void idle_fell(std::uint64_t bytes) noexcept {
    close_marks();
    idle_bytes -= bytes;
    allocated_low = allocated_bytes;
  }

  /// A segment of ours became idle. Called in the call that frees, before subtract().
  void idle_rose(std::uint64_t bytes) noexcept {
    close_marks();
    idle_bytes += bytes;
    idle_high = std::max(idle_high, idle_bytes);
    allocated_low = INT64_MAX;
  }

  /// Folds the window since idle_bytes last changed into the floors.
  void close_marks() noexcept {
    if (allocated_low == INT64_MAX) return;
    allocated_floor = std::min(allocated_floor, allocated_low);
    filled_floor = std::min(filled_floor, allocated_low + static_cast<std::int64_t>(idle_bytes));
  }

  /// Starts the marks anew from the present values, after a reading.
  void restart_marks() noexcept {
    requested_high = requested_bytes;
    allocated_high = allocated_low = allocated_floor = allocated_bytes;
    filled_floor = allocated_bytes + static_cast<std::int64_t>(idle_bytes);
    idle_high = idle_bytes;
  }
};

}  // namespace arcalloc::detail
