// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace arcalloc::trace {

/// A segment idles from one moment until it is used again: kept, it takes `bytes` of the cached max all that time;
/// given back, it costs a miss at the end. Moments are numbers that ascend; begin < end.
struct idle_interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;
};

/// The least number of these that must be given back so that the rest fits into `cached_bytes_max` at every moment,
/// with the future known. It is a lower bound always, and `exact` says when it is the number itself.
struct eviction_bound {
  std::uint64_t evictions = 0;
  bool exact = true;
};

/// Exact where few segments idle at once, else the best of two relaxations:
///   - moments of which no interval covers two are independent, so what each of them must give back adds up. Long
///     intervals would join all moments; so this is tried with all of them, and with those above some length given back
///     for nothing;
///   - where all have one size, giving back whatever is wanted last is optimal, and that counts them.
/// Concurrency: any thread. Cost: n log n for each of some forty lengths; for the exact way at most states_max states a
/// moment.
[[nodiscard]] eviction_bound least_evictions(std::vector<idle_interval> intervals, std::uint64_t cached_bytes_max);

}  // namespace arcalloc::trace
