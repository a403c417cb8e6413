// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/sim_backend.hpp>

#include "decode/device_timeline.hpp"
#include "decode/load.hpp"
#include "devices.hpp"

namespace arcalloc::decode {

inline constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// A simulated card with its clock, as a leg has it.
struct sim_card {
  explicit sim_card(const char* name = "h200", driver_calls by = driver_calls::stream_ordered,
                    std::size_t granularity = 512)
      : model(*find_device_model(name)), device(options_of(model, by, granularity)), time(device, model) {}

  const device_model& model;
  sim_backend device;
  device_timeline time;
};

/// A run of a load, with what the card had lent when decoding began and after its last token.
struct load_run {
  session_outcome outcome;
  std::uint64_t lent_at_start = 0;
  std::uint64_t lent_at_half = 0;
  std::uint64_t lent_at_end = 0;

  [[nodiscard]] double ms_per_token() const {
    return outcome.decode_seconds * 1000 / static_cast<double>(outcome.tokens_done);
  }
  /// Over all decode steps, or over the second half of them.
  [[nodiscard]] counters steps() const { return counters_between(outcome.at_decode_start, outcome.at_end); }
  [[nodiscard]] counters second_half() const { return counters_between(outcome.at_half, outcome.at_end); }
};

/// `free_bytes` is what the card has left when decoding begins; 0: all there is.
[[nodiscard]] load_run run_on(sim_card& card, const options& policy, const session_settings& settings,
                              std::uint64_t free_bytes = 0);

[[nodiscard]] options options_exact(std::uint64_t cap_bytes);
[[nodiscard]] options options_bounded(std::uint64_t cap_bytes);

}  // namespace arcalloc::decode
