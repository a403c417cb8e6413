// SPDX-License-Identifier: Apache-2.0
#include "c_options.hpp"

namespace arcalloc::detail {

namespace {

// The C numbers are those of C++, so that a cast converts what has been checked.
constexpr bool same(arcalloc_geometry c, geometry cpp) { return c == static_cast<arcalloc_geometry>(cpp); }
static_assert(same(ARCALLOC_GEOMETRY_8, geometry::classes_8) && same(ARCALLOC_GEOMETRY_1, geometry::classes_1) &&
              same(ARCALLOC_GEOMETRY_2, geometry::classes_2) && same(ARCALLOC_GEOMETRY_4, geometry::classes_4) &&
              same(ARCALLOC_GEOMETRY_16, geometry::classes_16) && same(ARCALLOC_GEOMETRY_EXACT, geometry::exact));

constexpr bool same(arcalloc_bound_mode c, bound_mode cpp) { return c == static_cast<arcalloc_bound_mode>(cpp); }
static_assert(same(ARCALLOC_BOUND_DERIVED, bound_mode::derived) &&
              same(ARCALLOC_BOUND_EXPLICIT, bound_mode::explicit_bytes) &&
              same(ARCALLOC_BOUND_UNBOUNDED, bound_mode::unbounded));

constexpr bool same(arcalloc_capture_policy c, capture_policy cpp) {
  return c == static_cast<arcalloc_capture_policy>(cpp);
}
static_assert(same(ARCALLOC_CAPTURE_AS_CONFIGURED, capture_policy::as_configured) &&
              same(ARCALLOC_CAPTURE_GROW, capture_policy::grow) &&
              same(ARCALLOC_CAPTURE_REFUSE, capture_policy::refuse));

/// Leaves `out`, which holds the default, where the switch does.
bool read_switch(arcalloc_switch given, bool& out) noexcept {
  if (given < ARCALLOC_SWITCH_DEFAULT || given > ARCALLOC_SWITCH_OFF) return false;
  if (given != ARCALLOC_SWITCH_DEFAULT) out = given == ARCALLOC_SWITCH_ON;
  return true;
}

arcalloc_switch as_switch(bool value) noexcept { return value ? ARCALLOC_SWITCH_ON : ARCALLOC_SWITCH_OFF; }

}  // namespace

bool read_policy(arcalloc_capture_policy given, capture_policy& out) noexcept {
  if (given < ARCALLOC_CAPTURE_AS_CONFIGURED || given > ARCALLOC_CAPTURE_REFUSE) return false;
  if (given != ARCALLOC_CAPTURE_AS_CONFIGURED) out = static_cast<capture_policy>(given);
  return true;
}

bool read_options(const arcalloc_options& given, options& out) noexcept {
  out = options{};
  if (given.geometry < ARCALLOC_GEOMETRY_8 || given.geometry > ARCALLOC_GEOMETRY_EXACT) return false;
  if (given.cached_bytes_max_mode < ARCALLOC_BOUND_DERIVED || given.cached_bytes_max_mode > ARCALLOC_BOUND_UNBOUNDED) {
    return false;
  }
  if (given.cached_bytes_max_from_environment > 1 || given.zero != 0) return false;
  if (!read_policy(given.capture_miss, out.capture_miss)) return false;
  out.cached_bytes_max.mode = static_cast<bound_mode>(given.cached_bytes_max_mode);
  out.cached_bytes_max.bytes = given.cached_bytes_max;
  out.cached_bytes_max.from_environment = given.cached_bytes_max_from_environment == 1;
  out.capacity_bytes = given.capacity_bytes;
  out.classes = static_cast<geometry>(given.geometry);
  out.stats_every_steps = given.stats_every_steps;
  out.profile_path = given.profile_path;
  out.trace_path = given.trace_path;
  return read_switch(given.cache, out.enabled) && read_switch(given.oom_retry, out.oom_retry) &&
         read_switch(given.cache_in_prefill, out.cache_in_prefill);
}

void write_options(const options& settings, arcalloc_options& out) noexcept {
  out.cache = as_switch(settings.enabled);
  out.cached_bytes_max_mode = static_cast<arcalloc_bound_mode>(settings.cached_bytes_max.mode);
  out.cached_bytes_max_from_environment = settings.cached_bytes_max.from_environment ? 1 : 0;
  out.cached_bytes_max = settings.cached_bytes_max.bytes;
  out.capacity_bytes = settings.capacity_bytes;
  out.geometry = static_cast<arcalloc_geometry>(settings.classes);
  out.oom_retry = as_switch(settings.oom_retry);
  out.cache_in_prefill = as_switch(settings.cache_in_prefill);
  out.stats_every_steps = settings.stats_every_steps;
  out.capture_miss = static_cast<arcalloc_capture_policy>(settings.capture_miss);
  out.profile_path = settings.profile_path;
  out.trace_path = settings.trace_path;
}

}  // namespace arcalloc::detail
