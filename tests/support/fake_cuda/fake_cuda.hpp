// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/sim_backend.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/cuda/driver_declarations.hpp"

namespace arcalloc::fake_cuda {

/// What the driver's documentation promises, one by one: docs/cuda.md has each with its source. Any can be broken, to
/// see that a test notices.
enum class rule : std::uint8_t {
  calls_need_init,
  calls_need_a_context,
  no_memory_of_zero_bytes,
  out_of_memory_is_said,
  unknown_pointers_are_refused,
  free_synchronises,
  pool_free_does_not_synchronise,
  pool_keeps_until_trimmed,
  unrecorded_events_have_passed,
  query_tells_unfinished_work,
  recording_overwrites,
  destroying_an_event_does_not_wait,
  synchronising_waits,
  waiting_for_an_event_orders,
  legacy_stream_orders_blocking_ones,
  non_blocking_streams_are_apart,
  threads_have_their_own_streams,
  unsafe_calls_fail_in_a_capture,
  unsafe_calls_invalidate,
  relaxed_mode_permits,
  exchange_gives_the_former_mode,
  legacy_stream_is_not_captured,
  capture_ends_where_it_began,
  capture_ends_on_its_thread,
  invalidated_captures_give_no_graph,
  captured_work_is_not_done,
  launches_do_the_work,
  captured_events_are_not_queried,
  captures_have_ids,
  legacy_queries_are_implicit,
  captures_are_isolated,
  copies_follow_their_stream,
  contexts_take_their_memory_along,
  async_frees_follow_their_stream,
  lookups_give_what_the_version_has,
  count,
};

struct settings {
  std::vector<sim_options> devices{sim_options{}};
  int version = 13000;
  /// False: what it may do by the documentation and need not, so that freeing too early is a conviction.
  bool free_synchronises = true;
  /// True: memory holds what was copied there, in the order of the streams, and nothing sooner than it has to be.
  bool has_contents = false;
  /// The simulated stream of the calling thread's own; null: the fake numbers them.
  stream (*thread_stream)() noexcept = nullptr;
};

/// The other side of the fake driver: what its tests set and see.
///
/// The library that has the driver's functions exports arcalloc_fake_cuda, which gives the one object there is.
/// Concurrency: any thread; the mutex of the driver's functions. reset is alone.
class control {
 public:
  control() = default;
  virtual ~control() = default;
  control(const control&) = delete;
  control& operator=(const control&) = delete;

  /// As in a new process. Whatever was made before must not be used any more.
  virtual void reset(const settings& how) = 0;

  /// Another device, or one in the place of a device that was removed; its ordinal. Whatever is on a device that is
  /// removed must not be used any more.
  virtual int add_device(const sim_options& made_of) = 0;
  virtual void remove_device(int ordinal) = 0;

  /// The simulated device behind one of the driver's: who owns which block, which stream is busy, the verdict.
  virtual sim_backend& device(int ordinal) = 0;

  /// A non-blocking stream of the device's primary context that is this one of the simulated device, and the
  /// simulated stream of a handle, as the calling thread means it.
  virtual cuda::stream_handle* adopt(int ordinal, stream number) = 0;
  virtual stream number_of(int ordinal, cuda::stream_handle* on) = 0;

  /// What cuStreamWaitEvent does for an event recorded just now, without the event.
  virtual cuda::result order(int ordinal, stream later, stream earlier) = 0;
  /// The pool group of the next capture: the driver knows nothing of it, the simulated device does.
  virtual void set_next_group(std::uint64_t group) = 0;

  virtual void set_broken(rule which, bool broken) = 0;
  /// The nth call of this function from now on answers `with`, without doing anything; with `persistent` all later too.
  virtual void fail(const std::string& function, std::uint64_t nth, bool persistent, cuda::result with) = 0;
  /// Every call answers this from now on, as after a fault on the device, or when the process is ending.
  virtual void answer_always(cuda::result with) = 0;

  [[nodiscard]] virtual std::uint64_t calls(const std::string& function) const = 0;
  /// The verdict of the simulated device, and captures on it that were invalidated.
  [[nodiscard]] virtual std::vector<std::string> convictions(int ordinal) const = 0;
};

}  // namespace arcalloc::fake_cuda

extern "C" __attribute__((visibility("default"))) arcalloc::fake_cuda::control* arcalloc_fake_cuda();
