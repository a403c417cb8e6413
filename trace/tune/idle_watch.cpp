// SPDX-License-Identifier: Apache-2.0
#include "trace/tune/idle_watch.hpp"

#include <arcalloc/status.hpp>
#include <exception>
#include <iterator>

namespace arcalloc::trace {

recording_sink idle_watch::sink() noexcept {
  recording_sink into{};
  into.context = this;
  into.write = [](void* context, const recorded_event* events, std::size_t count) noexcept {
    auto& self = *static_cast<idle_watch*>(context);
    try {
      for (std::size_t i = 0; i < count; ++i) self.take(events[i]);
    } catch (const std::exception&) {
      self.whole_ = false;
      return static_cast<std::int32_t>(status::backend_failed);
    }
    return static_cast<std::int32_t>(status::ok);
  };
  return into;
}

idle_watch::segment_life* idle_watch::segment_of(std::uint64_t address) {
  const auto behind = segments_.upper_bound(address);
  if (behind == segments_.begin()) return nullptr;
  const auto at = std::prev(behind);
  return address - at->first < at->second.bytes ? &at->second : nullptr;
}

void idle_watch::take(const recorded_event& what) {
  ++events_;
  switch (what.kind) {
    case ARCALLOC_RECORDED_SEGMENT_ALLOCATE:
      segments_[what.id] = {what.bytes, 0, 0, false};
      return;
    case ARCALLOC_RECORDED_SEGMENT_FREE:
      segments_.erase(what.id);
      return;
    case ARCALLOC_RECORDED_ALLOCATE:
      if (segment_life* const home = segment_of(what.id); home != nullptr) {
        if (home->blocks++ == 0 && home->was_used) intervals_.push_back({home->idle_since, events_, home->bytes});
        home->was_used = true;
      }
      return;
    case ARCALLOC_RECORDED_FREE:
      if (segment_life* const home = segment_of(what.id); home != nullptr && --home->blocks == 0) {
        home->idle_since = events_;
      }
      return;
    default:
      return;
  }
}

}  // namespace arcalloc::trace
