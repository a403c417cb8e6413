// SPDX-License-Identifier: Apache-2.0
// Profiles: what a warm-up asked for, recorded; the cache filled to it; and whether it is.
#include "pool.hpp"

namespace arcalloc::detail {

status pool::begin_profile() noexcept {
  const lock guard(mutex_);
  if (demand_.recording()) return status::invalid_argument;
  demand_.start();
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    if (at->in_use) at->gate.set_gate(owner_lock::gate_profile);
  }
  return status::ok;
}

status pool::end_profile(profile& out) noexcept {
  const lock guard(mutex_);
  if (!demand_.recording()) return status::invalid_argument;
  const claimed all(*this);
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    at->gate.clear_gate(owner_lock::gate_profile);
  }
  for (segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
    if (home->state != segment_state::leaving)
      for_each_block(*home, [](block_record& piece) { piece.unmark(profiled_flag); });
  }
  return demand_.stop(out) ? status::ok : status::backend_failed;
}

void pool::note_profiled(block_record& piece, const request& asked) noexcept {
  if (demand_.note_out(asked.on, classes_.rounded(asked.bytes))) piece.requested_bytes |= profiled_flag;
}

status pool::prewarm(const profile& wanted, profile* missing) noexcept {
  lock guard(mutex_);
  if (capturing()) return status::invalid_argument;
  const one_change call(*this);
  return fill(guard, wanted, may_grow::yes, missing);
}

status pool::verify(const profile& wanted, profile* missing) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  return fill(guard, wanted, may_grow::no, missing);
}

block_record* pool::hold(lock& guard, thread_record& self, const request& asked, may_grow grows,
                         std::uint64_t& held_bytes, status& refused) noexcept {
  std::uint64_t* rung = nullptr;
  block_record* piece = search(self, asked, rung);
  if (piece != nullptr) {
    // The first block of its segment: that was idle until now.
    if (const segment& home = *piece->home->home; home.used() == 1) held_bytes += home.bytes;
  } else if (grows == may_grow::yes) {
    // What is held will all be idle at once: it must fit the bound before the device is asked for more. What idles
    // beside it goes first, as it would once all is idle.
    const std::uint64_t bound = budget_.cached_max();
    if (bypass_ || held_bytes + asked.segment_bytes > bound) {
      refused = status::capacity_exceeded;
      return nullptr;
    }
    const std::uint64_t wanted = idle_of_all() + held_bytes + asked.segment_bytes;
    if (wanted > bound) evict(guard, wanted - bound);
    if (idle_of_all() + held_bytes + asked.segment_bytes > bound) {
      refused = status::capacity_exceeded;
      return nullptr;
    }
    refused = grow(guard, self, asked, piece);
    if (refused != status::ok) return nullptr;
    held_bytes += piece->home->home->bytes;
  } else {
    return nullptr;
  }
  // A request that nobody made: it is in no count of requests, and its bytes are out with nobody.
  self.stats.subtract(piece->requested(), piece->home->block_bytes);
  piece->requested_bytes = 0;
  return piece;
}

status pool::fill(lock& guard, const profile& wanted, may_grow grows, profile* missing) noexcept {
  thread_record* const own = own_record();
  thread_record& mine = own != nullptr ? *own : common_;
  tick(mine);
  if (missing != nullptr) missing->clear();
  status outcome = status::ok;
  block_record* held = nullptr;  // chained through next_idle
  std::uint64_t held_bytes = 0;
  std::uint64_t short_bytes = 0;
  for (const profile_entry& entry : wanted.entries()) {
    if (entry.bytes == 0 || entry.blocks == 0) continue;
    if (entry.bytes > request_bytes_max) {
      outcome = status::request_too_large;
      if (missing != nullptr && !missing->add(entry)) outcome = status::backend_failed;
      continue;
    }
    // A block that is cut merges when it is freed: what is to be ready has a segment to itself, and its class's size.
    request asked = by_class(classify(entry.bytes, identity_of(entry.on)));
    if (asked.use == segment_use::divided) {
      asked.use = segment_use::dedicated;
      asked.segment_bytes = asked.generous_bytes = source_.granules(asked.class_bytes);
    }
    thread_record& self = pins_.window_of(asked.on) != nullptr ? common_ : mine;
    status refused = status::capture_miss;  // unless the device or a bound has something to say
    std::uint64_t left = entry.blocks;
    for (; left > 0; --left) {
      block_record* const piece = hold(guard, self, asked, grows, held_bytes, refused);
      if (piece == nullptr) break;
      piece->next_idle = held;
      held = piece;
    }
    if (left == 0) continue;
    short_bytes += left * asked.class_bytes;
    if (outcome == status::ok) outcome = refused;
    if (missing != nullptr && !missing->add({entry.on, entry.bytes, left})) outcome = status::backend_failed;
  }
  departures leaving;
  {
    const claimed all(*this);
    while (block_record* const piece = held) {
      held = piece->next_idle;
      put_back(*piece, nullptr, leaving);
    }
  }
  if (beyond_lease_ || !covered(mine)) obey_cached_max(guard);
  (void)send_off(guard, leaving, because::asked);
  sample_beside_others();  // not while they were held: nobody has requested them
  if (grows == may_grow::no && outcome == status::capture_miss) {
    const std::uint64_t idle = idle_of_all();
    const bool fits = short_bytes <= budget_.capacity_bytes() - budget_.reserved_bytes() &&
                      idle < budget_.cached_max() && short_bytes <= budget_.cached_max() - idle;
    if (!fits) outcome = status::capacity_exceeded;
  }
  return outcome;
}

}  // namespace arcalloc::detail
