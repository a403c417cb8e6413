// SPDX-License-Identifier: Apache-2.0
#include "trace/replay/life_report.hpp"

#include <algorithm>
#include <bit>

namespace arcalloc::trace {

namespace {

/// Requests of a step beyond this are not followed from step to step.
constexpr std::size_t ordinals_max = 65'536;

void raise(life_bytes& to, const life_bytes& by) {
  to.requested = std::max(to.requested, by.requested);
  to.allocated = std::max(to.allocated, by.allocated);
  to.pending = std::max(to.pending, by.pending);
  to.cached = std::max(to.cached, by.cached);
  to.slack = std::max(to.slack, by.slack);
  to.pinned = std::max(to.pinned, by.pinned);
  to.reserved = std::max(to.reserved, by.reserved);
}

void join(life_stretch& to, const life_stretch& later) {
  to.last_event = later.last_event;
  if (later.time_ns != no_time) to.time_ns = later.time_ns;
  raise(to.peaks, later.peaks);
}

void join(life_steps& to, const life_steps& later) {
  to.count += later.count;
  to.requests += later.requests;
  to.hits += later.hits;
  to.misses += later.misses;
  to.driver_allocs += later.driver_allocs;
  to.driver_frees += later.driver_frees;
  to.evictions += later.evictions;
  to.driver_calls_most = std::max(to.driver_calls_most, later.driver_calls_most);
  to.reserved_bytes_most = std::max(to.reserved_bytes_most, later.reserved_bytes_most);
  to.requested_bytes_most = std::max(to.requested_bytes_most, later.requested_bytes_most);
}

/// Puts entries together two and two; the number of them halves.
template <class Entry>
void halve(std::vector<Entry>& entries) {
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    entries[i / 2] = entries[i];
    if (i + 1 < entries.size()) join(entries[i / 2], entries[i + 1]);
  }
  entries.resize((entries.size() + 1) / 2);
}

}  // namespace

std::uint64_t class_of(std::uint64_t bytes) {
  constexpr std::uint64_t least = 512;
  constexpr std::uint64_t step_max = std::uint64_t{16} << 20;
  if (bytes <= least) return least;
  const std::uint64_t step = std::clamp(std::bit_floor(bytes - 1) / 8, least, step_max);
  return (bytes + step - 1) / step * step;
}

void life_watch::take(const event& what) {
  ++events_;
  if (what.time_ns != no_time) time_ns_ = what.time_ns;
  const bool is_request = what.kind == event_kind::allocate;
  const std::uint64_t asked_before = is_request ? simulated_.calls(sim_call::allocate) : 0;
  if (!any_open_) {
    replay_.memory().reset_peaks();
    any_open_ = true;
  }
  replay_.take(what);
  if (is_request) note_request(what, simulated_.calls(sim_call::allocate) != asked_before);
  if (what.kind == event_kind::free) {
    life_class& of = report_.classes[class_of(what.bytes)];
    if (of.live > 0) --of.live;
  }
  if (what.kind == event_kind::step) note_step();
  if (events_ % report_.events_per_stretch == 0) close_stretch();
}

void life_watch::note_request(const event& what, bool missed) {
  life_class& of = report_.classes[class_of(what.bytes)];
  ++of.requests;
  of.bytes += what.bytes;
  of.misses += missed ? 1 : 0;
  of.live_most = std::max(of.live_most, ++of.live);
  if (!what.before_recording) note_growth(what.bytes);
}

void life_watch::note_growth(std::uint64_t bytes) {
  if (ordinal_ >= ordinals_max) return;
  if (ordinal_ == by_ordinal_.size()) {
    life_growth fresh;
    fresh.ordinal = ordinal_ + 1;
    fresh.first_bytes = fresh.last_bytes = bytes;
    by_ordinal_.push_back(fresh);
  }
  life_growth& one = by_ordinal_[ordinal_++];
  ++one.steps;
  one.grown += bytes > one.last_bytes ? 1 : 0;
  one.shrunk += bytes < one.last_bytes ? 1 : 0;
  one.last_bytes = bytes;
}

void life_watch::note_step() {
  // What came before the first step is its own: loading, a prompt. Growth is looked for from there on.
  if (steps_ == 0) by_ordinal_.clear();
  ordinal_ = 0;
  ++steps_;
  counters window;
  replay_.memory().read_step_counters(window);
  life_steps step;
  step.first = steps_;
  step.count = 1;
  step.requests = window.requests;
  step.hits = window.hits;
  step.misses = window.misses;
  step.driver_allocs = window.driver_allocs;
  step.driver_frees = window.driver_frees;
  step.evictions = window.evictions;
  step.driver_calls_most = window.driver_allocs + window.driver_frees;
  step.reserved_bytes_most = window.reserved_bytes;
  step.requested_bytes_most = window.requested_bytes;
  std::vector<life_steps>& entries = report_.steps;
  if (!entries.empty() && entries.back().count < steps_per_entry_) {
    join(entries.back(), step);
    return;
  }
  if (entries.size() == life_report::steps_max) {
    halve(entries);
    steps_per_entry_ *= 2;
  }
  entries.push_back(step);
}

void life_watch::close_stretch() {
  counters now;
  replay_.memory().read_counters(now);
  life_stretch closed;
  closed.last_event = events_;
  closed.time_ns = time_ns_;
  closed.peaks = {now.requested_bytes_peak, now.allocated_bytes_peak, now.pending_bytes_peak, now.cached_bytes_peak,
                  now.slack_bytes_peak,     now.pinned_bytes_peak,    now.reserved_bytes_peak};
  report_.cached_bytes_max = now.cached_bytes_max;
  report_.capacity_bytes = now.capacity_bytes;
  report_.timeline.push_back(closed);
  any_open_ = false;
  if (report_.timeline.size() < life_report::timeline_max) return;
  halve(report_.timeline);
  report_.events_per_stretch *= 2;
}

life_report life_watch::finish() {
  if (any_open_ || report_.timeline.empty()) close_stretch();
  life_bytes most;
  for (const life_stretch& one : report_.timeline) raise(most, one.peaks);
  report_.played = replay_.finish();
  // The allocator's own peaks began anew with each stretch.
  counters& last = report_.played.last;
  last.requested_bytes_peak = most.requested;
  last.allocated_bytes_peak = most.allocated;
  last.pending_bytes_peak = most.pending;
  last.cached_bytes_peak = most.cached;
  last.slack_bytes_peak = most.slack;
  last.pinned_bytes_peak = most.pinned;
  last.reserved_bytes_peak = most.reserved;
  for (const life_growth& one : by_ordinal_) {
    // What goes up and down is no growth, nor is another request that took the place of a smaller one.
    if (one.steps >= 4 && one.last_bytes > one.first_bytes && 2 * one.grown >= one.steps &&
        4 * one.shrunk <= one.grown) {
      report_.growing.push_back(one);
    }
  }
  report_.distinct_growing = report_.growing.size();
  std::stable_sort(report_.growing.begin(), report_.growing.end(), [](const life_growth& a, const life_growth& b) {
    return a.last_bytes - a.first_bytes > b.last_bytes - b.first_bytes;
  });
  if (report_.growing.size() > life_report::growing_max) report_.growing.resize(life_report::growing_max);
  return std::move(report_);
}

}  // namespace arcalloc::trace
