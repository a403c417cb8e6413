// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "peer.hpp"

namespace arcalloc::bench {

/// What many blocks, streams and threads cost. Pairs are one block of 8 KiB, out and back.
///
/// Host memory is the anonymous memory of the process that is resident, as the kernel counts it, before and after; what
/// remembers the blocks here is there before. A part that was not measured leaves its readings at 0.
struct scale_readings {
  double ns_per_pair = 0;   ///< thread time
  double host_bytes = 0;    ///< for one more of what the part is about
  double device_bytes = 0;  ///< likewise
};

/// Each in a process of its own: what one leaves in the heap would hide what the next one takes.
struct scale_part {
  std::string_view name;
  scale_readings (*measure)(const peer& which) = nullptr;
};

/// blocks: of 512 bytes; large_blocks: of 4 MiB; one_stream: a stream with another block out; streams: a thousand in
/// turn, each with another block out; idle_streams: a thousand in turn, nothing else out; threads: 64, a thousand
/// streams dealt out among them, each with another block out, and the host bytes of a thread's first pair.
[[nodiscard]] std::span<const scale_part> scale_parts();

}  // namespace arcalloc::bench
