// SPDX-License-Identifier: Apache-2.0
#include "sim_card.hpp"

#include <gtest/gtest.h>

namespace arcalloc::decode {

load_run run_on(sim_card& card, const options& policy, const session_settings& settings, std::uint64_t free_bytes) {
  load_run found;
  {
    const allocator_ptr memory = make_allocator(card.device, policy);
    const auto before_decode = [&] {
      memory_info now;
      EXPECT_EQ(card.device.query_memory(now), status::ok);
      if (free_bytes > 0) card.device.set_others_bytes(now.free_bytes - free_bytes);
    };
    const load_rank only{memory.get(), &card.time, &card.device};
    found.outcome = run_load({&only, 1}, settings, before_decode, [&](std::size_t tokens) {
      const std::uint64_t lent = card.device.lent_bytes();
      if (tokens == 0) found.lent_at_start = lent;
      if (tokens == settings.tokens / 2) found.lent_at_half = lent;
      found.lent_at_end = lent;
    });
    EXPECT_EQ(counters_of(*memory).blocks_live, 0U);
  }
  card.device.convict_leaks();
  EXPECT_EQ(card.device.convictions(), std::vector<std::string>{});
  return found;
}

options options_exact(std::uint64_t cap_bytes) {
  options policy = options_unbounded();
  policy.cached_bytes_max = {bound_mode::explicit_bytes, cap_bytes, false};
  return policy;
}

options options_bounded(std::uint64_t cap_bytes) {
  options policy;
  policy.cached_bytes_max = {bound_mode::explicit_bytes, cap_bytes, false};
  return policy;
}

}  // namespace arcalloc::decode
