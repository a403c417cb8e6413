// SPDX-License-Identifier: Apache-2.0
// Hits while calls are recorded: the same answers from the same places as the hit path and what lies near it, and a
// note of each in the thread's page, inside its gate. Where there is no page, or it is full, the pool answers, which
// writes what was noted afterwards.
#include "hit_path.hpp"

namespace arcalloc::detail {

namespace {

/// The run that the hit path would take from, or allocate_beside after it; null where the pool has to answer.
run* ready_run(const door& way, thread_record& self, std::uint64_t bytes, stream on) noexcept {
  const size_classes& classes = way.shared->classes();
  const std::uint32_t class_index = classes.look_up(bytes);
  const bool recent = self.recent_stream == on;
  if (recent) {
    bin& at = self.recent_cache->at(class_index);
    run* const from = at.front->idle != nullptr ? at.front : stream_cache::pass_over_front(at);
    if (from != nullptr) return from;
  }
  stream_cache* const cache = self.find(on);
  return cache == nullptr ? nullptr : cache->ready_run(classes, bytes, class_index, recent);
}

}  // namespace

status allocate_noted(const door& way, thread_record& self, std::uint64_t bytes, stream on, void*& address,
                      void*& record) noexcept {
  if (self.gate.try_enter_noted()) {
    if (hit_page* const page = self.page; page != nullptr && !page->is_full()) {
      if (run* const from = ready_run(way, self, bytes, on); from != nullptr) {
        ++self.stats.hits;
        self.stats.add(bytes, from->block_bytes);
        block_record& piece = stream_cache::take_piece(*from);
        piece.requested_bytes = bytes;
        segment& home = *from->home;
        if (++home.used_beyond_one == 0) home.cache->wake(home);
        page->add(hit_page::allocate, piece.address, bytes, home.on, way.shared->order());
        address = piece.address;
        record = &piece;
        self.gate.leave();
        return status::ok;
      }
    }
    self.gate.leave();
  }
  block_record* piece = nullptr;
  const status outcome = way.shared->acquire(bytes, identity_of(on), piece);
  if (outcome != status::ok) return outcome;
  address = piece->address;
  record = piece;
  return status::ok;
}

status free_noted(const door& way, thread_record& self, block_record* piece, const void* address, std::uint64_t bytes,
                  stream on) noexcept {
  if (self.gate.try_enter_noted()) {
    block_record* found = piece;
    if (found == nullptr) {
      const segment* const home = way.shared->table().find(address);
      const bool own = home != nullptr && home->owner.load(std::memory_order_relaxed) == &self;
      found = own ? record_at(*home, address) : nullptr;
    }
    hit_page* const page = self.page;
    if (found != nullptr && page != nullptr && !page->is_full()) {
      run& of = found->home_unguarded();
      segment& home = *of.home;
      // Another thread's segment is not looked at further. One that would leave more idle than is leased is the pool's,
      // as on the hit path.
      if (home.owner.load(std::memory_order_relaxed) == &self && is_plain(*found, home, address, bytes, on) &&
          (home.used_beyond_one != 0 || self.stats.idle_bytes + home.bytes <= self.lease_bytes)) {
        page->add(hit_page::free, found->address, 0, home.on, way.shared->order());
        return take_back(way, self, *found, of, home, bytes, on);
      }
    }
    self.gate.leave();
  }
  return way.shared->recycle(piece, {address, bytes, on});
}

}  // namespace arcalloc::detail
