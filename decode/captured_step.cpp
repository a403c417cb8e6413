// SPDX-License-Identifier: Apache-2.0
#include "decode/captured_step.hpp"

#include <utility>

#include "decode/tensor.hpp"

namespace arcalloc::decode {

namespace {

std::vector<profile_entry> entries_of(const profile& from) {
  const auto entries = from.entries();
  return {entries.begin(), entries.end()};
}

}  // namespace

status captured_step::record(const std::function<void()>& step, capture_report& report) {
  status outcome = memory_->begin_capture(on_);
  if (outcome != status::ok) return outcome;
  try {
    outcome = record_in_window(step);
  } catch (...) {
    // A fault in the step itself: the window must not outlive it.
    compute_->drop();
    static_cast<void>(memory_->abort_capture(on_));
    throw;
  }
  report_window(report);
  return outcome;
}

status captured_step::record_in_window(const std::function<void()>& step) {
  status outcome = status::ok;
  compute_->start();
  try {
    step();
  } catch (const memory_refused& refusal) {
    outcome = refusal.outcome;
  }
  if (outcome != status::ok) {
    compute_->drop();
    const status aborted = memory_->abort_capture(on_);
    return aborted == status::ok ? outcome : aborted;
  }
  recorded_operations taken = compute_->stop();
  outcome = memory_->end_capture(on_, graph_);
  if (outcome == status::ok) operations_ = std::move(taken);
  return outcome;
}

void captured_step::report_window(capture_report& report) const {
  // Another window may open between the two calls, on another thread: never more than there was room for.
  report.misses.resize(memory_->read_capture_misses(nullptr, 0));
  const std::size_t found = memory_->read_capture_misses(report.misses.data(), report.misses.size());
  if (found < report.misses.size()) report.misses.resize(found);
  counters now{};
  memory_->read_counters(now);
  report.pinned_bytes = now.pinned_bytes;
  report.operations = operations_.size();
}

status captured_step::replay() {
  operations_.run(compute_->compute());
  if (std::exchange(launched_, true)) return status::ok;
  // Once: every launch is on the stream of the capture.
  return memory_->note_replay(graph_, on_);
}

status captured_step::give_back() noexcept {
  operations_ = {};
  const graph_id graph = std::exchange(graph_, graph_id::none);
  return graph == graph_id::none ? status::ok : memory_->release_graph(graph);
}

profile_recording::profile_recording(allocator& memory) : memory_(&memory) {
  const status outcome = memory.begin_profile();
  if (outcome != status::ok) throw memory_refused{outcome};
}

profile_recording::~profile_recording() {
  if (memory_ == nullptr) return;
  profile nobody_wants;
  static_cast<void>(memory_->end_profile(nobody_wants));
}

void profile_recording::end(profile& out) {
  const status outcome = std::exchange(memory_, nullptr)->end_profile(out);
  if (outcome != status::ok) throw memory_refused{outcome};
}

void cover(allocator& memory, const profile& wanted, bool prewarm, capture_report& report) {
  report.profile = entries_of(wanted);
  if (wanted.empty()) return;
  if (prewarm) report.prewarm = memory.prewarm(wanted);
  profile missing;
  report.verified = memory.verify(wanted, &missing);
  report.missing = entries_of(missing);
}

}  // namespace arcalloc::decode
