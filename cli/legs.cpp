// SPDX-License-Identifier: Apache-2.0
#include "legs.hpp"

#include <algorithm>
#include <array>

#include "exit_status.hpp"

namespace arcalloc::cli {

namespace {

constexpr std::array<leg, 4> all_legs{leg::off, leg::unbounded, leg::exact, leg::bounded};
constexpr const char* leg_list = "off, unbounded, exact, bounded";

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
  const auto refuse = [](const std::string& what) {
    throw command_failure{exit_status::bad_usage,
                          "--legs: " + what + "; give any of " + leg_list + ", separated by commas"};
  };
  std::vector<leg> chosen;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string name = text.substr(start, comma - start);
    const auto found = std::find_if(all_legs.begin(), all_legs.end(), [&](leg l) { return name == leg_name(l); });
    if (name.empty()) {
      refuse("an empty name in \"" + text + "\"");
    } else if (found == all_legs.end()) {
      refuse("unknown leg \"" + name + "\"");
    } else if (std::find(chosen.begin(), chosen.end(), *found) != chosen.end()) {
      refuse("\"" + name + "\" is named twice");
    } else {
      chosen.push_back(*found);
    }
    start = comma + 1;
  }
  return chosen;
}

bool must_survive(leg which) { return which == leg::off || which == leg::bounded; }

}  // namespace arcalloc::cli
