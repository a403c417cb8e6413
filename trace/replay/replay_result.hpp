// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arcalloc::trace {

/// Where a trace ended because a request that it served was refused.
struct replay_refusal {
  std::uint64_t event = 0;  ///< which event of the trace, from 1
  status outcome = status::ok;
  std::uint64_t bytes = 0;
  failure_record record{};
};

/// What came of a trace under one policy.
struct replay_result {
  std::optional<replay_refusal> refusal;   ///< none: every request that the trace served was served
  std::uint64_t requested_bytes_peak = 0;  ///< most bytes out at once, as requested: what no allocator can do without
  std::uint64_t refusals_recorded = 0;     ///< requests that the trace's own allocator refused
  std::uint64_t refusals_served = 0;       ///< ... and this one would have served
  std::uint64_t steps = 0;
  std::uint64_t driver_calls_step_max = 0;    ///< most driver allocations and frees in one step; all, without steps
  std::uint64_t driver_calls_first_step = 0;  ///< up to the end of the first step, loading included; all, without steps
  std::uint64_t device_ns = 0;                ///< virtual time of the driver's calls; 0 on a real device
  std::uint64_t cached_bytes_max_wanted = 0;
  counters last{};
  std::vector<std::string> convictions;  ///< of the simulated device: a fault of ours

  /// Notes how many driver calls there were up to the end of this step.
  void end_step(std::uint64_t driver_calls_in_it, std::uint64_t driver_calls_so_far) {
    if (++steps == 1) driver_calls_first_step = driver_calls_so_far;
    if (driver_calls_in_it > driver_calls_step_max) driver_calls_step_max = driver_calls_in_it;
  }
  /// A trace without steps is one.
  void end_without_steps(std::uint64_t driver_calls) {
    if (steps == 0) driver_calls_step_max = driver_calls_first_step = driver_calls;
  }
};

}  // namespace arcalloc::trace
