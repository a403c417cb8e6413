// SPDX-License-Identifier: Apache-2.0
// Hits while calls are recorded: the same answers from the same places as the hit path and what lies near it, and a
// note of each in the thread's page, inside its gate. Where there is no page, or it is full, the pool answers, which
// writes what was noted afterwards.
#include "hit_path.hpp"

namespace arcalloc::detail {

namespace {

static_assert(std::uint64_t{1} << hit_page::step_bits == class_step_min, "what a note counts in");
static_assert(shared_bytes_max >> 32 == 0, "what a note has for requested bytes");

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

/// What allocate_noted leaves over.
[[gnu::noinline]] status allocate_noted_beside(const door& way, thread_record& self, std::uint64_t bytes, stream on,
                                               void*& address, void*& record) noexcept {
  if (self.gate.try_enter_noted()) {
    hit_page* const page = self.page;
    if (page != nullptr && !page->is_full()) {
      if (run* const from = ready_run(way, self, bytes, on); from != nullptr) {
        ++self.stats.hits;
        self.stats.add(bytes, from->block_bytes);
        block_record& piece = stream_cache::take_piece(*from);
        piece.requested_bytes = bytes;
        segment& home = *from->home;
        if (++home.used_beyond_one == 0) home.cache->wake(home);
        page->make_ready(piece.address, home.on, way.shared->order());
        page->note_allocate(piece.address, bytes);
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

/// What free_noted leaves over.
[[gnu::noinline]] status free_noted_beside(const door& way, thread_record& self, block_record* piece,
                                           const void* address, std::uint64_t bytes, stream on) noexcept {
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
        page->make_ready(found->address, home.on, way.shared->order());
        page->note_free(found->address);
        return take_back(way, self, *found, of, home, bytes, on);
      }
    }
    self.gate.leave();
  }
  return way.shared->recycle(piece, {address, bytes, on});
}

/// free_noted where the caller has no handle.
[[gnu::noinline]] status free_noted_by_address(const door& way, thread_record& self, const void* address,
                                               std::uint64_t bytes, stream on) noexcept {
  if (self.gate.try_enter_noted_open() && self.page != nullptr) [[likely]] {
    const void* const step = whole_step(address);
    segment& home = way.shared->table().first_for(step);
    if (home.owner.load(std::memory_order_relaxed) == &self && home.contains(step)) [[likely]] {
      block_record& piece = candidate_at(home, step);
      if (is_plain(piece, home, address, bytes, on) && home.used_beyond_one != 0 && self.page->has_room() &&
          self.page->is_of(way.shared->order()) && self.page->is_on(home.on) && self.page->reaches(address))
          [[likely]] {
        self.page->note_free(address);
        return take_back(way, self, piece, *piece.home, home, bytes, on);
      }
    }
  }
  self.gate.leave();
  return free_noted_beside(way, self, nullptr, address, bytes, on);
}

}  // namespace

// Each begins with what a hit in the front run, or its free, needs where it goes on with the page's last stretch:
// without a call but in tail position, so that it saves few registers, like the hit path none.

status allocate_noted(const door& way, thread_record& self, std::uint64_t bytes, stream on, void*& address,
                      void*& record) noexcept {
  if (self.gate.try_enter_noted_open() && self.page != nullptr && self.recent_stream == on) [[likely]] {
    hit_page& page = *self.page;
    run& from = *self.recent_cache->at(way.shared->classes().look_up(bytes)).front;
    if (from.idle != nullptr && page.has_room() && page.is_of(way.shared->order()) && page.is_on(from.home->on) &&
        page.reaches(from.idle->address)) [[likely]] {
      ++self.stats.hits;
      self.stats.add(bytes, from.block_bytes);
      block_record& piece = stream_cache::take_piece(from);
      piece.requested_bytes = bytes;
      page.note_allocate(piece.address, bytes);
      address = piece.address;
      record = &piece;
      if (segment& home = *from.home; ++home.used_beyond_one == 0) [[unlikely]]
        return finish_waking(self, home);
      self.gate.leave();
      return status::ok;
    }
  }
  self.gate.leave();
  return allocate_noted_beside(way, self, bytes, on, address, record);
}

status free_noted(const door& way, thread_record& self, block_record* piece, const void* address, std::uint64_t bytes,
                  stream on) noexcept {
  if (piece == nullptr) return free_noted_by_address(way, self, address, bytes, on);
  if (self.gate.try_enter_noted_open() && self.page != nullptr) [[likely]] {
    run& of = piece->home_unguarded();
    segment& home = *of.home;
    if (home.owner.load(std::memory_order_relaxed) == &self && is_plain(*piece, home, address, bytes, on) &&
        home.used_beyond_one != 0 && self.page->has_room() && self.page->is_of(way.shared->order()) &&
        self.page->is_on(home.on) && self.page->reaches(address)) [[likely]] {
      self.page->note_free(address);
      return take_back(way, self, *piece, of, home, bytes, on);
    }
  }
  self.gate.leave();
  return free_noted_beside(way, self, piece, address, bytes, on);
}

}  // namespace arcalloc::detail
