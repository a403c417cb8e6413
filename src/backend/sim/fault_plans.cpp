// SPDX-License-Identifier: Apache-2.0
#include "fault_plans.hpp"

namespace arcalloc {

void fault_plans::plan(sim_call call, std::uint64_t nth, bool persistent, status with) {
  if (nth == 0) return;
  kind& planned = of(call);
  const std::uint64_t number = planned.calls + nth;
  // What a persistent plan covers for ever, or what is past, no earlier plan decides any more.
  std::vector<numbered> left;
  for (const numbered& earlier : planned.plans) {
    const bool covered = persistent && earlier.number >= number;
    const bool past = !earlier.persistent && earlier.number <= planned.calls;
    if (!covered && !past) left.push_back(earlier);
  }
  left.push_back({number, persistent, with});
  planned.plans.swap(left);
}

void fault_plans::plan_by_seed(sim_call call, std::uint64_t seed, std::uint64_t one_in, status with) {
  kind& planned = of(call);
  planned.seed = seed;
  planned.one_in = one_in;
  planned.with_by_seed = with;
}

status fault_plans::count(sim_call call) {
  kind& planned = of(call);
  const std::uint64_t number = ++planned.calls;
  for (auto plan = planned.plans.rbegin(); plan != planned.plans.rend(); ++plan) {
    if (plan->number == number || (plan->persistent && plan->number < number)) return plan->with;
  }
  if (planned.one_in != 0 && spread_bits(planned.seed ^ spread_bits(number)) % planned.one_in == 0) {
    return planned.with_by_seed;
  }
  return status::ok;
}

}  // namespace arcalloc
