// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/formats/byte_source.hpp"

namespace arcalloc::trace {

/// One `[memory]` event of a device, as PyTorch's profiler writes it.
struct profiler_event {
  std::uint64_t time_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;    ///< 0: the file says none
  std::uint64_t reserved = 0;   ///< by PyTorch's allocator after it; see says_reserved
  std::uint64_t allocated = 0;  ///< of all blocks after it; see says_allocated
  std::uint32_t device = 0;
  bool is_free = false;
  bool says_reserved = false;
  bool says_allocated = false;
};

/// What a profiler trace holds of interest, in the order of the file.
struct profiler_events {
  std::vector<profiler_event> on_devices;
  std::uint64_t on_host = 0;
};

/// Reads the JSON of a profiler trace. Anything but `[memory]` events is passed over as it is parsed: cost is the time
/// for the whole text, and memory for these events and the longest single value. Refuses by the byte where it is no
/// JSON, is nested deeper than a trace is, or holds a value of megabytes.
[[nodiscard]] profiler_events profiler_events_of(byte_source& from);

}  // namespace arcalloc::trace
