// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sizes_and_streams.hpp"
#include "trace/formats/event.hpp"
#include "trace/formats/read_trace.hpp"

namespace arcalloc::trace {

// arcalloc::testing is in sight here, so that GoogleTest's namespace is ::testing.
using arcalloc::testing::kib;
using arcalloc::testing::mib;

/// Keeps what it is told.
class event_list final : public trace_sink {
 public:
  void take(const event& what) override { events.push_back(what); }
  std::vector<event> events;
};

struct reading {
  std::vector<event> events;
  trace_facts facts;
  std::string refusal;  ///< empty where the trace was read
};

/// Reads a trace called "t" from memory.
[[nodiscard]] reading read_text(std::string_view bytes, const read_options& options = {});

/// What a trace is refused with; empty, and a failure of the test, where it is not.
[[nodiscard]] std::string refusal_of(std::string_view bytes, const read_options& options = {});

/// "allocate 5: 256 bytes @1" and so on, a line an event: what a test compares. Marks: `before`, `t=NS`, `dN` for a
/// device.
[[nodiscard]] std::string lines_of(const std::vector<event>& events);

/// Events to play: a request, and any other.
[[nodiscard]] event allocated(std::uint64_t id, std::uint64_t bytes, std::uint64_t on = 0);
[[nodiscard]] event event_of(event_kind kind, std::uint64_t id = 0, std::uint64_t on = 0);

/// The bytes packed as a gzip file.
[[nodiscard]] std::string gzipped(std::string_view bytes);

/// A file of the shared data, which is not part of the repository: below $ARCALLOC_SHARED, or beside the checkout.
[[nodiscard]] std::optional<std::string> shared_file(const std::string& name);

}  // namespace arcalloc::trace
