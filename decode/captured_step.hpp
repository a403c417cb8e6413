// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include <arcalloc/allocator.hpp>

#include "decode/capture_report.hpp"
#include "decode/capturing_executor.hpp"

namespace arcalloc::decode {

/// One step recorded in a capture window, and replayed.
///
/// Called by run_session; calls the allocator's windows around the executor's recording, in the order in which an
/// engine brackets the driver's capture. What the window touched stays pinned until give_back, or until the object
/// dies. Replays compute on the addresses of the recording and ask the allocator for nothing.
/// Concurrency: one thread. It does not compute while it records: the first replay does.
class captured_step {
 public:
  captured_step(allocator& memory, capturing_executor& compute, stream on) noexcept
      : memory_(&memory), compute_(&compute), on_(on) {}
  ~captured_step() { static_cast<void>(give_back()); }
  captured_step(const captured_step&) = delete;
  captured_step& operator=(const captured_step&) = delete;

  /// Opens a window, has `step` do its operations, closes it. On any status but ok the window was aborted, nothing is
  /// pinned and there is nothing to replay. Fills in the report's misses, pinned bytes and operations either way.
  /// Requires: nothing was recorded yet.
  [[nodiscard]] status record(const std::function<void()>& step, capture_report& report);

  /// Computes the step again. Requires: recorded.
  [[nodiscard]] status replay();

  /// No more replays: the memory is the allocator's again. ok when there is nothing to give back.
  [[nodiscard]] status give_back() noexcept;

  [[nodiscard]] graph_id graph() const noexcept { return graph_; }

 private:
  [[nodiscard]] status record_in_window(const std::function<void()>& step);
  void report_window(capture_report& report) const;

  allocator* memory_;
  capturing_executor* compute_;
  stream on_;
  graph_id graph_ = graph_id::none;
  bool launched_ = false;
  recorded_operations operations_;
};

/// Records a profile while it lives, so that a refusal on the way ends the recording too. Throws memory_refused when
/// the allocator does not begin one.
class profile_recording {
 public:
  explicit profile_recording(allocator& memory);
  ~profile_recording();
  profile_recording(const profile_recording&) = delete;
  profile_recording& operator=(const profile_recording&) = delete;

  /// Throws memory_refused.
  void end(profile& out);

 private:
  allocator* memory_;
};

/// Fills the cache to the profile, if that is wanted, and has verify say what a window would miss. Reports; a refusal
/// is no failure here, since the window itself shows what came of it.
void cover(allocator& memory, const profile& wanted, bool prewarm, capture_report& report);

}  // namespace arcalloc::decode
