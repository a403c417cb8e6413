// SPDX-License-Identifier: Apache-2.0
#include "legs.hpp"

#include <array>

#include "flag_values.hpp"

namespace arcalloc::cli {

namespace {

constexpr std::array<leg, 4> all_legs{leg::off, leg::unbounded, leg::exact, leg::bounded};

cached_bound explicit_bound(std::uint64_t mb) {
  cached_bound bound;
  bound.mode = bound_mode::explicit_bytes;
  bound.bytes = mb << 20;
  return bound;
}

}  // namespace

const char* leg_name(leg which) {
  switch (which) {
    case leg::off:
      return "off";
    case leg::unbounded:
      return "unbounded";
    case leg::exact:
      return "exact";
    case leg::bounded:
      return "bounded";
  }
  return "unknown";
}

options leg_options(leg which, const leg_bounds& bounds, const options& from_environment) {
  options chosen;
  switch (which) {
    case leg::off:
      chosen.enabled = false;
      break;
    case leg::unbounded:
      chosen.classes = geometry::exact;
      chosen.cached_bytes_max.mode = bound_mode::unbounded;
      chosen.oom_retry = false;
      break;
    case leg::exact:
      chosen.classes = geometry::exact;
      chosen.cached_bytes_max = explicit_bound(bounds.exact_cap_mb);
      chosen.oom_retry = false;
      break;
    case leg::bounded:
      chosen = from_environment;
      if (bounds.cap_mb) {
        chosen.cached_bytes_max = explicit_bound(*bounds.cap_mb);
        // ARC_ALLOC_CACHE_MAX_MB=0 switches the retry off together with the bound; the flag that
        // overrides the variable overrides all of it.
        chosen.oom_retry = true;
      }
      break;
  }
  return chosen;
}

std::vector<leg> require_legs(const std::string& text) {
  std::vector<const char*> names;
  for (const leg each : all_legs) names.push_back(leg_name(each));
  std::vector<leg> chosen;
  for (const std::size_t each : require_choices("--legs", "leg", text, names)) chosen.push_back(all_legs[each]);
  return chosen;
}

bool must_survive(leg which) { return which == leg::off || which == leg::bounded; }

}  // namespace arcalloc::cli
