// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/trace_facts.hpp"

namespace arcalloc::trace {

const char* trace_format_name(trace_format format) noexcept {
  constexpr const char* names[trace_format_count] = {"own", "csv", "snapshot", "rmm", "profiler", "lifetimes"};
  const auto at = static_cast<int>(format);
  return at < trace_format_count ? names[at] : "unknown_format";
}

}  // namespace arcalloc::trace
