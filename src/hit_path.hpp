// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pool.hpp"

// The hit path: what an allocate and a deallocate do when the calling thread's own stream cache for the stream has
// what is wanted. It is inlined into each door (the C++ class, the C ABI), and whatever else may be the case is a
// call in tail position, so that a hit saves no register and has no frame. Three ways:
//
//   the hit    the thread's last allocator and last stream, the front run of the class or the one behind it
//   near it    (hit_path.cpp; noted_path.cpp while calls are recorded) another allocator or stream, another run, a
//   segment that wakes or rests: inside the
//              gate still, without the mutex
//   the pool   everything else; it looks again under its mutex
//
// A hit takes no lock and does no atomic read-modify-write, no host allocation, no driver call and no event.
// tests/instructions counts what it costs, exactly.

namespace arcalloc::detail {

// In hit_path.cpp. Each is told all that the hit path was told, and begins anew.
[[nodiscard]] status allocate_beside(const door& way, std::uint64_t bytes, stream on, void*& address,
                                     void*& record) noexcept;
[[nodiscard]] status free_beside(const door& way, block_record* piece, const void* address, std::uint64_t bytes,
                                 stream on) noexcept;

// In noted_path.cpp: the same while calls are recorded, for the calling thread's own record.
[[nodiscard]] status allocate_noted(const door& way, thread_record& self, std::uint64_t bytes, stream on,
                                    void*& address, void*& record) noexcept;
[[nodiscard]] status free_noted(const door& way, thread_record& self, block_record* piece, const void* address,
                                std::uint64_t bytes, stream on) noexcept;

// In hit_path.cpp, called inside the gate, which they leave.
[[nodiscard]] status finish_waking(thread_record& self, segment& home) noexcept;
[[nodiscard]] status finish_rejoining(thread_record& self, run& of) noexcept;
[[nodiscard]] status free_last(const door& way, thread_record& self, block_record& piece, std::uint64_t bytes,
                               stream on) noexcept;

/// Answers a request of any size. `on` is as the caller said it. On success `address` and `record` are the block's,
/// else both are null.
[[nodiscard, gnu::always_inline]] inline status allocate(const door& way, std::uint64_t bytes, stream on,
                                                         void*& address, void*& record) noexcept {
  if (recent_of_thread.identity == way.identity) [[likely]] {
    thread_record& self = *recent_of_thread.record;
    if (self.gate.try_enter_open() && self.recent_stream == on) [[likely]] {
      bin& at = self.recent_cache->at(way.shared->classes().look_up(bytes));
      run* from = at.front;
      if (from->idle == nullptr) [[unlikely]]
        from = stream_cache::pass_over_front(at);
      if (from != nullptr) [[likely]] {
        ++self.stats.hits;
        self.stats.add(bytes, from->block_bytes);
        block_record& piece = stream_cache::take_piece(*from);
        piece.requested_bytes = bytes;
        address = piece.address;
        record = &piece;
        if (segment& home = *from->home; ++home.used_beyond_one == 0) [[unlikely]]
          return finish_waking(self, home);
        self.gate.leave();
        return status::ok;
      }
    }
    self.gate.leave();
  }
  return allocate_beside(way, bytes, on, address, record);
}

/// True where the block is live, starts at `address`, needs nothing but to be idle again, and `bytes` and `on` are
/// right for it. Requires: it lies in `home`, which is the calling thread's own; inside its gate.
[[nodiscard]] inline bool is_plain(const block_record& piece, const segment& home, const void* address,
                                   std::uint64_t bytes, stream on) noexcept {
  return piece.address == address && static_cast<std::int64_t>(piece.requested_bytes) > 0 &&
         (bytes == any_bytes || bytes == piece.requested_bytes) && (on == blocks_own_stream || on == home.on);
}

/// Takes a plain block back; leaves the gate.
[[nodiscard, gnu::always_inline]] inline status take_back(const door& way, thread_record& self, block_record& piece,
                                                          run& of, segment& home, std::uint64_t bytes,
                                                          stream on) noexcept {
  if (--home.used_beyond_one < 0) [[unlikely]]
    return free_last(way, self, piece, bytes, on);
  ++self.stats.frees;
  self.stats.subtract(piece.requested_bytes, of.block_bytes);
  stream_cache::put_piece(piece, of);
  if (!of.listed) [[unlikely]] {
    if (home.use != segment_use::shared) return finish_rejoining(self, of);
    home.cache->enlist(of);
  }
  self.gate.leave();
  return status::ok;
}

/// Takes a block back by its handle. `address` is what the handle says; `on` an identity, or blocks_own_stream.
[[nodiscard, gnu::always_inline]] inline status free_by_handle(const door& way, block_record& piece,
                                                               const void* address, stream on) noexcept {
  if (recent_of_thread.identity == way.identity) [[likely]] {
    thread_record& self = *recent_of_thread.record;
    if (self.gate.try_enter_open()) [[likely]] {
      run& of = piece.home_unguarded();
      segment& home = *of.home;
      if (home.owner.load(std::memory_order_relaxed) == &self && is_plain(piece, home, address, any_bytes, on))
          [[likely]]
        return take_back(way, self, piece, of, home, any_bytes, on);
    }
    self.gate.leave();
  }
  return free_beside(way, &piece, address, any_bytes, on);
}

/// The same by address; null is ok.
[[nodiscard, gnu::always_inline]] inline status free_by_address(const door& way, void* address, std::uint64_t bytes,
                                                                stream on) noexcept {
  if (recent_of_thread.identity == way.identity) [[likely]] {
    thread_record& self = *recent_of_thread.record;
    if (self.gate.try_enter_open()) [[likely]] {
      const void* const step = whole_step(address);
      segment& home = way.shared->table().first_for(step);
      if (home.owner.load(std::memory_order_relaxed) == &self && home.contains(step)) [[likely]] {
        block_record& piece = candidate_at(home, step);
        if (is_plain(piece, home, address, bytes, on)) [[likely]]
          return take_back(way, self, piece, *piece.home, home, bytes, on);
      }
    }
    self.gate.leave();
  }
  return free_beside(way, nullptr, address, bytes, on);
}

}  // namespace arcalloc::detail
