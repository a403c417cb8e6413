// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <arcalloc/counters.h>

namespace arcalloc {

using counters = arcalloc_counters;

/// How a field behaves over a step window: a count is subtracted, a gauge is read at its end.
enum class counter_kind { count, gauge };

/// One field of the counters: its name is the field's name, in JSON, in scenarios and in metrics.
struct counter_field {
  const char* name;
  counter_kind kind;
  std::uint64_t counters::*value;
  const char* meaning;  ///< a few words, without a full stop
};

/// All uint64 fields in the order of the struct. The table is static; `count` receives its length.
[[nodiscard]] const counter_field* counter_fields(std::size_t& count) noexcept;

/// "explicit", "environment", "derived", "fallback" or "unbounded".
[[nodiscard]] const char* cap_source_name(std::uint64_t source) noexcept;

/// The window from `before` to `now`: counts subtracted, gauges as in `now`.
[[nodiscard]] counters counters_between(const counters& before, const counters& now) noexcept;

/// hits / requests; 0 where there was no request.
[[nodiscard]] double hit_rate(const counters& c) noexcept;

/// The one-line step report in the origin's terms: allocations and frees per step, hit rate, held
/// against the cap, sizes held, bypassed. `window` spans `steps` steps and ends at step
/// `window.steps` of the run (pass the cumulative step number there). Writes at most `capacity`
/// bytes including the final zero and returns the length; no newline.
std::size_t format_step_report(const counters& window, std::uint64_t steps, char* text, std::size_t capacity) noexcept;

}  // namespace arcalloc
