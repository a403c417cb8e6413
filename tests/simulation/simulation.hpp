// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/counters.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan.hpp"
#include "player.hpp"

namespace arcalloc::testing {

/// What one run came to.
struct simulation_result {
  std::string violation;           ///< empty: clean; else what broke first
  std::size_t played = 0;          ///< operations; the violation is of the last one, or came when all was over
  bool at_the_end = false;         ///< the violation came when everything was freed and drained
  std::uint64_t history_hash = 0;  ///< over every answer, and every device call and its answer
  counters last{};                 ///< as last read
  std::vector<std::optional<status>> answers;  ///< to each operation played
  std::vector<stream_wait> waits;              ///< that the operations needed
  std::uint64_t promises_kept = 0;             ///< requests in windows that a verified profile had promised
};

/// Plays a plan, on the calling thread where it has one actor, else on a thread for each.
[[nodiscard]] simulation_result run_plan(const plan& of);

}  // namespace arcalloc::testing
