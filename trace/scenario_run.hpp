// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/counters.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/scenario.hpp"

namespace arcalloc::trace {

/// Something that is not as the scenario says it has to be. Line 0: at the end, when everything was
/// freed and drained.
struct scenario_failure {
  std::uint64_t line = 0;
  std::string expected;
  std::string found;
};

/// What a run came to. It held when nothing failed.
struct scenario_result {
  std::uint64_t expectations_checked = 0;  ///< `expect`, `same`, `differ`, and every answer of a call
  std::vector<scenario_failure> failed;
  std::vector<std::string> warnings;          ///< of the settings
  std::vector<std::string> reports;           ///< the step reports that ARC_ALLOC_CACHE_STATS asked for
  counters last{};                            ///< after the last line, before what is live is freed
  std::uint64_t cached_bytes_max_wanted = 0;  ///< the bound that would have avoided the thrash seen; 0: none seen
  std::uint64_t device_ns = 0;                ///< on the device's clock, at that time

  [[nodiscard]] bool held() const { return failed.empty(); }
};

/// Runs a scenario over a simulated device and an allocator of its own, to its end: a failure
/// stops nothing, so that all of them are known.
///
/// Plays the engine: work is enqueued on the device for every block that is handed out and for every `use`. After
/// each line, besides what the line expects, the identities of the counters and the bounds must hold, and the
/// device must have convicted nobody. At the end everything live is freed and drained, nothing may be
/// reserved, and the device is asked for leaks.
/// Concurrency: any thread, several runs at once. Deterministic: equal scenarios give equal results.
[[nodiscard]] scenario_result run_scenario(const scenario& what);

}  // namespace arcalloc::trace
