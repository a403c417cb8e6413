// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/capture.hpp>
#include <arcalloc/phase.hpp>
#include <arcalloc/status.hpp>
#include <cstdint>

namespace arcalloc::trace {

/// What happened. The numbers are those of the own format: never given another meaning, only added to.
enum class event_kind : std::uint8_t {
  allocate = 0,       ///< a block: id, address, bytes, stream
  free = 1,           ///< of a live block: id; stream is where the free is ordered
  use = 2,            ///< a live block is used on `stream`: id
  refusal = 3,        ///< a request that got no block: bytes, stream, outcome, other = free bytes of the device
  step = 4,           ///< a decode step ends
  phase = 5,          ///< a phase is entered: entered
  capture_begin = 6,  ///< a window opens on `stream`: policy, other = pool group
  capture_join = 7,   ///< `stream` joins the window of stream `other`
  capture_end = 8,    ///< the window on `stream` closes: id = graph
  capture_abort = 9,  ///< the window on `stream` closes without a graph
  graph_launch = 10,  ///< a graph is launched on `stream`: id = graph
  release_graph = 11,
  stream_end = 12,        ///< `stream` goes away
  trim = 13,              ///< down to `bytes` of cached memory
  drain = 14,             ///< all idle memory goes back
  segment_allocate = 15,  ///< the trace's own allocator got a segment from its driver: address, bytes, stream
  segment_free = 16,      ///< ... gave one back
  segment_map = 17,       ///< ... mapped a part of an expandable segment
  segment_unmap = 18,     ///< ... unmapped one
  snapshot = 19,          ///< the trace's own allocator was photographed
};

inline constexpr int event_kind_count = 20;

/// The identifier itself, such as "segment_allocate".
[[nodiscard]] const char* event_kind_name(event_kind kind) noexcept;

/// A time that the trace does not say.
inline constexpr std::uint64_t no_time = UINT64_MAX;

/// The latest time that any format may say: every microsecond below it has whole nanoseconds that fit.
inline constexpr std::uint64_t time_ns_max = 18'000'000'000'000'000'999U;

/// One thing that happened to an allocator, whatever format said so. A plain value; fields that a kind does not
/// name are as they are here.
///
/// `id` tells a block from all others that are live on its device at the same time; after its free it may mean another.
/// Where a trace knows blocks by their addresses only, it is the address. `address` is 0 where the trace has none.
/// A free carries the bytes and the address of its block.
struct event {
  event_kind kind = event_kind::allocate;
  bool before_recording = false;  ///< allocate, segments: it was there when the recording began
  phase entered = phase::mixed;
  capture_policy policy = capture_policy::as_configured;
  status outcome = status::ok;
  std::uint32_t device = 0;
  std::uint64_t time_ns = no_time;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint64_t other = 0;

  friend bool operator==(const event&, const event&) = default;
};

/// Where events go: writers, counters, a replay. Called once an event, in the order of the trace, on one thread.
///
/// What arrives is consistent: an allocate names an id that is not live, a free and a use one that is. Blocks live at
/// the end are simply not freed. What was there before the recording comes first. A sink refuses by throwing
/// trace_error.
class trace_sink {
 public:
  trace_sink() = default;
  trace_sink(const trace_sink&) = delete;
  trace_sink& operator=(const trace_sink&) = delete;
  virtual ~trace_sink() = default;
  virtual void take(const event& what) = 0;
};

}  // namespace arcalloc::trace
