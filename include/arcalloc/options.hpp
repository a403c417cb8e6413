// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arcalloc/backend.hpp>
#include <arcalloc/capture.hpp>

namespace arcalloc {

/// How sizes are rounded: size classes per doubling, or no classes at all.
enum class geometry : std::uint8_t {
  classes_8 = 0,  ///< the default
  classes_1,
  classes_2,
  classes_4,
  classes_16,
  exact,  ///< one driver allocation per block, rounded to 512 bytes (and to the device's granule)
};

/// "8", "1", "2", "4", "16" or "exact".
[[nodiscard]] const char* geometry_name(geometry value) noexcept;

/// How the bound on cached bytes is found. Zero-initialised means derived.
enum class bound_mode : std::uint8_t {
  derived = 0,     ///< from the measured free memory of the device
  explicit_bytes,  ///< exactly this many; 0 caches nothing
  unbounded,       ///< for A/B runs only
};

struct cached_bound {
  bound_mode mode = bound_mode::derived;
  std::uint64_t bytes = 0;        ///< read under explicit_bytes only
  bool from_environment = false;  ///< only says where it came from, for cap_source
};

/// Where a line of text goes: step reports and warnings. Called without locks; `line` has no newline.
struct text_sink {
  void (*write)(void* context, const char* line) noexcept = nullptr;
  void* context = nullptr;
};

/// Everything an allocator is created with. A value-initialised object is the shipped default.
struct options {
  bool enabled = true;                                 ///< false: every request goes to the driver
  cached_bound cached_bytes_max{};                     ///< bound on idle bytes that could go back to the driver
  std::uint64_t capacity_bytes = 0;                    ///< bound on all bytes from the driver; 0 = none
  geometry classes = geometry::classes_8;              ///< how sizes are rounded
  bool oom_retry = true;                               ///< false: a refusal is final, as in the origin
  capture_policy capture_miss = capture_policy::grow;  ///< where a window does not say otherwise
  const char* profile_path = nullptr;                  ///< a prewarm profile to load at creation; null: none
  const char* trace_path = nullptr;                    ///< a file to record every request into; null: none
  bool cache_in_prefill = false;                       ///< keep the cache on during prefill
  std::uint32_t stats_every_steps = 0;                 ///< a step report to `sink` every N steps; 0 = never
  text_sink sink{};                                    ///< none: no report is made
};

}  // namespace arcalloc
