// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/recording.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/tune/eviction_bound.hpp"

namespace arcalloc::trace {

/// Listens to a recording, and says when each segment idled between two uses. What idles at the end is wanted by nobody
/// and is left out, as is what is idle before its first use. Moments are the numbers of the events.
/// Concurrency: as a recording calls its sink. Cost: a look-up an event; memory for segments, live blocks and
/// intervals.
class idle_watch {
 public:
  [[nodiscard]] recording_sink sink() noexcept;
  [[nodiscard]] const std::vector<idle_interval>& intervals() const noexcept { return intervals_; }
  /// False where the host had no memory for them: they are not all there.
  [[nodiscard]] bool is_whole() const noexcept { return whole_; }

 private:
  struct segment_life {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;  ///< out
    std::uint64_t idle_since = 0;
    bool was_used = false;
  };
  void take(const recorded_event& what);
  [[nodiscard]] segment_life* segment_of(std::uint64_t address);

  std::map<std::uint64_t, segment_life> segments_;  // by address
  std::vector<idle_interval> intervals_;
  std::uint64_t events_ = 0;
  bool whole_ = true;
};

}  // namespace arcalloc::trace
