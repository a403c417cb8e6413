// SPDX-License-Identifier: Apache-2.0
// The way of a request that no stream cache answered at once: one function, climb, whose numbered
// rungs each move one counter. In a capture window what is handed out is pinned, and only rungs 1, 2 and 5
// are open. On a device whose work is finished when the call returns nothing is ever pending or busy, and
// rungs 3 and 7 find nothing to do.
#include <algorithm>

#include "pool.hpp"

namespace arcalloc::detail {

namespace {

/// The segment of the cache that has room for the request, or null.
segment* room_in(const stream_cache& cache, const request& asked, bool idle_only) noexcept {
  return asked.use == segment_use::divided ? cache.find_room(asked.block_bytes, idle_only)
                                           : cache.find_room(kind_of(asked.class_index, asked.class_bytes), idle_only);
}

/// True where a wholly idle shared or divided segment would do for the request.
bool serves(const segment& idle, const request& asked) noexcept {
  if (idle.use != asked.use) return false;
  return asked.use == segment_use::shared || (idle.bytes >= asked.block_bytes && may_enter(idle, asked.block_bytes));
}

}  // namespace

status pool::answer(const request& asked, block_record& piece, std::uint64_t& rung) noexcept {
  ++rung;
  ++tally_.requests;
  // While the driver was asked a window may have closed, or opened.
  if (graph* const in = pins_.window_of(asked.on); in != nullptr) {
    const bool fresh = &rung == &tally_.misses || &rung == &tally_.bypassed;
    if (!fresh) ++tally_.capture_hits;
    pins_.touch(*in, piece, fresh || piece.pinned() ? 0 : epoch_);
  }
  return status::ok;
}

status pool::climb(lock& guard, thread_record& self, const request& asked, block_record*& out) noexcept {
  const bool bypassing = asked.use == segment_use::bypass;
  graph* const window = pins_.window_of(asked.on);
  const auto answered = [&](std::uint64_t& rung) { return answer(asked, *out, rung); };
  const auto answered_by_driver = [&](std::uint64_t* rung) {
    if (rung != nullptr) ++*rung;
    sample_beside_others();
    if (!bypassing) return answered(tally_.misses);
    ++(enabled_ ? tally_.bypassed_phase : tally_.bypassed_disabled);
    return answered(tally_.bypassed);
  };

  std::uint64_t* rung = nullptr;
  if (!bypassing) {
    // 1 the stream cache: another run, or room for one; in a window what it has idle itself before that
    if (window != nullptr && (out = search_pins(*window, self, asked)) != nullptr) {
      return answered(tally_.stream_cache_hits);
    }
    // 2 the pool: the same stream's memory that no thread, or another thread, has idle
    if ((out = search(self, asked, rung)) != nullptr) return answered(*rung);
    // 3 finished pending blocks, reclaimed
    if (!capturing() && pending_.first() != nullptr) {
      reclaim(guard);
      if ((out = search(self, asked, rung)) != nullptr) return answered(tally_.reclaim_hits);
    }
    // 4 an idle block of another stream whose work is known to have finished
    if (!capturing() && (out = from_other_stream(self, asked)) != nullptr) return answered(tally_.cross_stream_hits);
    // 2 again: sooner than ask the driver, what is larger than the class
    out = window != nullptr ? from_larger(*window, self, asked) : from_oversize(self, asked);
    if (out != nullptr) return answered(tally_.pool_hits);
  }

  // 5 the driver, within the bounds; for a captured stream beside the capture
  if (window != nullptr && !bypassing) note_capture_miss(asked);
  status refused = grow(guard, self, asked, out);
  if (refused == status::ok) return answered_by_driver(nullptr);
  const bool exhausted = refused == status::capacity_exceeded || refused == status::device_out_of_memory;

  if (oom_retry_ && exhausted && !capturing()) {
    // 6 evict just enough, and ask once more; then for a tight block
    make_room(guard, asked, refused);
    refused = grow(guard, self, asked.frugal(), out);
    if (refused == status::ok) return answered_by_driver(&tally_.evict_retries);
    request tight;  // a window that opens meanwhile closes what is left of the ladder, rung by rung
    if (as_tight(asked, tight)) {
      refused = grow(guard, self, tight, out);
      if (refused == status::ok) return answered_by_driver(&tally_.tight_blocks);
    }
    // 7 wait for as few pending or busy blocks as will do, and search again
    if (!bypassing && (out = after_waiting(guard, self, asked)) != nullptr) return answered(tally_.wait_hits);
    // 8 drain, and ask a last time
    // Where a free fails its segment is stuck; the rest may do.
    (void)give_back(guard, 0, when_busy::wait, may_put_off::no);
    await_departures(guard);  // what other threads are giving back is room, too
    refused = grow(guard, self, as_tight(asked, tight) ? tight : asked.frugal(), out);
    if (refused == status::ok) return answered_by_driver(&tally_.drain_retries);
  }
  // 9 refuse, with a record
  record_failure(guard, asked, refused);
  return refused;
}

block_record* pool::hand_out(thread_record& self, stream_cache& cache, const request& asked, look_in where) noexcept {
  if (asked.use == segment_use::divided) {
    // All that is idle was looked through for room.
    if (where == look_in::unused_runs || !cache.try_reserve_cut(memory_)) return nullptr;
    run* found = cache.cut(asked.block_bytes);
    // In a window more is asked for than is needed.
    const std::uint64_t needed = round_up(asked.bytes, class_step_min);
    if (found == nullptr && needed < asked.block_bytes) found = cache.cut(needed);
    if (found == nullptr) return nullptr;
    self.stats.add(asked.bytes, found->block_bytes);
    return &cache.make_block(*found, asked.bytes);
  }
  if (!cache.ready(asked.class_index)) {
    const run_kind kind = kind_of(asked.class_index, asked.class_bytes);
    const bool found = (where != look_in::unused_runs && cache.refill(kind, records_of_blocks_)) ||
                       (where != look_in::room && cache.rebuild(kind, records_of_blocks_));
    if (!found) return nullptr;
  }
  run& from = cache.front(asked.class_index);
  self.stats.add(asked.bytes, from.block_bytes);
  return &cache.make_block(from, asked.bytes);
}

block_record* pool::hand_out(thread_record& self, segment& single, const request& asked) noexcept {
  block_record& piece = single.runs->records[0];
  single.state = segment_state::used;
  single.used_beyond_one = 0;
  single.runs->used = 1;
  self.stats.add(asked.bytes, single.bytes);
  piece.requested_bytes = asked.bytes;
  return &piece;
}

block_record* pool::from_stream_cache(thread_record& self, const request& asked, look_in where) noexcept {
  if (!shares(asked.use)) return nullptr;
  stream_cache* const cache = self.find(asked.on);
  return cache == nullptr ? nullptr : hand_out(self, *cache, asked, where);
}

block_record* pool::from_dedicated(thread_record& self, const request& asked) noexcept {
  segment* const single = dedicated_.find(asked.on, asked.class_bytes, asked.bytes);
  return single == nullptr ? nullptr : take_out(self, *single, asked);
}

block_record* pool::take_out(thread_record& self, segment& single, const request& asked) noexcept {
  dedicated_.remove(single);
  common_.stats.idle_bytes -= single.bytes;
  return hand_out(self, single, asked);
}

block_record* pool::from_oversize(thread_record& self, const request& asked) noexcept {
  // Temporaries whose size follows the batch would each have a segment, one in use at a time, and drive each other out
  // of the bound. What is lent beyond a class is lost to others for as long as the block lives, and so is bounded.
  constexpr std::uint64_t times_asked_max = 2;
  constexpr std::uint64_t share_of_bound = 4;
  segment* const larger = is_large(asked) ? dedicated_.find_fitting(asked.on, asked.segment_bytes) : nullptr;
  if (larger == nullptr || larger->bytes > times_asked_max * asked.segment_bytes) return nullptr;
  const std::uint64_t beyond = larger->bytes - asked.segment_bytes;
  if (oversize_bytes_ + beyond > budget_.cached_max() / share_of_bound) return nullptr;
  larger->oversize_bytes = beyond;
  oversize_bytes_ += beyond;
  return take_out(self, *larger, asked);
}

block_record* pool::from_pool(thread_record& self, const request& asked) noexcept {
  if (!shares(asked.use) || !adopt(self, asked)) return nullptr;
  return from_stream_cache(self, asked, look_in::both);
}

block_record* pool::search(thread_record& self, const request& asked, std::uint64_t*& rung) noexcept {
  // A window opened while this waited: what its stream has stays together.
  if (&self != &common_ && pins_.window_of(asked.on) != nullptr) return nullptr;
  // What is ready for the class in the thread's own cache and among large blocks first: only then is what is ready for
  // other classes taken apart, and after that another thread asked.
  rung = &tally_.stream_cache_hits;
  if (block_record* const own = from_stream_cache(self, asked, look_in::room); own != nullptr) return own;
  rung = &tally_.pool_hits;
  if (block_record* const single = from_dedicated(self, asked); single != nullptr) return single;
  rung = &tally_.stream_cache_hits;
  if (block_record* const own = from_stream_cache(self, asked, look_in::unused_runs); own != nullptr) return own;
  rung = &tally_.pool_hits;
  return from_pool(self, asked);
}

void pool::reclaim(lock& guard) noexcept {
  if (capturing()) return;
  departures leaving;
  {
    const claimed all(*this);
    settle_passed(all, leaving);
  }
  (void)send_off(guard, leaving, because::asked);  // blocks made while the cache was off; failures are counted
}

block_record* pool::from_other_stream(thread_record& self, const request& asked) noexcept {
  const claimed all(*this);
  for (segment* single = dedicated_.first_of(asked.class_bytes); single != nullptr;
       single = dedicated_bins::next_of(*single)) {
    if (single->on == asked.on || single->bytes < asked.bytes || !work_finished(all, *single)) continue;
    single->on = asked.on;
    return take_out(self, *single, asked);
  }
  if (!shares(asked.use) || !adopt_across(all, self, asked)) return nullptr;
  return from_stream_cache(self, asked, look_in::both);
}

bool pool::adopt_across(const claimed& all, thread_record& self, const request& asked) noexcept {
  const auto move = [&](stream_cache& former, segment& home) {
    stream_cache* const own = cache_of(self, asked.on);
    if (own == nullptr) return false;
    former.drop(home);
    home.on = asked.on;
    own->take(home);
    return true;
  };
  const auto from = [&](thread_record& record) {
    for (stream_cache* at = record.caches.front(); at != nullptr; at = decltype(record.caches)::next(at)) {
      if (at->on() == asked.on) continue;
      if (segment* const left =
              is_former(at->on()) && works_.finished(at->on(), 0, 0) ? room_in(*at, asked, false) : nullptr;
          left != nullptr) {
        // Nobody asks on that stream any more: its partly used segments are for all, too.
        return move(*at, *left);
      }
      for (segment* home = at->coldest_idle(); home != nullptr; home = stream_cache::warmer(home)) {
        if (!work_finished(all, *home)) break;  // nor has anything warmer of this stream
        if (serves(*home, asked)) return move(*at, *home);
      }
    }
    return false;
  };
  if (from(self) || from(common_)) return true;
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    if (at != &self && from(*at)) return true;
  }
  return false;
}

noted_block* pool::best_pending(const request& asked) noexcept {
  // One that fits as it is; else the oldest, which may make room for one that does.
  noted_block* best = nullptr;
  for (noted_block* block = pending_.first(); block != nullptr; block = pending::next(block)) {
    if (block->waited_for || block->drain_turn == drain_turn_) continue;
    const run& of = *block->piece->home;
    const bool fits =
        of.home->on == asked.on && of.home->use == asked.use &&
        (asked.use == segment_use::shared ? of.class_index == asked.class_index : of.block_bytes >= asked.block_bytes);
    if (fits) return block;
    if (best == nullptr) best = block;
  }
  return best;
}

const segment* pool::best_busy(const claimed& all, const request& asked) noexcept {
  for (const segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
    if (home->state != segment_state::idle || home->use != asked.use || home->on == asked.on) continue;
    const bool fits =
        shares(asked.use) ? serves(*home, asked) : home->class_bytes == asked.class_bytes && home->bytes >= asked.bytes;
    if (fits && !work_finished(all, *home)) return home;
  }
  return nullptr;
}

block_record* pool::after_waiting(lock& guard, thread_record& self, const request& asked) noexcept {
  std::uint64_t* rung = nullptr;
  const auto found = [&]() -> block_record* {
    block_record* const same = search(self, asked, rung);
    return same != nullptr || capturing() ? same : from_other_stream(self, asked);
  };
  ++drain_turn_;  // each block is waited for once, also where the driver fails to
  const std::uint64_t turn = drain_turn_;
  while (noted_block* const block = capturing() ? nullptr : best_pending(asked)) {
    block->drain_turn = turn;
    wait_for_pending(guard, *block);
    reclaim(guard);
    if (block_record* const piece = found(); piece != nullptr) return piece;
    if (drain_turn_ != turn) break;  // another thread drains: it waits for the others
  }
  const segment* busy = nullptr;
  {
    const claimed all(*this);
    busy = best_busy(all, asked);
  }
  if (busy == nullptr || capturing() || wait_for_work(guard, busy->on) != status::ok) return nullptr;
  return found();
}

bool pool::adopt(thread_record& self, const request& asked) noexcept {
  const auto from = [&](thread_record& record, bool idle_only) {
    stream_cache* const cache = &record == &self ? nullptr : record.find(asked.on);
    segment* const home = cache == nullptr ? nullptr : room_in(*cache, asked, idle_only);
    stream_cache* const own = home == nullptr ? nullptr : cache_of(self, asked.on);
    if (own == nullptr) return false;
    cache->drop(*home);
    own->take(*home);
    return true;
  };
  if (from(common_, false)) return true;
  const claimed all(*this);
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    // A running thread keeps what it is in the middle of; what it has wholly idle is for all.
    if (from(*at, at->in_use)) return true;
  }
  return false;
}

std::uint64_t pool::segment_bytes_for(segment_use use, std::uint64_t block_bytes) const noexcept {
  // Steps of 2 MiB also where the device lends less: a large buffer that grows is not to need another at every step.
  const bool exact = use == segment_use::bypass || classes_.shared_max() == 0;
  return source_.granules(exact ? block_bytes : round_up(block_bytes, segment_bytes_min));
}

std::uint64_t pool::generous_bytes_for(const request& asked) const noexcept {
  // A large one that comes again, and is longer each time, gets all of its class: what idles of it was too short.
  if (is_large(asked) && dedicated_.find(asked.on, asked.class_bytes, 0) != nullptr) {
    return std::max(asked.segment_bytes, segment_bytes_for(asked.use, asked.class_bytes));
  }
  if (asked.use != segment_use::divided) return asked.segment_bytes;
  // A block leaves up to a granule of its segment to nobody. The more segments its class has asked for, the more such
  // blocks the next one holds, at the length that wastes least; never so many that the block could not have entered
  // the segment of another, and never much of the bound, because it goes back as a whole. Where nothing is wasted
  // a longer one saves calls alone, and comes later.
  constexpr std::uint64_t share_of_bound = 2;
  constexpr std::uint64_t segments_of_many = 8;
  std::uint64_t best = asked.segment_bytes;
  const std::uint64_t lent = segments_for_[asked.class_index];
  const std::uint64_t blocks_max = std::min<std::uint64_t>(block_share_max, 1 + lent);
  const std::uint64_t most = std::min(divided_bytes_max, budget_.cached_max() / share_of_bound);
  for (std::uint64_t blocks = 2; blocks <= blocks_max; ++blocks) {
    const std::uint64_t bytes = source_.granules(round_up(blocks * asked.block_bytes, segment_bytes_min));
    if (bytes > most || bytes > block_share_max * asked.block_bytes) break;
    // waste / bytes, compared without dividing
    const std::uint64_t waste = bytes % asked.block_bytes * best;
    const std::uint64_t waste_before = best % asked.block_bytes * bytes;
    if (waste < waste_before || (waste == waste_before && blocks <= 1 + lent / segments_of_many)) best = bytes;
  }
  return best;
}

bool pool::as_tight(const request& asked, request& tight) const noexcept {
  const std::uint64_t least = source_.granules(asked.bytes);
  if (least >= asked.segment_bytes) return false;
  tight = asked;
  tight.segment_bytes = tight.generous_bytes = least;
  tight.class_bytes = classes_.rounded_down(least);
  if (shares(tight.use)) tight.use = segment_use::dedicated;
  return true;
}

status pool::borrow(lock& guard, segment& fresh, std::uint64_t bytes, stream on) noexcept {
  const graph* const window = pins_.window_of(on);
  if (window != nullptr && window->policy == capture_policy::refuse) return status::capture_miss;
  if (!budget_.try_reserve(bytes)) return status::capacity_exceeded;

  guard.unlock();
  const status outcome = source_.lend(fresh, bytes, on, window != nullptr);
  guard.lock();

  if (outcome == status::ok) {
    budget_.confirm(bytes);
    ++tally_.driver_allocs;
    recorder_.note(recorder::of_block(ARCALLOC_RECORDED_SEGMENT_ALLOCATE, on, fresh.base, bytes));
  } else {
    budget_.unreserve(bytes);
    if (outcome != status::capture_miss) ++tally_.driver_refusals;
  }
  return outcome;
}

status pool::grow(lock& guard, thread_record& self, const request& asked, block_record*& out) noexcept {
  if (measure_due()) measure(guard);
  const bool shared = shares(asked.use);
  if (is_large(asked) && oom_retry_) make_way(guard, asked.generous_bytes);
  stream_cache* cache = shared ? cache_of(self, asked.on) : nullptr;
  segment* const fresh = shared && cache == nullptr ? nullptr : source_.blank(asked.use);
  if (fresh == nullptr) return status::backend_failed;
  // What a window is lent stays pinned: no more of it than was asked for.
  const bool generous = asked.generous_bytes > asked.segment_bytes && pins_.window_of(asked.on) == nullptr;
  status outcome = generous ? borrow(guard, *fresh, asked.generous_bytes, asked.on) : status::capacity_exceeded;
  if (!generous || outcome == status::capacity_exceeded || outcome == status::device_out_of_memory) {
    outcome = borrow(guard, *fresh, asked.segment_bytes, asked.on);
  }
  if (outcome != status::ok) {
    source_.discard(*fresh);
    return outcome;
  }
  all_.push_back(fresh);
  note_growth(fresh->bytes);
  const bool captured = pins_.window_of(asked.on) != nullptr;  // now, whatever it was before the driver was asked
  if (shared && captured) cache = common_cache(asked.on);
  if (!table_.try_reserve(shared ? fresh->bytes : 0) || (captured && !pins_.try_reserve())) {
    departures unusable;
    fresh->state = segment_state::leaving;
    leaving_bytes_ += fresh->bytes;
    unusable.push_back(fresh);
    (void)send_off(guard, unusable, because::asked);
    return status::backend_failed;
  }
  if (table_.has_outgrown()) {
    const claimed all(*this);  // then nobody reads them
    table_.drop_outgrown();
  }
  table_.insert(*fresh);
  if (shared) {
    fresh->made_for = asked.class_index;
    ++segments_for_[asked.class_index];
    fresh->idle_stamp = ++cache->owner().stamp;
    cache->take(*fresh);
    out = hand_out(self, *cache, asked, look_in::both);
  } else {
    fresh->class_bytes = asked.class_bytes;
    ++single_blocks_;
    out = hand_out(self, *fresh, asked);
  }
  return out != nullptr ? status::ok : status::backend_failed;
}

void pool::evict(lock& guard, std::uint64_t bytes) noexcept {
  departures leaving;
  {
    const claimed all(*this);
    collect_idle(all, bytes, when_busy::skip, leaving);
  }
  (void)send_off(guard, leaving, because::bound);  // what failed is stuck and counted; the driver is asked anyway
}

void pool::make_room(lock& guard, const request& asked, status refused) noexcept {
  std::uint64_t wanted = budget_.shortfall(asked.segment_bytes);
  if (capturing()) return;
  if (refused == status::device_out_of_memory) {
    memory_info device;
    const status answer = query_unlocked(guard, device);
    if (capturing()) return;
    const bool known = answer == status::ok && device.free_bytes < asked.segment_bytes;
    wanted = std::max(wanted, asked.segment_bytes - (known ? device.free_bytes : 0));
  }
  evict(guard, wanted);
  if (refused == status::device_out_of_memory) measure(guard);
}

void pool::make_way(lock& guard, std::uint64_t bytes) noexcept {
  // When the block is freed it is idle, and the bound drives out as much. Sooner, it is not reserved beside the block.
  const std::uint64_t idle = idle_of_all();
  if (idle == 0 || idle + bytes <= budget_.cached_max() || capturing()) return;
  evict(guard, std::min(idle, idle + bytes - budget_.cached_max()));
}

void pool::record_failure(lock& guard, const request& asked, status outcome) noexcept {
  memory_info device;
  const status answer = capturing() ? status::capture_miss : query_unlocked(guard, device);
  const claimed all(*this);
  counters now;
  fill(all, now);  // no sample: peaks are of states between calls, and this is in the middle of one
  failure_ = {};
  failure_.outcome = outcome;
  failure_.requested_bytes = asked.bytes;
  failure_.class_bytes = asked.class_bytes;
  failure_.on = asked.on;
  failure_.allocated_bytes = now.allocated_bytes;
  failure_.pending_bytes = now.pending_bytes;
  failure_.cached_bytes = now.cached_bytes;
  failure_.slack_bytes = now.slack_bytes;
  failure_.pinned_bytes = now.pinned_bytes;
  failure_.stuck_bytes = now.stuck_bytes;
  failure_.reserved_bytes = now.reserved_bytes;
  failure_.cached_bytes_max = now.cached_bytes_max;
  failure_.capacity_bytes = now.capacity_bytes;
  failure_.driver_free_bytes = answer == status::ok ? device.free_bytes : ARCALLOC_NO_BOUND;
  failure_.largest_idle_bytes = largest_idle(all);
}

}  // namespace arcalloc::detail
