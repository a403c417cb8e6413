// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <arcalloc/options.hpp>
#include <arcalloc/status.hpp>

namespace arcalloc {

/// Reads a variable; null where it is not set. `context` is the caller's.
struct environment_source {
  const char* (*lookup)(void* context, const char* name) noexcept = nullptr;
  void* context = nullptr;
  /// The names that are set, for the check on unknown ARC_ALLOC_* names: `NAME=value` strings ended
  /// by a null pointer, or null to skip the check.
  const char* const* names = nullptr;
};

/// One refusal or warning: names the variable and the value, no newline.
struct setting_diagnostic {
  char text[320];
};

/// What reading the environment found.
struct settings_result {
  status outcome = status::ok;  ///< invalid_argument when any value was refused
  static constexpr std::size_t diagnostics_max = 16;
  std::size_t refused = 0;  ///< entries in `errors`
  std::size_t warned = 0;   ///< entries in `warnings`
  setting_diagnostic errors[diagnostics_max];
  setting_diagnostic warnings[diagnostics_max];
};

/// One row of the settings table: the variable, what it means, its default as text, and the values
/// it takes. `available` is false while the feature is not built: any value is then refused.
struct setting_row {
  const char* variable;
  const char* meaning;
  const char* unset;
  const char* values;
  bool available;
};

/// The settings table in the order of the documentation; `count` receives its length.
[[nodiscard]] const setting_row* setting_rows(std::size_t& count) noexcept;

/// Applies ARC_ALLOC_* to `out`. Values are strict: decimal digits without a leading zero, in range,
/// nothing around them. A refused value leaves the field as it was (the safe default where the
/// caller passed defaults) and is reported; it never widens a bound. All variables are looked at,
/// also after a refusal. Unknown ARC_ALLOC_* names are warned about with the nearest known one.
/// ARC_ALLOC_CACHE_PROFILE is read, and refused with its line where it is no profile; options::profile_path points
/// to the variable's own text, as does options::trace_path. ARC_ALLOC_CACHE_TRACE is refused where it cannot be
/// written; nothing is written yet. `ARC_ALLOC_CACHE_MAX_MB=0` sets unbounded and switches oom_retry off, with a
/// warning that says so.
[[nodiscard]] settings_result settings_from(const environment_source& source, options& out) noexcept;

/// settings_from over the environment of the process.
[[nodiscard]] settings_result settings_from_environment(options& out) noexcept;

/// A sink that writes lines to stderr: the environment layer's default.
[[nodiscard]] text_sink stderr_sink() noexcept;

}  // namespace arcalloc
