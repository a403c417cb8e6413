// SPDX-License-Identifier: Apache-2.0
// What lies near a hit: the calling thread's own memory still answers, inside its gate and without the mutex, but
// not from where the hit path looked first. After that the pool.
#include "hit_path.hpp"

namespace arcalloc::detail {

status allocate_beside(const door& way, std::uint64_t bytes, stream on, void*& address, void*& record) noexcept {
  address = nullptr;
  record = nullptr;
  if (bytes == 0) return status::ok;
  const bool recent = recent_of_thread.identity == way.identity;
  thread_record* const self = find_record(way.identity);
  const bool open = self != nullptr && self->gate.try_enter_open();
  if (open || (self != nullptr && self->gate.try_enter())) {
    const std::uint32_t class_index = way.shared->classes().look_up(bytes);
    // Then the hit path has looked, and passed over a full run: what is in front now may be in an idle segment, and is
    // for later, when no partly used segment has room.
    const bool passed_over = recent && open && self->recent_stream == on;
    stream_cache* const cache = self->find(on);
    run* const from =
        cache == nullptr ? nullptr : cache->ready_run(way.shared->classes(), bytes, class_index, passed_over);
    if (from != nullptr) {
      ++self->stats.hits;
      self->stats.add(bytes, from->block_bytes);
      block_record& piece = cache->make_block(*from, bytes);
      self->gate.leave();
      address = piece.address;
      record = &piece;
      return status::ok;
    }
    self->gate.leave();
  } else if (self != nullptr && self->gate.notes()) {
    return allocate_noted(way, *self, bytes, on, address, record);
  }
  block_record* piece = nullptr;
  const status outcome = way.shared->acquire(bytes, identity_of(on), piece);
  if (outcome != status::ok) return outcome;
  address = piece->address;
  record = piece;
  return status::ok;
}

status free_beside(const door& way, block_record* piece, const void* address, std::uint64_t bytes, stream on) noexcept {
  if (piece == nullptr && address == nullptr && (bytes == any_bytes || bytes == 0)) return status::ok;
  thread_record* const self = find_record(way.identity);
  if (self != nullptr && self->gate.try_enter()) {
    block_record* found = piece;
    if (found == nullptr) {
      const segment* const home = way.shared->table().find(address);
      const bool own = home != nullptr && home->owner.load(std::memory_order_relaxed) == self;
      found = own ? record_at(*home, address) : nullptr;
    }
    if (found != nullptr) {
      run& of = found->home_unguarded();
      segment& home = *of.home;
      if (home.owner.load(std::memory_order_relaxed) == self && is_plain(*found, home, address, bytes, on)) {
        return take_back(way, *self, *found, of, home, bytes, on);
      }
    }
    self->gate.leave();
  } else if (self != nullptr && self->gate.notes()) {
    return free_noted(way, *self, piece, address, bytes, on);
  }
  return way.shared->recycle(piece, {address, bytes, on});
}

status finish_waking(thread_record& self, segment& home) noexcept {
  home.cache->wake(home);
  self.gate.leave();
  return status::ok;
}

status finish_rejoining(thread_record& self, run& of) noexcept {
  of.home->cache->list_again(of);
  self.gate.leave();
  return status::ok;
}

status free_last(const door& way, thread_record& self, block_record& piece, std::uint64_t bytes, stream on) noexcept {
  segment& home = *piece.home->home;
  // A free that would leave more idle than is leased is the pool's: the bound holds at every instant, not only
  // after the call.
  if (self.stats.idle_bytes + home.bytes > self.lease_bytes) {
    ++home.used_beyond_one;
    self.gate.leave();
    return way.shared->recycle(&piece, {piece.address, bytes, on});
  }
  const std::uint64_t requested = piece.requested_bytes;
  run& of = *piece.home;
  const std::uint64_t allocated = of.block_bytes;  // a part merges with its neighbours
  ++self.stats.frees;
  stream_cache::put_piece(piece, of);
  if (!of.listed) home.cache->list_again(of);
  home.cache->rest(home);
  self.stats.subtract(requested, allocated);
  self.gate.leave();
  return status::ok;
}

}  // namespace arcalloc::detail
