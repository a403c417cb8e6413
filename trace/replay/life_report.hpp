// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/replay/trace_replay.hpp"

namespace arcalloc::trace {

/// Bytes of each kind: the most that was seen over a stretch of events, each kind by itself.
struct life_bytes {
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  std::uint64_t pending = 0;
  std::uint64_t cached = 0;
  std::uint64_t slack = 0;
  std::uint64_t pinned = 0;
  std::uint64_t reserved = 0;
};

/// A stretch of events, and the peaks in it.
struct life_stretch {
  std::uint64_t last_event = 0;     ///< from 1
  std::uint64_t time_ns = no_time;  ///< of its last event that has one
  life_bytes peaks;
};

/// Steps one after another, and what they did together.
struct life_steps {
  std::uint64_t first = 0;  ///< from 1
  std::uint64_t count = 0;
  std::uint64_t requests = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t driver_allocs = 0;
  std::uint64_t driver_frees = 0;
  std::uint64_t evictions = 0;
  std::uint64_t driver_calls_most = 0;    ///< in one step
  std::uint64_t reserved_bytes_most = 0;  ///< at the end of a step
  std::uint64_t requested_bytes_most = 0;
};

/// Requests of one size class: 8 per doubling, whatever the geometry of the replay.
struct life_class {
  std::uint64_t requests = 0;
  std::uint64_t misses = 0;  ///< requests that went to the driver
  std::uint64_t bytes = 0;   ///< requested, together
  std::uint64_t live = 0;
  std::uint64_t live_most = 0;
};

/// The n-th request of each step, where it grows from step to step.
struct life_growth {
  std::uint64_t ordinal = 0;  ///< from 1
  std::uint64_t first_bytes = 0;
  std::uint64_t last_bytes = 0;
  std::uint64_t steps = 0;   ///< that had it
  std::uint64_t grown = 0;   ///< of these, larger than the one before
  std::uint64_t shrunk = 0;  ///< smaller
};

/// What a trace came to, for a page: made while a replay plays it.
struct life_report {
  std::vector<life_stretch> timeline;  ///< at most timeline_max stretches of as many events each, but for the last
  std::uint64_t events_per_stretch = 1;
  std::vector<life_steps> steps;  ///< at most steps_max entries
  std::map<std::uint64_t, life_class> classes;
  std::vector<life_growth> growing;  ///< by how much, the most first
  std::uint64_t distinct_growing = 0;
  std::uint64_t cached_bytes_max = 0;  ///< at the end; ARCALLOC_NO_BOUND where there is none
  std::uint64_t capacity_bytes = 0;
  replay_result played;

  static constexpr std::size_t timeline_max = 2048;
  static constexpr std::size_t steps_max = 32;
  static constexpr std::size_t growing_max = 12;
};

/// The size class of the default geometry: (8 + k) * 2^n / 8, at least 512 bytes, in steps of at most 16 MiB.
[[nodiscard]] std::uint64_t class_of(std::uint64_t bytes);

/// Stands before a replay and watches what it does. Peaks are exact whatever is left out: the allocator keeps them over
/// each stretch, and stretches are put together two and two when there are too many.
/// Concurrency: one thread. Cost: 5 words a live block, and a reading of the counters for each of a few thousand
/// stretches.
class life_watch final : public trace_sink {
 public:
  /// `simulated`: the replay's device.
  life_watch(trace_replay& replay, const sim_backend& simulated) : replay_(replay), simulated_(simulated) {}
  void take(const event& what) override;
  /// Ends the replay. Called once.
  [[nodiscard]] life_report finish();

 private:
  void note_request(const event& what, bool missed);
  void note_step();
  void close_stretch();
  void note_growth(std::uint64_t bytes);

  trace_replay& replay_;
  const sim_backend& simulated_;
  life_report report_;
  std::uint64_t events_ = 0;
  std::uint64_t time_ns_ = no_time;
  std::uint64_t steps_per_entry_ = 1;
  std::uint64_t steps_ = 0;
  std::uint64_t ordinal_ = 0;  ///< requests of this step so far
  std::vector<life_growth> by_ordinal_;
  life_stretch open_;
  bool any_open_ = false;
};

}  // namespace arcalloc::trace
