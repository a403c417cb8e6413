// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "trace/peers/model_device.hpp"

namespace arcalloc::trace {

/// Allocators of other projects, whose rules a trace can be played under.
enum class peer { pytorch, mlx };

/// The identifier itself, as --policy takes it.
[[nodiscard]] const char* peer_name(peer which) noexcept;

/// What a policy holds now. Reserved less these three is slack: what of partly used segments is idle, and what of
/// granules nobody can use.
struct peer_bytes {
  std::uint64_t allocated = 0;  ///< in blocks that are out, at their true sizes
  std::uint64_t pending = 0;    ///< freed, and waiting for another stream
  std::uint64_t cached = 0;     ///< in wholly idle segments
};

/// The placement rules of a peer, as far as they decide what is asked of the driver: sizes, what is reused, what goes
/// back and when. Written anew from what the peer documents and from how its source behaves; each rule names where it
/// stands there.
///
/// Called by peer_replay; calls a model_device, and nothing of arcalloc. Addresses are numbers: no memory is touched.
/// It trusts its caller to free what it got, once. Concurrency: one thread. Cost: a few look-ups in ordered sets.
class peer_policy {
 public:
  peer_policy() = default;
  peer_policy(const peer_policy&) = delete;
  peer_policy& operator=(const peer_policy&) = delete;
  virtual ~peer_policy() = default;

  /// The address of a block for so many bytes, more than 0; nothing where the peer would say that it is out of memory.
  [[nodiscard]] virtual std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t stream) = 0;
  /// The block is used on another stream than the one it was requested on.
  virtual void note_use(std::uint64_t address, std::uint64_t stream) = 0;
  virtual void deallocate(std::uint64_t address) = 0;
  /// The peer's own call that gives back all that is idle.
  virtual void drain() = 0;

  [[nodiscard]] virtual peer_bytes bytes() const noexcept = 0;
  /// What a request of so many bytes is rounded to.
  [[nodiscard]] virtual std::uint64_t rounded(std::uint64_t bytes) const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t largest_idle_bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t blocks_idle() const = 0;
  /// Events recorded for uses on other streams.
  [[nodiscard]] virtual std::uint64_t events() const noexcept { return 0; }
  /// The bound on what is cached; UINT64_MAX where there is none.
  [[nodiscard]] virtual std::uint64_t cached_bytes_max() const noexcept { return UINT64_MAX; }
};

/// `cached_bytes_max` is for those who have such a bound; none: as the peer sets it.
[[nodiscard]] std::unique_ptr<peer_policy> make_peer(peer which, model_device& device,
                                                     std::optional<std::uint64_t> cached_bytes_max);

}  // namespace arcalloc::trace
