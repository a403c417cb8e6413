// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "peer.hpp"

namespace arcalloc::bench {

/// What is played: the tensors of fixed size, from an empty allocator or from one with a thousand other blocks; or all,
/// two in every layer growing with the position, which goes from 1 to 2000.
enum class mode : std::uint8_t { fixed, growing, populated };

inline constexpr std::uint64_t growing_positions = 2000;

struct request {
  mode what = mode::fixed;
  unsigned threads = 1;            ///< each with a stream of its own, all on one allocator
  std::uint64_t steps = 0;         ///< plays just these, and times nothing; 0: times
  std::uint64_t milliseconds = 0;  ///< how long a mode of equal steps is timed
  std::uint64_t first_position = 1;
  std::uint64_t bound_bytes = 0;  ///< 0: the peer as shipped
};

struct measurement {
  double ns_per_pair = 0;          ///< of one thread; the median over batches. 0: not timed
  double ns_per_pair_fastest = 0;  ///< the batch that was disturbed least
  std::uint64_t steps = 0;         ///< of one thread
  std::uint64_t pairs = 0;         ///< of all threads
  std::uint64_t refused = 0;
  driver_readings driver{};  ///< of the whole run, from an empty allocator on
};

/// Makes the peer, plays, and takes the readings.
[[nodiscard]] measurement measure(const peer& which, const request& wanted);

}  // namespace arcalloc::bench
