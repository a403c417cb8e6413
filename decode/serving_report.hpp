// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace arcalloc::decode {

/// Served traffic over some virtual time. Bytes are of all ranks, as seen at ends of steps; times are of the slowest.
struct serving_window {
  double end_s = 0;  ///< since serving began; the window begins where the one before ended
  std::uint64_t steps = 0;
  std::uint64_t tokens = 0;         ///< of answers
  std::uint64_t prompt_tokens = 0;  ///< absorbed
  std::uint64_t requests_done = 0;
  std::uint64_t sequences_most = 0;
  std::uint64_t waiting_most = 0;  ///< requests that had come and had no place in the batch
  std::uint64_t requested_bytes_most = 0;
  std::uint64_t allocated_bytes_most = 0;
  std::uint64_t held_bytes_most = 0;
  std::uint64_t held_bytes_least = 0;
  std::uint64_t reserved_bytes_most = 0;
  std::uint64_t reserved_bytes_least = 0;
  std::optional<std::uint64_t> reserved_bytes_between;  ///< the least while no sequence was there; nothing: never
  std::uint64_t driver_allocs = 0;
  std::uint64_t driver_frees = 0;
  std::uint64_t step_ns_worst = 0;
  std::uint64_t step_ns_p99 = 0;     ///< of a hundred steps, 99 took no longer
  std::uint64_t pause_ns_worst = 0;  ///< of a step, in the driver's calls
  std::uint64_t pause_ns_p99 = 0;
  std::uint64_t steps_with_driver_calls = 0;
};

/// What serving requests came to.
struct serving_report {
  std::uint64_t requests = 0;  ///< that came, over all rounds of the file
  std::uint64_t done = 0;
  std::uint64_t skipped = 0;  ///< longer than the model's positions
  double seconds = 0;         ///< of virtual time
  double waited_s = 0;        ///< of these, with nothing to do
  std::vector<serving_window> windows;
};

}  // namespace arcalloc::decode
