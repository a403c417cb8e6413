// SPDX-License-Identifier: Apache-2.0
#include "trace/replay/trace_replay.hpp"

#include <algorithm>
#include <utility>

#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {

namespace {

allocator* make(const std::string& file, backend& device, const options& settings) {
  allocator* made = nullptr;
  if (const status outcome = allocator::create(device, settings, made); outcome != status::ok) {
    throw trace_error{file + ": no allocator: " + status_name(outcome)};
  }
  return made;
}

}  // namespace

trace_replay::trace_replay(std::string file, backend& device, sim_backend* simulated, const options& settings)
    : place_(std::move(file)), work_(nullptr), memory_(make(place_.file(), device, settings)) {
  if (simulated != nullptr) work_ = &simulated_.emplace(*simulated);
  streams_.emplace(0, default_stream);
}

trace_replay::trace_replay(std::string file, backend& device, device_work& work, const options& settings)
    : place_(std::move(file)), work_(&work), memory_(make(place_.file(), device, settings)) {
  streams_.emplace(0, work.open_stream(0));
}

void trace_replay::require(status outcome, const event& what) const {
  if (outcome == status::ok) return;
  place_.refuse(std::string("(") + event_kind_name(what.kind) + ") cannot be played: " + status_name(outcome));
}

stream trace_replay::stream_of(std::uint64_t named) {
  const auto [at, is_new] = streams_.try_emplace(named, stream{streams_.size()});
  if (is_new && work_ != nullptr) at->second = work_->open_stream(static_cast<std::uint64_t>(at->second));
  return at->second;
}

void trace_replay::take(const event& what) {
  if (result_.refusal) return;
  place_.next(what);
  const stream on = stream_of(what.stream);
  switch (what.kind) {
    case event_kind::allocate:
      return allocate(what);
    case event_kind::free:
      return give_back(what);
    case event_kind::use:
      return use(what);
    case event_kind::refusal:
      return ask_for_refused(what);
    case event_kind::step:
      return end_step();
    case event_kind::phase:
      return require(memory_->begin_phase(what.entered), what);
    case event_kind::capture_begin:
      return begin_capture(what);
    case event_kind::capture_join:
      return join_capture(what);
    case event_kind::capture_end:
      return end_capture(what);
    case event_kind::capture_abort:
      if (work_ != nullptr && memory_->is_capturing(on)) work_->abort_capture(on);
      return require(memory_->abort_capture(on), what);
    case event_kind::graph_launch:
      return launch(what);
    case event_kind::release_graph:
      return release_graph(what);
    case event_kind::stream_end:
      return require(memory_->end_stream(on), what);
    case event_kind::trim:
      return require(memory_->trim(what.bytes), what);
    case event_kind::drain:
      return require(memory_->drain(), what);
    case event_kind::segment_allocate:
    case event_kind::segment_free:
    case event_kind::segment_map:
    case event_kind::segment_unmap:
    case event_kind::snapshot:
      return;  // what the trace's own allocator did below: here that is ours to do
  }
}

bool trace_replay::hand_out(std::uint64_t bytes, stream on, block& piece) {
  const status outcome = memory_->allocate(bytes, on, piece);
  if (outcome != status::ok) {
    result_.refusal = replay_refusal{place_.number(), outcome, bytes, memory_->last_failure()};
    return false;
  }
  if (work_ != nullptr) work_->handed_out(on, piece.data(), bytes);
  return true;
}

void trace_replay::allocate(const event& what) {
  live_block fresh;
  fresh.bytes = what.bytes;
  if (!hand_out(what.bytes, stream_of(what.stream), fresh.piece)) return;
  live_.emplace(what.id, fresh);
  requested_bytes_ += what.bytes;
  result_.requested_bytes_peak = std::max(result_.requested_bytes_peak, requested_bytes_);
}

void trace_replay::give_back(const event& what) {
  const auto found = live_.find(what.id);
  if (found == live_.end()) place_.refuse("frees a block that is not live");
  if (work_ != nullptr && found->second.piece) work_->handed_back(found->second.piece.data());
  require(memory_->deallocate(found->second.piece, stream_of(what.stream)), what);
  requested_bytes_ -= found->second.bytes;
  live_.erase(found);
}

void trace_replay::use(const event& what) {
  const auto found = live_.find(what.id);
  if (found == live_.end()) place_.refuse("uses a block that is not live");
  if (work_ != nullptr) work_->use(stream_of(what.stream), found->second.piece.data(), found->second.bytes);
  require(memory_->note_use(found->second.piece, stream_of(what.stream)), what);
}

void trace_replay::ask_for_refused(const event& what) {
  ++result_.refusals_recorded;
  block piece;
  if (memory_->allocate(what.bytes, stream_of(what.stream), piece) != status::ok) return;
  ++result_.refusals_served;
  require(memory_->deallocate(piece), what);
}

void trace_replay::end_step() {
  memory_->end_step();
  counters window;
  memory_->read_step_counters(window);
  counters whole{};
  if (result_.steps == 0) memory_->read_counters(whole);  // of the first step alone: a reading costs its time
  result_.end_step(window.driver_allocs + window.driver_frees, whole.driver_allocs + whole.driver_frees);
}

void trace_replay::begin_capture(const event& what) {
  const stream on = stream_of(what.stream);
  require(memory_->begin_capture(on, {what.policy, pool_group{what.other}}), what);
  if (work_ != nullptr) work_->begin_capture(on, what.other);
}

void trace_replay::join_capture(const event& what) {
  require(memory_->join_capture(stream_of(what.stream), stream_of(what.other)), what);
  if (work_ != nullptr) work_->join_capture(stream_of(what.stream), stream_of(what.other));
}

void trace_replay::end_capture(const event& what) {
  captured_graph made;
  // The driver's window closes first; one that never opened is refused by the allocator before that.
  if (!memory_->is_capturing(stream_of(what.stream))) require(status::invalid_argument, what);
  if (work_ != nullptr) made.on_device = work_->end_capture(stream_of(what.stream));
  require(memory_->end_capture(stream_of(what.stream), made.pinned), what);
  graphs_[what.id] = made;
}

void trace_replay::launch(const event& what) {
  const auto found = graphs_.find(what.id);
  if (found == graphs_.end()) place_.refuse("launches no graph of the trace");
  if (work_ != nullptr) work_->launch(found->second.on_device, stream_of(what.stream));
  require(memory_->note_replay(found->second.pinned, stream_of(what.stream)), what);
}

void trace_replay::release_graph(const event& what) {
  const auto found = graphs_.find(what.id);
  if (found == graphs_.end()) place_.refuse("releases no graph of the trace");
  if (work_ != nullptr) work_->forget_graph(found->second.on_device);
  require(memory_->release_graph(found->second.pinned), what);
  graphs_.erase(found);
}

replay_result trace_replay::finish() {
  memory_->read_counters(result_.last);
  result_.end_without_steps(result_.last.driver_allocs + result_.last.driver_frees);
  result_.cached_bytes_max_wanted = memory_->read_cap().cached_bytes_max_wanted;
  if (work_ != nullptr) result_.device_ns = work_->now_ns();
  for (auto& [id, left] : live_) {
    if (work_ != nullptr && left.piece) work_->handed_back(left.piece.data());
    (void)memory_->deallocate(left.piece);  // the trace is over: what it answers is no part of the result
  }
  memory_.reset();
  if (work_ != nullptr) result_.convictions = work_->finish();
  return result_;
}

}  // namespace arcalloc::trace
