// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "legs.hpp"
#include "trace/peers/peer_policy.hpp"

namespace arcalloc::cli {

/// What a trace is played under: arcalloc, set up as one of the legs, or the rules of a peer.
using replay_policy = std::variant<leg, trace::peer>;

const char* policy_name(const replay_policy& which);

/// When one that must survive does not, the exit status says so: of the legs as in `decode`, of the peers none.
bool must_survive(const replay_policy& which);

/// Parses --policy: names separated by commas, each known, none twice, at least one. Throws command_failure that names
/// the flag and what is wrong.
std::vector<replay_policy> require_policies(const std::string& text);

}  // namespace arcalloc::cli
