// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "simulation.hpp"

namespace arcalloc::testing {

/// Simulates a seed twice, for a test: clean, and the second run makes the same calls and gets the same answers. Where
/// it is not, the test fails with the way to run the seed again, and with a scenario file of what is left when
/// it is shrunk. A crash names its seed, too; run again by itself, it is shrunk as well.
void run_seed(std::uint64_t seed, std::uint64_t steps);

/// The same in a process of its own first, so that a crash fails the test as any other violation does.
void run_seed_apart(std::uint64_t seed, std::uint64_t steps);

/// Seeds follow the commit, so that every commit looks somewhere else, and each can be run again.
[[nodiscard]] std::uint64_t first_seed();

}  // namespace arcalloc::testing
