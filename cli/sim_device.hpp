// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "decode/device_model.hpp"

namespace arcalloc::cli {

/// The simulated card of a decode run: what --device sim:MODEL and the flags beside it name.
struct sim_choice {
  std::string model;
  decode::driver_calls calls = decode::driver_calls::stream_ordered;
  std::size_t granule_bytes = 512;
  std::optional<std::uint64_t> free_bytes;  ///< what the card has left when decoding begins; nothing: what there is
};

/// "sim:h200, sim:h100, ...".
std::string sim_device_list();

/// The card that `device`, sim:MODEL, names. Throws command_failure (bad_usage) that lists those there are.
const decode::device_model& require_sim_model(const std::string& device);

/// async or sync. Throws command_failure (bad_usage).
decode::driver_calls require_driver_calls(const std::string& text);

const char* driver_calls_name(decode::driver_calls calls);

/// One line for provenance: what a driver call costs, and the granule.
std::string sim_driver_text(const sim_choice& sim);

}  // namespace arcalloc::cli
