// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/decode_result.hpp"

namespace arcalloc::cli::test {

inline constexpr std::uint64_t made_up_tokens = 100;

/// Counters after `steps` decode steps of 10 requests, of which `misses` a step needed the driver. The
/// identities hold.
counters made_up_counters(std::uint64_t steps, std::uint64_t misses);

/// A run of 100 tokens, `ms` each, that grew by `growth_mib` evenly.
leg_run completed_run(double ms, double growth_mib);

/// A capture whose window missed twice in one size, 390,000 bytes, and whose step was replayed 97 times.
decode::capture_report made_up_capture();

/// A run that ended with `outcome` after `tokens` tokens.
leg_run ended_run(status outcome, std::uint64_t tokens);

/// All four legs, one round, all completed: 9, 5, 6 and 5.5 ms per token; not concluded yet.
decode_result made_up_result();

/// Its leg of that name.
leg_result& leg_of(decode_result& result, leg which);

}  // namespace arcalloc::cli::test
