// SPDX-License-Identifier: Apache-2.0
// How memory goes back to the driver: who decides how much, which segments, and the calls themselves.
// Every way back is here: obeying the bound on cached bytes, trim, drain, making room on the ladder.
#include <algorithm>

#include "pool.hpp"

namespace arcalloc::detail {

namespace {
// Evicted and wanted again within so few steps is thrash: the bound is below the working set.
constexpr std::uint64_t thrash_steps = 4;
// What a thread leases at once, as a share of the bound: large enough to be rare, small enough to share.
constexpr std::uint64_t lease_shares = 8;
// The free memory of the device is looked at again at most this often.
constexpr std::uint64_t measure_steps = 256;
}  // namespace

bool pool::covered(thread_record& record) noexcept {
  const std::uint64_t idle = record.stats.idle_bytes;
  if (idle <= record.lease_bytes) return true;
  const std::uint64_t least = idle - record.lease_bytes;
  const std::uint64_t most = &record == &common_ ? least : std::max(least, budget_.cached_max() / lease_shares);
  record.lease_bytes += budget_.lease(least, most);
  return idle <= record.lease_bytes;
}

void pool::level_leases(const claimed&) noexcept {
  const auto level = [this](thread_record& record) {
    budget_.change_lease(record.lease_bytes, record.stats.idle_bytes);
    record.lease_bytes = record.stats.idle_bytes;
  };
  level(common_);
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) level(*at);
}

void pool::obey_cached_max(lock& guard) noexcept {
  beyond_lease_ = false;
  if (capturing()) {
    const claimed all(*this);
    if (idle_bytes() > budget_.cached_max()) ++tally_.capture_deferred;
    put_off_.eviction = true;  // leases are levelled then, too
    return;
  }
  departures leaving;
  {
    const claimed all(*this);
    const std::uint64_t idle = idle_bytes();
    if (idle > budget_.cached_max()) collect_idle(all, idle - budget_.cached_max(), when_busy::wait, leaving);
    level_leases(all);
  }
  // A driver free that fails here is counted and its segment is stuck: no caller waits for the answer.
  (void)send_off(guard, leaving, because::bound);
}

bool pool::work_finished(const claimed& all, const segment& home) noexcept {
  return works_.finished(home.on, home.idle_stamp, level_stamps(all));
}

segment* pool::coldest_idle(const claimed& all, stream_cache*& holder, when_busy busy) noexcept {
  segment* coldest = dedicated_.coldest();
  // Warmer ones of another stream may have finished before it.
  while (coldest != nullptr && busy == when_busy::skip && !work_finished(all, *coldest)) {
    coldest = dedicated_bins::warmer(coldest);
  }
  holder = nullptr;
  const auto look = [&](thread_record& record) {
    for (stream_cache* at = record.caches.front(); at != nullptr; at = decltype(record.caches)::next(at)) {
      segment* const candidate = at->coldest_idle();
      if (candidate == nullptr || (coldest != nullptr && coldest->idle_stamp <= candidate->idle_stamp)) continue;
      // Work on one stream finishes in order: if its coldest has not, none of its others has.
      if (busy == when_busy::skip && !work_finished(all, *candidate)) continue;
      coldest = candidate;
      holder = at;
    }
  };
  look(common_);
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) look(*at);
  return coldest;
}

void pool::detach(segment& home, departures& out) noexcept {
  if (shares(home.use)) {
    ARCALLOC_ASSERT(home.cache == nullptr);
    --segments_for_[home.made_for];
  } else {
    --single_blocks_;
    home.runs->records[0].become(no_run, nullptr, nullptr);
  }
  home.state = segment_state::leaving;
  table_.remove(home);
  leaving_bytes_ += home.bytes;
  out.push_back(&home);
}

void pool::collect_idle(const claimed& all, std::uint64_t bytes, when_busy busy, departures& out) noexcept {
  std::uint64_t collected = 0;
  stream_cache* holder = nullptr;
  while (collected < bytes) {
    // What has finished goes first, however warm; only then what must be waited for.
    segment* home = coldest_idle(all, holder, when_busy::skip);
    if (home == nullptr && busy == when_busy::wait) home = coldest_idle(all, holder, when_busy::wait);
    if (home == nullptr) return;
    collected += home->bytes;
    if (holder != nullptr) {
      holder->strip(*home, records_of_blocks_);
    } else {
      dedicated_.remove(*home);
      common_.stats.idle_bytes -= home->bytes;
    }
    detach(*home, out);
  }
}

void pool::retry_stuck(departures& out) noexcept {
  while (!stuck_.empty()) {
    segment* const home = stuck_.front();
    stuck_.remove(home);
    tally_.stuck_bytes -= home->bytes;
    leaving_bytes_ += home->bytes;
    out.push_back(home);
  }
}

status pool::send_off(lock& guard, departures& leaving, because why) noexcept {
  if (leaving.empty()) return status::ok;
  const auto is_finished = [this](const segment& home) {
    const claimed all(*this);
    return work_finished(all, home);
  };
  status worst = status::ok;
  while (!leaving.empty()) {
    segment* const home = leaving.front();
    leaving.remove(home);
    if (capturing()) {
      put_off_.leaving.push_back(home);
      ++tally_.capture_deferred;
      continue;
    }
    status outcome = is_finished(*home) ? status::ok : wait_for_work(guard, home->on);
    if (outcome == status::ok && capturing()) {  // a window opened while this waited
      leaving.push_front(home);
      continue;
    }
    if (outcome == status::ok) {
      const driver_call call(*this, guard);
      outcome = source_.take_back(*home);
    }
    leaving_bytes_ -= home->bytes;
    left_bytes_ += home->bytes;
    left_.notify_all();
    if (outcome != status::ok) {
      worst = outcome;
      tally_.stuck_bytes += home->bytes;
      stuck_.push_back(home);
      continue;
    }
    budget_.returned(home->bytes);
    ++tally_.driver_frees;
    recorder_.note(recorder::of_block(ARCALLOC_RECORDED_SEGMENT_FREE, home->on, home->base, home->bytes));
    if (why == because::bound) {
      ++tally_.evictions;
      tally_.evicted_bytes += home->bytes;
      note_eviction(*home);
    }
    all_.remove(home);
    source_.discard(*home);
  }
  sample_beside_others();
  return worst;
}

void pool::await_departures(lock& guard) noexcept {
  // What is on its way now, and no more: other threads may go on giving memory back for ever.
  const std::uint64_t due = left_bytes_ + leaving_bytes_;
  while (left_bytes_ < due && !capturing()) left_.wait(guard);
}

status pool::wait_for_work(lock& guard, stream on) noexcept {
  if (is_former(on)) return wait_for_former(guard, on);
  std::uint64_t stamp = 0;
  event point = event::none;
  {
    const claimed all(*this);
    stamp = level_stamps(all);
    const status recorded = source_.device().record_event(on, point);
    if (recorded != status::ok) return recorded;
  }
  ++tally_.driver_events;
  ++tally_.waits;
  const status waited = wait_unlocked(guard, point);
  source_.device().drop_event(point);
  if (waited == status::ok) works_.learn_finished(on, stamp);
  return waited;
}

status pool::wait_unlocked(lock& guard, event point) noexcept {
  const driver_call call(*this, guard);
  return source_.device().wait_event(point);
}

void pool::settle_passed(const claimed&, departures& leaving) noexcept {
  pending_.record_late();
  for (noted_block* block = pending_.first(); block != nullptr;) {
    // One that is unfinished does not keep those behind it.
    noted_block* const next = pending::next(block);
    if (!block->waited_for && pending_.passed(*block)) put_back(pending_.settle(*block), nullptr, leaving);
    block = next;
  }
}

void pool::wait_for_pending(lock& guard, noted_block& block) noexcept {
  pending_.record_late();
  block.waited_for = true;
  for (const foreign_use* use = block.uses; use != nullptr && !capturing(); use = use->next) {
    // If the wait fails the use stays unfinished, and the block pending: nothing is handed out early.
    if (is_former(use->on) && use->point == event::none) {
      (void)wait_for_former(guard, use->on);
    } else if (use->point != event::none) {
      ++tally_.waits;
      (void)wait_unlocked(guard, use->point);
    }
  }
  block.waited_for = false;
}

status pool::trim(std::uint64_t cached_bytes_target) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  recorded_event asked = recorder::of(ARCALLOC_RECORDED_TRIM);
  asked.bytes = cached_bytes_target;
  recorder_.note(asked);
  return give_back(guard, cached_bytes_target, when_busy::skip);
}

status pool::drain() noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  recorder_.note(ARCALLOC_RECORDED_DRAIN, default_stream);
  return give_back(guard, 0, when_busy::wait);
}

status pool::give_back(lock& guard, std::uint64_t cached_bytes_target, when_busy busy, may_put_off later) noexcept {
  if (busy == when_busy::wait && !capturing()) {
    // Each is waited for once, also where the driver fails to: what is left is pending, and counted.
    const std::uint64_t turn = ++drain_turn_;
    for (noted_block* block = pending_.first(); block != nullptr && !capturing();) {
      if (block->waited_for || block->drain_turn == turn) {
        block = pending::next(block);
        continue;
      }
      block->drain_turn = turn;
      wait_for_pending(guard, *block);
      block = pending_.first();  // the list may have changed meanwhile
    }
  }
  if (capturing()) {
    if (later == may_put_off::no) return status::ok;
    put_off_.drain = put_off_.drain || busy == when_busy::wait;
    put_off_.trim_target = std::min(put_off_.trim_target, cached_bytes_target);
    ++tally_.capture_deferred;
    return status::ok;
  }
  departures leaving;
  {
    const claimed all(*this);
    settle_passed(all, leaving);
    retry_stuck(leaving);
    const std::uint64_t idle = idle_bytes();
    if (idle > cached_bytes_target) collect_idle(all, idle - cached_bytes_target, busy, leaving);
    level_leases(all);
  }
  const status outcome = send_off(guard, leaving, because::asked);
  if (beyond_lease_) obey_cached_max(guard);
  if (busy == when_busy::wait && !capturing()) {
    const driver_call call(*this, guard);
    source_.device().trim();
  }
  return outcome;
}

void pool::note_eviction(const segment& gone) noexcept {
  departed_[departed_next_] = {gone.bytes, tally_.steps};
  departed_next_ = (departed_next_ + 1) % departed_max;
}

void pool::note_growth(std::uint64_t segment_bytes) noexcept {
  const auto recent = [this](const departed& gone) {
    return gone.segment_bytes != 0 && tally_.steps - gone.step <= thrash_steps;
  };
  departed* const back = std::find_if(departed_, departed_ + departed_max, [&](const departed& gone) {
    return recent(gone) && gone.segment_bytes == segment_bytes;
  });
  if (back == departed_ + departed_max) return;
  ++tally_.thrash_evictions;
  // With room for what is idle now and for all that went lately, nothing would have had to go.
  const claimed all(*this);
  std::uint64_t wanted = idle_bytes();
  for (const departed& gone : departed_) wanted += recent(gone) ? gone.segment_bytes : 0;
  cached_bytes_max_wanted_ = std::max(cached_bytes_max_wanted_, wanted);
  *back = {};
}

void pool::measure(lock& guard) noexcept {
  if (bound_.mode != bound_mode::derived) return;
  measured_step_ = tally_.steps;
  if (capturing()) {
    put_off_.measurement = true;
    return;
  }
  memory_info device;
  const status answer = query_unlocked(guard, device);
  if (bound_.mode != bound_mode::derived) return;  // set meanwhile, and in force
  cap_arithmetic cap = budget_.cap();
  if (answer == status::ok) {
    const claimed all(*this);
    cap = derive_cap(device, idle_bytes());
  } else if (cap.cap_source != ARCALLOC_CAP_DERIVED || cap.cached_bytes_max == 0) {
    cap = {};
    cap.cached_bytes_max = fallback_cap_bytes;
    cap.cap_source = ARCALLOC_CAP_FALLBACK;
  }
  cap.query = answer;
  budget_.set_cap(cap);
  obey_cached_max(guard);
}

status pool::query_unlocked(lock& guard, memory_info& out) noexcept {
  const driver_call call(*this, guard);
  return source_.device().query_memory(out);
}

bool pool::measure_due() const noexcept { return tally_.steps - measured_step_ >= measure_steps; }

void pool::set_bound(lock& guard) noexcept {
  cached_bytes_max_wanted_ = 0;
  std::fill(departed_, departed_ + departed_max, departed{});  // what went under the old bound says nothing of the new
  if (bound_.mode == bound_mode::derived) return measure(guard);
  cap_arithmetic cap;
  const bool unbounded = bound_.mode == bound_mode::unbounded;
  cap.cached_bytes_max = unbounded ? ARCALLOC_NO_BOUND : bound_.bytes;
  cap.cap_source = unbounded                 ? ARCALLOC_CAP_UNBOUNDED
                   : bound_.from_environment ? ARCALLOC_CAP_ENVIRONMENT
                                             : ARCALLOC_CAP_EXPLICIT;
  budget_.set_cap(cap);
  obey_cached_max(guard);
}

}  // namespace arcalloc::detail
