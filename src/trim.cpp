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
  departures leaving;
  {
    const claimed all(*this);
    const std::uint64_t idle = sum(&thread_stats::idle_bytes);
    if (idle > budget_.cached_max()) collect_idle(all, idle - budget_.cached_max(), leaving);
    level_leases(all);
  }
  // A driver free that fails here is counted and its segment is stuck: no caller waits for the answer.
  if (!leaving.empty()) (void)send_off(guard, leaving, because::bound);
}

segment* pool::coldest_idle(stream_cache*& holder) noexcept {
  segment* coldest = dedicated_.coldest();
  holder = nullptr;
  const auto look = [&](thread_record& record) {
    for (stream_cache* at = record.caches.front(); at != nullptr; at = decltype(record.caches)::next(at)) {
      segment* const candidate = at->coldest_idle();
      if (candidate == nullptr || (coldest != nullptr && coldest->idle_stamp <= candidate->idle_stamp)) continue;
      coldest = candidate;
      holder = at;
    }
  };
  look(common_);
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) look(*at);
  return coldest;
}

void pool::detach(segment& home, departures& out) noexcept {
  if (home.use == segment_use::shared) {
    ARCALLOC_ASSERT(home.cache.load(std::memory_order_relaxed) == nullptr);
  } else {
    --single_blocks_;
    home.runs->records[0].home = nullptr;
  }
  home.state = segment_state::leaving;
  table_.remove(home);
  leaving_bytes_ += home.bytes;
  out.push_back(&home);
}

void pool::collect_idle(const claimed&, std::uint64_t bytes, departures& out) noexcept {
  std::uint64_t collected = 0;
  stream_cache* holder = nullptr;
  while (collected < bytes) {
    segment* const home = coldest_idle(holder);
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
  status worst = status::ok;
  while (!leaving.empty()) {
    segment* const home = leaving.front();
    leaving.remove(home);
    guard.unlock();
    const status outcome = source_.take_back(*home);
    guard.lock();
    leaving_bytes_ -= home->bytes;
    if (outcome != status::ok) {
      worst = outcome;
      tally_.stuck_bytes += home->bytes;
      stuck_.push_back(home);
      continue;
    }
    budget_.returned(home->bytes);
    ++tally_.driver_frees;
    if (why == because::bound) {
      ++tally_.evictions;
      tally_.evicted_bytes += home->bytes;
      note_eviction(*home);
    }
    all_.remove(home);
    source_.discard(*home);
  }
  if (!one_thread()) {
    const claimed all(*this);
    sample(all);
  }
  return worst;
}

status pool::trim(std::uint64_t cached_bytes_target) noexcept {
  lock guard(mutex_);
  const window call(*this);
  return give_back(guard, cached_bytes_target);
}

status pool::give_back(lock& guard, std::uint64_t cached_bytes_target) noexcept {
  departures leaving;
  {
    const claimed all(*this);
    retry_stuck(leaving);
    const std::uint64_t idle = sum(&thread_stats::idle_bytes);
    if (idle > cached_bytes_target) collect_idle(all, idle - cached_bytes_target, leaving);
    level_leases(all);
  }
  return send_off(guard, leaving, because::asked);
}

void pool::note_eviction(const segment& gone) noexcept {
  departed_[departed_next_] = {gone.bytes, tally_.steps};
  departed_next_ = (departed_next_ + 1) % departed_max;
}

void pool::note_growth(std::uint64_t segment_bytes) noexcept {
  for (departed& gone : departed_) {
    if (gone.segment_bytes != segment_bytes || tally_.steps - gone.step > thrash_steps) continue;
    gone = {};
    ++tally_.thrash_evictions;
    return;
  }
}

void pool::measure(lock& guard) noexcept {
  if (bound_.mode != bound_mode::derived) return;
  measured_step_ = tally_.steps;
  guard.unlock();
  memory_info device;
  const status answer = source_.device().query_memory(device);
  guard.lock();
  cap_arithmetic cap = budget_.cap();
  if (answer == status::ok) {
    const claimed all(*this);
    cap = derive_cap(device, sum(&thread_stats::idle_bytes));
  } else if (cap.cap_source != ARCALLOC_CAP_DERIVED || cap.cached_bytes_max == 0) {
    cap = {};
    cap.cached_bytes_max = fallback_cap_bytes;
    cap.cap_source = ARCALLOC_CAP_FALLBACK;
  }
  cap.query = answer;
  budget_.set_cap(cap);
  obey_cached_max(guard);
}

bool pool::measure_due() const noexcept { return tally_.steps - measured_step_ >= measure_steps; }

void pool::set_bound(lock& guard) noexcept {
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
