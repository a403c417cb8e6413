// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include "lockstep.hpp"

namespace arcalloc::testing {

simulation_result run_plan(const plan& of) {
  player one(of);
  if (of.actors > 1) {
    lockstep(of, one).run();
  } else {
    for (const operation& next : of.operations) one.play(next);
  }
  const bool clean_so_far = one.violation().empty();
  if (clean_so_far) one.finish();
  return {one.violation(),    one.played(),       clean_so_far && !one.violation().empty(),
          one.history_hash(), one.last_reading(), one.answers(),
          one.waits(),        one.promises_kept()};
}

}  // namespace arcalloc::testing
