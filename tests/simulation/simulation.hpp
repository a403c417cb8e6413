// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace arcalloc::testing {

/// What one simulated run came to.
struct simulation_result {
  std::string violation;           ///< empty: clean; else what broke, with seed and step
  std::uint64_t history_hash = 0;  ///< over every device call and answer
  std::uint64_t steps = 0;
};

/// One seed, one run: an engine with several streams over a simulated device, its mix of calls drawn
/// from the seed (swarm weights), with driver faults, other processes' memory and bounds that change.
/// After every step the device's verdict and the counters are checked; every segment is walked after
/// every step while at most 64 blocks are live, and every 64 steps above.
simulation_result simulate(std::uint64_t seed, std::uint64_t steps);

}  // namespace arcalloc::testing
