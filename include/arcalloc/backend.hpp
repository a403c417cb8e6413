// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <arcalloc/status.hpp>

namespace arcalloc {

/// A queue of work on the device. Two values that compare equal are one stream; 0 is the default
/// stream. The allocator never dereferences it. Values with the highest bit set are the allocator's own:
/// a backend may meet them, and an engine gets them from this_thread_stream only.
enum class stream : std::uint64_t {};

inline constexpr stream default_stream{0};

/// The calling thread's own default stream, for devices where each thread has one (CUDA's
/// CU_STREAM_PER_THREAD): the same value in two threads means two streams.
inline constexpr stream per_thread_stream{UINT64_MAX};

/// What per_thread_stream means on the calling thread, as a value that means the same on every thread
/// and is never used for another one. A backend sees this one.
[[nodiscard]] stream this_thread_stream() noexcept;

/// What the driver says about the device's memory, in bytes, now.
struct memory_info {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

/// A point in the work of a stream: recorded, it stands for all that was enqueued there before.
enum class event : std::uint64_t { none = 0 };

/// The device below the allocator: the one door to memory that costs a driver call.
///
/// Called by the segment source on a miss, on an eviction and when a bound is armed, and for events
/// when memory changes hands between streams or goes back; never on a hit.
/// Concurrency: every function may be called from any thread at any time, several at once. The
/// allocator holds none of its locks in allocate, free, trim, query_memory and wait_event, which may
/// block; the others are called with locks held and must not.
/// Cost: a driver call. Nothing here throws; a failure is a status and leaves the device as it was.
/// It does not round, cache, count or remember: it hands out exactly what it is asked for.
/// To write one, derive, implement the functions, and run the conformance suite over it.
class backend {
 public:
  virtual ~backend() = default;

  /// A short name for reports, such as "host".
  [[nodiscard]] virtual const char* name() const noexcept = 0;

  /// The granule in bytes, a power of two: every size passed to allocate is a multiple of it, and
  /// every address returned is aligned to it and to 512.
  [[nodiscard]] virtual std::size_t granularity() const noexcept = 0;

  /// True where work is finished before the call that asks for it returns, as on the host: then no
  /// event is ever recorded, and the event functions are not called.
  [[nodiscard]] virtual bool synchronous() const noexcept { return false; }

  /// Lends `bytes` (a positive multiple of granularity()) for work on `on`. On `ok` `address` is set
  /// and not null. `device_out_of_memory` when the device has no room; `backend_failed` otherwise.
  [[nodiscard]] virtual status allocate(std::size_t bytes, stream on, void*& address) noexcept = 0;

  /// The same while `on` is being captured: the memory is there at once and no part of the graph (CUDA: the
  /// thread's capture mode is exchanged for relaxed around the call). capture_miss where the device cannot.
  [[nodiscard]] virtual status allocate_beside_capture(std::size_t, stream, void*& address) noexcept {
    address = nullptr;
    return status::capture_miss;
  }

  /// Takes back exactly what allocate lent. The caller has made sure that no work uses it any more.
  /// On failure the memory is still lent, and the call may be repeated.
  [[nodiscard]] virtual status free(void* address, std::size_t bytes) noexcept = 0;

  /// A drain has given back all that it could: a driver that keeps what it was given back now parts with it. Called
  /// without locks, outside of every capture window; it may block, but not for work that is under way.
  virtual void trim() noexcept {}

  /// Free and total bytes of the device, as the driver sees them now.
  [[nodiscard]] virtual status query_memory(memory_info& out) const noexcept = 0;

  /// Records a point after all work enqueued on `on` so far. The event is the caller's until dropped.
  [[nodiscard]] virtual status record_event(stream on, event& out) noexcept = 0;

  /// Whether the work before the event has finished, without waiting for it.
  [[nodiscard]] virtual status query_event(event point, bool& finished) noexcept = 0;

  /// Returns when the work before the event has finished.
  [[nodiscard]] virtual status wait_event(event point) noexcept = 0;

  /// Gives an event back, finished or not.
  virtual void drop_event(event point) noexcept = 0;
};

}  // namespace arcalloc
