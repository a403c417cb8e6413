// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/peers/peer_policy.hpp"

namespace arcalloc::trace::test {

/// Requests, uses and frees, drawn from a fixed seed: what is out never overlaps, is at least as large as was asked
/// for, and adds up with what is pending and cached to no more than what the device has lent. All is freed at the end.
void expect_blocks_apart(peer_policy& rules, const model_device& device);

}  // namespace arcalloc::trace::test
