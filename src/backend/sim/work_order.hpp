// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include <arcalloc/backend.hpp>

namespace arcalloc {

/// Up to which position the work of each stream is known to come before something: a vector clock.
using positions = std::map<stream, std::uint64_t>;

/// A piece of work: the position-th on its stream, after all that `past` names. `past` is transitively
/// complete, shared by the work enqueued between two waits, and null where the stream never waited.
struct work_point {
  stream on{};
  std::uint64_t position = 0;
  std::shared_ptr<const positions> past;
};

/// What happens before what on the simulated device, and what has finished.
///
/// Used by the simulated backend alone. A stream is a sequence of positions and the past that its
/// next work has. `order` joins pasts; nothing else does.
/// Concurrency: none of its own; the backend's mutex.
/// Invariants: a point has finished when, in it and its past, no stream that is held has work beyond
/// what was settled there; what is settled has finished for good. So work that nobody has seen finish
/// can be held still after it was enqueued, as a queue that has not been looked at may stand anywhere.
/// Cost: a call is linear in the streams of a past. It knows no memory, no events and no time.
class work_order {
 public:
  /// New work at the end of the stream.
  work_point enqueue(stream on);

  /// All work on the stream so far: what an event stands for.
  [[nodiscard]] work_point reached(stream on) const;

  /// What `later` enqueues from now on comes after what `earlier` has enqueued so far.
  void order(stream later, stream earlier);

  /// Between these no work of the stream finishes, but by settle.
  void hold(stream on);
  void let_go(stream on);

  [[nodiscard]] bool finished(const work_point& point) const;

  /// The point, and all before it on any stream, has finished: the host waited for it, or saw that it had.
  void settle(const work_point& point);
  [[nodiscard]] bool settled(const work_point& point) const;

  /// Whether `earlier` is `later` or comes before it in every order that the device may run them in.
  [[nodiscard]] static bool ordered_before(const work_point& earlier, const work_point& later);

 private:
  struct sequence {
    std::uint64_t enqueued = 0;
    std::uint64_t settled = 0;
    bool held = false;
    std::shared_ptr<const positions> past;
  };

  [[nodiscard]] bool finished(stream on, std::uint64_t position) const;

  std::map<stream, sequence> streams_;
};

}  // namespace arcalloc
