// SPDX-License-Identifier: Apache-2.0
#include "trace/peers/peer_policy.hpp"

#include "trace/peers/mlx_policy.hpp"
#include "trace/peers/pytorch_policy.hpp"

namespace arcalloc::trace {

const char* peer_name(peer which) noexcept { return which == peer::pytorch ? "pytorch" : "mlx"; }

std::unique_ptr<peer_policy> make_peer(peer which, model_device& device,
                                       std::optional<std::uint64_t> cached_bytes_max) {
  if (which == peer::mlx) return std::make_unique<mlx_policy>(device, cached_bytes_max);
  return std::make_unique<pytorch_policy>(device);
}

}  // namespace arcalloc::trace
