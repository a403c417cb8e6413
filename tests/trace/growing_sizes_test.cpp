// SPDX-License-Identifier: Apache-2.0
// The rules of peers on a decode whose sizes grow, beside what the peers themselves came to on such a decode: MLX's
// rules have no trace of their own to be compared on. Theirs was another draw of when each tensor is freed.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bench/decode_sequence.hpp"
#include "reading.hpp"
#include "trace/peers/peer_policy.hpp"

namespace arcalloc::trace {
namespace {

/// What came of positions 1 to 2000.
struct grown {
  double driver_allocs_per_step;  ///< after the first step
  double held_mib_most;           ///< reserved, and out with nobody
};

grown grow_under(peer which) {
  constexpr std::uint64_t steps = 2000;
  const bench::decode_sequence sequence = bench::make_decode_sequence(bench::growing_tensors::included);
  model_device device(std::uint64_t{80} << 30, 512);
  const auto rules = make_peer(which, device, {});
  std::vector<std::uint64_t> slots(bench::decode_sequence::slots_max);
  std::uint64_t held_most = 0;
  std::uint64_t at_first = 0;
  for (std::uint64_t position = 1; position <= steps; ++position) {
    for (const bench::operation& one : sequence.operations) {
      const std::uint64_t bytes = one.bytes + position * one.bytes_per_position;
      if (bytes == 0) {
        rules->deallocate(slots[one.slot]);
      } else {
        slots[one.slot] = rules->allocate(bytes, 0).value();
      }
      held_most = std::max(held_most, device.reserved_bytes() - rules->bytes().allocated);
    }
    if (position == 1) at_first = device.allocates();
  }
  return {static_cast<double>(device.allocates() - at_first) / static_cast<double>(steps - 1),
          static_cast<double>(held_most) / static_cast<double>(mib)};
}

TEST(peer_policy, by_mlx_s_rules_growing_sizes_cost_what_they_cost_mlx) {
  const grown found = grow_under(peer::mlx);
  EXPECT_NEAR(found.driver_allocs_per_step, 0.123, 0.1 * 0.123);
  EXPECT_NEAR(found.held_mib_most, 490, 0.01 * 490);
}

TEST(peer_policy, by_pytorch_s_rules_growing_sizes_cost_what_they_cost_pytorch) {
  const grown found = grow_under(peer::pytorch);
  EXPECT_LE(found.driver_allocs_per_step, 0.001);
  EXPECT_NEAR(found.held_mib_most, 22, 0.01 * 22);
}

}  // namespace
}  // namespace arcalloc::trace
