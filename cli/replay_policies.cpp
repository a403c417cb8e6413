// SPDX-License-Identifier: Apache-2.0
#include "replay_policies.hpp"

#include "flag_values.hpp"

namespace arcalloc::cli {

const char* policy_name(const replay_policy& which) {
  if (const leg* own = std::get_if<leg>(&which)) return leg_name(*own);
  return trace::peer_name(std::get<trace::peer>(which));
}

bool must_survive(const replay_policy& which) {
  const leg* own = std::get_if<leg>(&which);
  return own != nullptr && must_survive(*own);
}

std::vector<replay_policy> require_policies(const std::string& text) {
  const std::vector<replay_policy> known{leg::off,     leg::unbounded,       leg::exact,
                                         leg::bounded, trace::peer::pytorch, trace::peer::mlx};
  std::vector<const char*> names;
  for (const replay_policy& each : known) names.push_back(policy_name(each));
  std::vector<replay_policy> chosen;
  for (const std::size_t each : require_choices("--policy", "policy", text, names)) chosen.push_back(known[each]);
  return chosen;
}

}  // namespace arcalloc::cli
