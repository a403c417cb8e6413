// SPDX-License-Identifier: Apache-2.0
// What the counters say: sums over threads, gauges, peaks, step windows. Every function takes the
// proof that all threads stand still, so that one reading is one consistent picture.
#include <algorithm>
#include <bitset>
#include <functional>

#include "pool.hpp"

namespace arcalloc::detail {

namespace {

void raise(std::uint64_t& peak, std::int64_t value) noexcept {
  ARCALLOC_ASSERT(value >= 0);
  peak = std::max(peak, static_cast<std::uint64_t>(value));
}

}  // namespace

template <class Field>
auto pool::sum(Field thread_stats::*field) const noexcept {
  auto total = std::invoke(field, common_.stats);
  for (const thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    total += std::invoke(field, at->stats);
  }
  return total;
}

std::uint64_t pool::idle_bytes() const noexcept { return sum(&thread_stats::idle_bytes); }

std::uint64_t pool::idle_of_all() noexcept {
  const claimed all(*this);
  return idle_bytes();
}

void pool::sample(const claimed&) noexcept {
  const std::int64_t requested = sum(&thread_stats::requested_bytes);
  const std::int64_t allocated = sum(&thread_stats::allocated_bytes);
  const auto idle = static_cast<std::int64_t>(idle_bytes());
  const std::uint64_t waiting = leaving_bytes_ + pending_.bytes();
  const std::uint64_t pinned = pins_.idle_bytes();
  const auto usable = static_cast<std::int64_t>(budget_.reserved_bytes() - waiting - tally_.stuck_bytes - pinned);
  raise(tally_.requested_bytes_peak, requested);
  raise(tally_.allocated_bytes_peak, allocated);
  raise(tally_.cached_bytes_peak, idle);
  raise(tally_.held_bytes_peak, usable - allocated);
  raise(tally_.slack_bytes_peak, usable - allocated - idle);
  raise(tally_.pinned_bytes_peak, static_cast<std::int64_t>(pinned));
  raise(tally_.pending_bytes_peak, static_cast<std::int64_t>(waiting));
  raise(tally_.stuck_bytes_peak, static_cast<std::int64_t>(tally_.stuck_bytes));
  if (!one_thread()) return;
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    if (!at->in_use) continue;
    // The one thread's marks, over what the rest has: that has stood still since the marks began.
    thread_stats& own = at->stats;
    own.close_marks();
    const std::int64_t others_allocated = allocated - own.allocated_bytes();
    const std::int64_t others_idle = idle - static_cast<std::int64_t>(own.idle_bytes);
    raise(tally_.requested_bytes_peak, requested - own.requested_bytes() + own.requested_high());
    raise(tally_.allocated_bytes_peak, others_allocated + own.allocated_high());
    raise(tally_.cached_bytes_peak, others_idle + static_cast<std::int64_t>(own.idle_high()));
    raise(tally_.held_bytes_peak, usable - others_allocated - own.allocated_floor());
    raise(tally_.slack_bytes_peak, usable - others_allocated - others_idle - own.filled_floor());
    own.restart_marks();
  }
}

void pool::sample_beside_others() noexcept {
  if (one_thread()) return;  // its marks know
  const claimed all(*this);
  sample(all);
}

void pool::restart_marks(const claimed&) noexcept {
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) at->stats.restart_marks();
}

std::uint64_t pool::cut_classes() noexcept {
  // An idle part stands for the largest class that could be cut from it.
  std::bitset<shared_classes_max> seen;
  const auto look = [&](const thread_record& record) {
    for (const stream_cache* at = record.caches.front(); at != nullptr; at = decltype(record.caches)::next(at)) {
      at->divided().for_each_idle([&](std::uint64_t bytes) {
        seen[classes_.index_of(std::min(classes_.rounded_down(bytes), classes_.shared_max()))] = true;
      });
    }
  };
  look(common_);
  for (const thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) look(*at);
  return seen.count();
}

std::uint64_t pool::idle_classes(const claimed&) noexcept {
  std::uint64_t found = dedicated_.classes() + cut_classes();
  for (std::uint32_t index = 0; index < classes_.run_count(); ++index) {
    const auto has = [&](const thread_record& record) {
      for (const stream_cache* at = record.caches.front(); at != nullptr; at = decltype(record.caches)::next(at)) {
        if (at->has_idle(index)) return true;
      }
      return false;
    };
    bool any = has(common_);
    for (const thread_record* at = records_.front(); at != nullptr && !any; at = records_list::next(at)) any = has(*at);
    found += any ? 1 : 0;
  }
  return found;
}

std::uint64_t pool::largest_idle(const claimed&) noexcept {
  std::uint64_t largest = 0;
  for (const segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
    if (home->state == segment_state::idle) largest = std::max(largest, home->bytes);
    if (home->state != segment_state::used || !shares(home->use)) continue;
    if (home->use == segment_use::divided) {
      for (const auto* at = static_cast<const part*>(home->runs); at != nullptr; at = at->after) {
        if (at->used == 0) largest = std::max(largest, at->block_bytes);
      }
      continue;
    }
    for (std::uint32_t slot = 0; slot < segment_units; ++slot) {
      const run& at = home->runs[slot];
      if (at.units != 0 && at.idle != nullptr) largest = std::max(largest, at.block_bytes);
    }
    largest = std::max(largest, home->idle_span * run_unit_bytes);
  }
  return largest;
}

void pool::read(const claimed& all, counters& out) noexcept {
  sample(all);
  fill(all, out);
}

void pool::fill(const claimed& all, counters& out) noexcept {
  out = tally_;
  out.size = sizeof(counters);
  out.version = ARCALLOC_COUNTERS_VERSION;
  const std::uint64_t fast_hits = sum(&thread_stats::hits);
  out.requests += fast_hits;
  out.stream_cache_hits += fast_hits;
  out.frees += sum(&thread_stats::frees);
  out.hits = out.stream_cache_hits + out.pool_hits + out.reclaim_hits + out.cross_stream_hits + out.wait_hits;
  out.requested_bytes = static_cast<std::uint64_t>(sum(&thread_stats::requested_bytes));
  out.allocated_bytes = static_cast<std::uint64_t>(sum(&thread_stats::allocated_bytes));
  out.pending_bytes = leaving_bytes_ + pending_.bytes();
  out.driver_events += works_.events_recorded() + pending_.events_recorded();
  out.pinned_bytes = pins_.idle_bytes();
  out.graphs_pinned = pins_.graphs();
  out.cached_bytes = idle_bytes();
  out.reserved_bytes = budget_.reserved_bytes();
  out.reserved_bytes_peak = budget_.reserved_bytes_peak();
  out.held_bytes = out.reserved_bytes - out.allocated_bytes - out.pending_bytes - out.pinned_bytes - out.stuck_bytes;
  out.slack_bytes = out.held_bytes - out.cached_bytes;
  out.cached_bytes_max = budget_.cap().cached_bytes_max;
  out.capacity_bytes = budget_.capacity_bytes();
  out.cap_source = budget_.cap().cap_source;
  out.classes_idle = idle_classes(all);
  std::uint64_t blocks = single_blocks_;
  const auto add_blocks = [&](const thread_record& record) {
    for (const stream_cache* at = record.caches.front(); at != nullptr; at = decltype(record.caches)::next(at)) {
      blocks += at->blocks();
    }
  };
  add_blocks(common_);
  for (const thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) add_blocks(*at);
  out.blocks_live = out.hits + out.misses + out.bypassed - out.frees;
  out.blocks_idle = blocks - out.blocks_live - pending_.count() - pins_.idle_count();
  out.segments_reserved = out.driver_allocs - out.driver_frees;
}

void pool::read_counters(counters& out) noexcept {
  const lock guard(mutex_);
  const claimed all(*this);
  read(all, out);
}

void pool::read_step_counters(counters& out) noexcept {
  const lock guard(mutex_);
  out = step_window_;
}

void pool::reset_peaks() noexcept {
  const lock guard(mutex_);
  const claimed all(*this);
  sample(all);
  for (std::uint64_t counters::*const peak :
       {&counters::requested_bytes_peak, &counters::allocated_bytes_peak, &counters::pending_bytes_peak,
        &counters::cached_bytes_peak, &counters::slack_bytes_peak, &counters::pinned_bytes_peak,
        &counters::stuck_bytes_peak, &counters::held_bytes_peak}) {
    tally_.*peak = 0;
  }
  budget_.reset_peak();
  sample(all);
}

void pool::end_step() noexcept {
  char line[256];
  bool reports = false;
  {
    const lock guard(mutex_);
    const claimed all(*this);
    ++tally_.steps;
    recorder_.note(ARCALLOC_RECORDED_STEP, default_stream);
    recorder_.set_due_after_a_while();
    (void)level_stamps(all);  // coldness stays comparable across threads
    counters now;
    read(all, now);
    step_window_ = counters_between(step_start_, now);
    step_start_ = now;
    reports = stats_every_steps_ != 0 && sink_.write != nullptr && tally_.steps % stats_every_steps_ == 0;
    if (reports) {
      counters reported = counters_between(report_start_, now);
      reported.steps = tally_.steps;
      format_step_report(reported, stats_every_steps_, line, sizeof line);
      report_start_ = now;
    }
  }
  write_if_due();
  if (reports) sink_.write(sink_.context, line);
}

cap_arithmetic pool::read_cap() noexcept {
  const lock guard(mutex_);
  cap_arithmetic cap = budget_.cap();
  cap.cached_bytes_max_wanted = cached_bytes_max_wanted_;
  return cap;
}

failure_record pool::last_failure() noexcept {
  const lock guard(mutex_);
  return failure_;
}

}  // namespace arcalloc::detail
