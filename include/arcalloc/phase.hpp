// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace arcalloc {

/// What the engine is doing. A new allocator is in `mixed`.
enum class phase : std::uint8_t {
  mixed,    ///< prefill chunks and decode steps share a pass: the cache is on
  prefill,  ///< large one-off buffers: one drain at its start, then every request goes to the driver
  decode,   ///< the same sizes every step: the cache is on
};

[[nodiscard]] const char* phase_name(phase value) noexcept;

/// The settings that the phase policy looks at.
struct phase_settings {
  bool enabled = true;            ///< the cache is on at all
  bool cache_in_prefill = false;  ///< keep the cache on during prefill, and do not drain
};

/// What to do on entering a phase.
struct phase_action {
  bool drain = false;    ///< give all idle memory back once, now
  bool arm_cap = false;  ///< measure free memory and set the derived bound
  bool bypass = false;   ///< from now on every request goes to the driver
  friend bool operator==(const phase_action&, const phase_action&) = default;
};

/// The phase policy, pure: no device, no clock, no state of its own. Entering the phase one is in
/// already does nothing (drain and arm_cap are false).
[[nodiscard]] phase_action enter_phase(phase current, phase next, const phase_settings& settings) noexcept;

}  // namespace arcalloc
