// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>

#include "arena.hpp"
#include "base.hpp"
#include "stream_identity.hpp"

namespace arcalloc::detail {

/// What is known of the work on one stream: everything stamped up to `finished_stamp` has passed.
/// Stamps are the pool's idle stamps, so that a segment's last use can be compared with it.
struct stream_work {
  struct recorded {
    event point = event::none;
    std::uint64_t stamp = 0;  ///< all work of earlier or equal stamp is before the event
  };
  static constexpr std::uint32_t points_max = 4;

  stream on = default_stream;
  std::uint64_t finished_stamp = 0;
  recorded points[points_max];  ///< oldest first
  std::uint32_t point_count = 0;
  std::uint32_t waiters = 0;  ///< of an ended stream: threads that wait for its point, which must stay
  bool captured = false;      ///< in a capture window: an event recorded there would be part of the graph
  bool spare = false;         ///< of an ended stream: finished, and nothing is filed under it
  stream_work* next = nullptr;
};

/// Whether memory that a stream used may go elsewhere: events on demand, one for many segments.
///
/// Called by the pool before memory crosses to another stream or goes to the driver; calls the
/// backend's event functions that do not block. Guarded by the pool's mutex.
/// Cost: nothing on a synchronous device, nor for memory that stays on its stream; otherwise at most
/// one event recorded per question that older events cannot answer, and one query per unanswered event.
/// It never waits.
class stream_works {
 public:
  stream_works(backend& device, arena& memory) noexcept : device_(device), memory_(memory) {}
  ~stream_works();
  stream_works(const stream_works&) = delete;
  stream_works& operator=(const stream_works&) = delete;

  /// True when the work on `on` up to `stamp` is known to have finished. `now` is a stamp that no work
  /// so far exceeds. A device that cannot answer leaves it unknown: false.
  [[nodiscard]] bool finished(stream on, std::uint64_t stamp, std::uint64_t now) noexcept;

  /// The caller waited for an event recorded on `on` at `stamp`.
  void learn_finished(stream on, std::uint64_t stamp) noexcept;

  /// The stream ends: its work so far is known as that of `former` from now on, by one event. On failure the
  /// driver's status, and nothing has changed. Requires: is_former(former), with nothing filed under it.
  [[nodiscard]] status end(stream on, stream former) noexcept;

  /// What is filed under this former stream, whose work has finished, has been filed elsewhere.
  void make_spare(stream former) noexcept;
  [[nodiscard]] bool is_spare(stream former) noexcept;

  /// The event of a former stream, for a caller that waits for it without a lock, and none where its work has
  /// finished. It lives until let_go, which says whether the wait succeeded.
  [[nodiscard]] event hold_point(stream former) noexcept;
  void let_go(stream former, bool passed) noexcept;

  /// The stream enters or leaves a capture window. False when the host has no memory to note it.
  [[nodiscard]] bool set_captured(stream on, bool captured) noexcept;
  [[nodiscard]] bool is_captured(stream on) noexcept;

  /// While any window is open the device is not asked: only what is known counts.
  void set_frozen(bool frozen) noexcept { frozen_ = frozen; }

  [[nodiscard]] std::uint64_t events_recorded() const noexcept { return events_recorded_; }

 private:
  static constexpr std::uint32_t bucket_count = 64;

  [[nodiscard]] stream_work* of(stream on) noexcept;
  void ask(stream_work& work) noexcept;

  backend& device_;
  arena& memory_;
  stream_work* buckets_[bucket_count] = {};
  std::uint64_t events_recorded_ = 0;
  std::uint32_t captured_ = 0;
  bool frozen_ = false;
};

}  // namespace arcalloc::detail
