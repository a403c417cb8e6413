// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "decode_sequence.hpp"
#include "fake_driver.hpp"

namespace arcalloc::bench {

/// Positions of the steps to play: from `first` on, `steps` of them, each `stride` after the one before (0: all at
/// first).
struct positions {
  std::uint64_t first = 1;
  std::uint64_t steps = 0;
  std::uint64_t stride = 0;
};

/// One allocator, made and ready to be measured.
///
/// Concurrency: play from several threads at once, each with a stream of its own.
class subject {
 public:
  virtual ~subject() = default;
  /// Plays steps on stream `on`. Returns how many calls were refused.
  [[nodiscard]] virtual std::uint64_t play(const decode_sequence& sequence, positions where, std::uint64_t on) = 0;
  /// From now on so many blocks can be populated without host memory for what remembers them.
  virtual void make_room(std::size_t blocks) = 0;
  /// Asks for one block of each size, then frees every second one, from the first on. The others stay out until the
  /// subject's end. From one thread at a time.
  virtual void populate(std::span<const std::size_t> sizes, std::uint64_t on) = 0;
};

/// What a peer can be told not to exceed.
enum class bound : std::uint8_t {
  none,
  capacity,  ///< on all that it has from the driver, at every instant
  cached,    ///< on what it keeps idle
};

/// An allocator that can be measured here.
struct peer {
  std::string_view name;
  std::string_view what;
  bool asks_driver = false;  ///< it stands on the fake driver; else it has memory of the host
  bound takes = bound::none;
  /// The bound of 0: as shipped.
  std::unique_ptr<subject> (*make)(fake_driver& driver, std::uint64_t bound_bytes) = nullptr;
};

/// All that were compiled in, the null first.
[[nodiscard]] std::span<const peer> peers();

}  // namespace arcalloc::bench
