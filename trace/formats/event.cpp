// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/event.hpp"

namespace arcalloc::trace {

const char* event_kind_name(event_kind kind) noexcept {
  constexpr const char* names[event_kind_count] = {"allocate",     "free",          "use",           "refusal",
                                                   "step",         "phase",         "capture_begin", "capture_join",
                                                   "capture_end",  "capture_abort", "graph_launch",  "release_graph",
                                                   "stream_end",   "trim",          "drain",         "segment_allocate",
                                                   "segment_free", "segment_map",   "segment_unmap", "snapshot"};
  const auto at = static_cast<int>(kind);
  return at < event_kind_count ? names[at] : "unknown_event";
}

}  // namespace arcalloc::trace
