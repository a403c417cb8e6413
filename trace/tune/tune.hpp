// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/options.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trace/replay/trace_replay.hpp"
#include "trace/tune/eviction_bound.hpp"

namespace arcalloc::trace {

/// What is tried, and over what.
struct tune_question {
  std::string file;   ///< for errors
  std::string trace;  ///< the trace itself, in the own format
  options settings;   ///< but for geometry, cached max and capacity
  std::vector<geometry> geometries;
  std::vector<std::uint64_t> caps_mb;  ///< ascending, from 1; empty: doubling, up to what no run ever caches more than
  std::uint64_t device_bytes = 0;
  std::uint64_t granule_bytes = 0;
  unsigned threads = 1;
  std::function<void(std::size_t done, std::size_t of)>
      progress;  ///< called on the calling thread's behalf, one at a time
};

/// One geometry under one cap.
struct tune_point {
  geometry classes = geometry::classes_8;
  std::optional<std::uint64_t> cap_mb;  ///< none: unbounded
  bool completed = false;
  std::uint64_t reserved_bytes_peak = 0;
  std::uint64_t misses = 0;        ///< requests that needed the driver
  std::uint64_t misses_least = 0;  ///< no choice of evictions could make fewer, over the placement without a cap
  bool least_is_exact = true;
  std::uint64_t driver_calls = 0;
  std::uint64_t evictions = 0;

  [[nodiscard]] double gap() const noexcept {
    return misses_least == 0 ? 1.0 : static_cast<double>(misses) / static_cast<double>(misses_least);
  }
};

struct tune_answer {
  std::uint64_t requested_bytes_peak = 0;
  std::uint64_t cached_bytes_peak = 0;                   ///< without a cap, the most of any geometry
  std::vector<tune_point> points;                        ///< by geometry, then by cap, unbounded last
  std::optional<std::size_t> chosen;                     ///< of points
  std::optional<std::uint64_t> smallest_capacity_bytes;  ///< in which the chosen one completes
};

/// A gap that is small enough.
inline constexpr double tune_gap_max = 1.10;

/// Plays the trace under every geometry and cap, in parallel; finds the fewest misses that evictions could have left at
/// each; chooses the point that reserves least of those with a gap of at most tune_gap_max and at most a tenth more
/// misses than the fewest anywhere; and searches the smallest capacity in which that completes.
/// Throws trace_error. Memory: the trace, and for each thread a replay and the intervals in which segments idle.
[[nodiscard]] tune_answer tune(const tune_question& asked);

}  // namespace arcalloc::trace
