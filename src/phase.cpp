// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/phase.hpp>

namespace arcalloc {

const char* phase_name(phase value) noexcept {
  switch (value) {
    case phase::mixed:
      return "mixed";
    case phase::prefill:
      return "prefill";
    case phase::decode:
      return "decode";
  }
  return "unknown_phase";
}

phase_action enter_phase(phase current, phase next, const phase_settings& settings) noexcept {
  const bool entering = current != next;
  const bool caching = settings.enabled && (next != phase::prefill || settings.cache_in_prefill);
  phase_action action;
  action.bypass = !caching;
  action.drain = entering && next == phase::prefill && !caching;
  action.arm_cap = entering && next != phase::prefill && caching;
  return action;
}

}  // namespace arcalloc
