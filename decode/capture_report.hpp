// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <arcalloc/capture.hpp>
#include <arcalloc/profile.hpp>
#include <arcalloc/status.hpp>

namespace arcalloc::decode {

/// What a run with a captured step found: all of it read from the allocator, none of it assumed.
struct capture_report {
  std::size_t warm_up_steps = 0;       ///< eager steps over which the profile was recorded
  std::vector<profile_entry> profile;  ///< recorded, or from a file; empty: none
  std::optional<status> prewarm;       ///< what filling the cache to the profile came to; nothing: not done
  std::optional<status> verified;      ///< what verify said just before the window; nothing: no profile
  std::vector<profile_entry> missing;  ///< and what was short then
  std::optional<status> window;        ///< what the capture came to; other than ok: the rest was eager; nothing: the
                                       ///< run ended before it
  std::vector<capture_miss_record> misses;  ///< of the window
  std::uint64_t pinned_bytes = 0;           ///< when the window had closed
  std::size_t operations = 0;               ///< in the recorded step
  std::size_t replays = 0;
  std::uint64_t requests_in_replays = 0;      ///< by any thread, while a replay ran
  std::uint64_t driver_calls_in_replays = 0;  ///< memory lent, taken back or refused, events, waits
};

}  // namespace arcalloc::decode
