// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exit_status.hpp"
#include "flag_values.hpp"
#include "legs.hpp"
#include "replay_policies.hpp"
#include "trace/formats/trace_facts.hpp"
#include "trace_flags.hpp"

namespace arcalloc::cli {

/// What `arcalloc replay TRACE` is asked for.
struct trace_replay_request {
  std::string file;
  std::string json;
  std::vector<replay_policy> policies{leg::bounded};
  leg_bounds bounds;
  std::uint64_t capacity_bytes = 0;  ///< 0: none
  std::optional<geometry> classes;   ///< of bounded; none: as the environment says
  bool on_host = false;
  std::optional<device_choice> card;  ///< CUDA; then neither the host nor the simulated device
  std::uint64_t device_bytes = sim_bytes_default;
  std::uint64_t granule_bytes = granule_bytes_default;  ///< of the simulated device
  bool smallest_device = false;
  trace::read_options read;
};

/// Plays the trace under each policy, prints the table, writes the JSON. Throws command_failure.
exit_status replay_trace(const trace_replay_request& asked, const std::vector<std::string>& words);

}  // namespace arcalloc::cli
