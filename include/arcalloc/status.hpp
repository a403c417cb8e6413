// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace arcalloc {

/// The outcome of a call. `ok` is zero; every other value says why nothing was handed out or taken
/// back. Three groups: refusals at the door (the caller's mistake, costs O(1) to see, changes only a
/// counter), refusals by the ladder (a bound or the device is exhausted), and the state of the
/// device or of the allocator itself.
enum class status : std::int32_t {
  ok = 0,
  invalid_argument,      ///< an argument contradicts the call: a wrong size, a bound out of range
  request_too_large,     ///< above 2^47 bytes
  capacity_exceeded,     ///< our own bound on reserved bytes refuses
  device_out_of_memory,  ///< the driver refuses, and nothing we hold could make room
  capture_miss,         ///< in a capture window without the driver's help; of verify: what a profile wants is not there
  unknown_pointer,      ///< not the start of a block of this allocator
  double_free,          ///< the block is idle already, or pending
  backend_unavailable,  ///< no such device or no driver on this machine
  backend_failed,       ///< the driver, or host memory for bookkeeping, failed otherwise
  shutting_down,        ///< the driver is unloading
};

inline constexpr int status_count = 11;

/// The identifier itself, such as "device_out_of_memory"; "unknown_status" for a value outside the list.
[[nodiscard]] const char* status_name(status value) noexcept;

}  // namespace arcalloc
