// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/session.hpp"
#include "flag_values.hpp"
#include "legs.hpp"
#include "sim_device.hpp"

namespace arcalloc::cli {

/// What `arcalloc decode` was asked to do, checked.
struct decode_request {
  decode::session_settings session;
  device_choice device;
  std::optional<sim_choice> sim;  ///< nothing: the device is the host or a CUDA device
  std::vector<leg> legs;
  leg_bounds bounds;
  std::uint64_t rounds = 1;
  std::uint16_t metrics_port = 0;  ///< where the running leg serves its counters; 0: nowhere
  std::string report_path;         ///< empty: none
  std::string json_path;           ///< empty: none
  std::string trace_path;          ///< what the leg bounded is recorded into; empty: as the environment says
};

}  // namespace arcalloc::cli
