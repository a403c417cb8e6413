// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan.hpp"

namespace arcalloc::testing {

/// A plan of so many operations from a seed alone: it looks at no allocator's answers, so that the same seed
/// is the same plan over every version of the library.
///
/// Swarm weights: each seed leaves some operations out and favours others; it draws the device, the bounds, the sizes,
/// the number of actors and how long each stays. A block it drew is taken to be there until it draws its free.
[[nodiscard]] plan draw_plan(std::uint64_t seed, std::uint64_t steps);

}  // namespace arcalloc::testing
