// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/recording.hpp>
#include <arcalloc/status.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace arcalloc::testing {

/// A sink that keeps what it is given, and refuses on demand. One call at a time, as sinks are called.
class recorded_events {
 public:
  [[nodiscard]] recording_sink sink() noexcept { return {write, flush, close, this}; }

  /// "allocate 100, free, step": the kinds, with the bytes of those that have any. Segments are left out.
  [[nodiscard]] std::string text() const {
    static constexpr const char* names[] = {"allocate",   "free", "use",   "refusal", "step",        "phase",
                                            "begin",      "join", "end",   "abort",   "launch",      "give_up",
                                            "stream_end", "trim", "drain", "segment", "segment_free"};
    std::string made;
    for (const recorded_event& one : all) {
      if (one.kind >= ARCALLOC_RECORDED_SEGMENT_ALLOCATE) continue;
      if (!made.empty()) made += ", ";
      made += names[one.kind];
      if (one.bytes != 0) made.append(" ").append(std::to_string(one.bytes));
      if (one.stream != 0) made.append(" @").append(std::to_string(one.stream));
      if (one.before != 0) made += " before";
    }
    return made;
  }
  [[nodiscard]] std::uint64_t count(arcalloc_recorded_kind kind) const {
    std::uint64_t found = 0;
    for (const recorded_event& one : all) found += one.kind == kind ? 1 : 0;
    return found;
  }

  std::vector<recorded_event> all;
  std::uint64_t writes = 0;
  std::uint64_t flushes = 0;
  std::uint64_t closes = 0;
  std::uint64_t refuse_from = UINT64_MAX;  ///< this call of write and all later are refused

 private:
  static std::int32_t write(void* context, const recorded_event* events, std::size_t count) noexcept {
    auto& self = *static_cast<recorded_events*>(context);
    if (self.writes++ >= self.refuse_from) return static_cast<std::int32_t>(status::backend_failed);
    self.all.insert(self.all.end(), events, events + count);
    return 0;
  }
  static std::int32_t flush(void* context) noexcept {
    ++static_cast<recorded_events*>(context)->flushes;
    return 0;
  }
  static std::int32_t close(void* context) noexcept {
    ++static_cast<recorded_events*>(context)->closes;
    return 0;
  }
};

}  // namespace arcalloc::testing
