// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "owner_lock.hpp"
#include "recorder.hpp"
#include "stats.hpp"
#include "stream_cache.hpp"
#include "stream_identity.hpp"

namespace arcalloc::detail {

/// Stands where a record has no recent cache: it is never ready, so the hit path looks for no null.
extern stream_cache no_cache;

/// What one thread has of one allocator: its stream caches, their lease, and its half of the counters.
///
/// Found through a thread-local on every call; made at a thread's first call. When the thread exits the
/// record is the pool's, with the memory in it, until the next new thread takes it over.
/// Concurrency: everything but `gate` belongs to whoever is inside `gate`: the owner on a hit, or a
/// claimant under the pool's mutex. A record without an owner is guarded by the mutex alone.
/// Equation: stats.idle_bytes = bytes of the idle segments of its caches; <= lease_bytes after a call, unless a window
/// is open.
struct alignas(128) thread_record {
  owner_lock gate;
  stream recent_stream = default_stream;
  stream_cache* recent_cache = &no_cache;  ///< of recent_stream, as the owner says it
  thread_stats stats{};
  std::uint64_t lease_bytes = 0;
  std::uint64_t stamp = 0;  ///< the last idle_stamp given; follows the pool's epoch

  static constexpr std::uint32_t bucket_count = 256;  // a chain of four at a thousand streams
  stream_cache* buckets[bucket_count] = {};           ///< chained by hash of the stream
  list<stream_cache, &stream_cache::in_owner> caches;
  list_links<thread_record> in_pool{};
  bool in_use = false;       ///< a thread owns it
  hit_page* page = nullptr;  ///< where its hits are noted; null: nowhere yet

  /// The cache of this stream, or null. Owner inside the gate, or under the pool's mutex; the owner alone may
  /// say per_thread_stream.
  [[nodiscard]] stream_cache* find(stream on) noexcept {
    if (recent_stream == on && recent_cache != &no_cache) [[likely]]
      return recent_cache;
    return find_in_buckets(on);
  }
  [[nodiscard]] stream_cache* find_in_buckets(stream said) noexcept;
  void add(stream_cache& fresh) noexcept;
  /// For its next owner, to whom per_thread_stream means another stream.
  void forget_recent() noexcept { recent_cache = &no_cache; }
};

// Here because they count in their owner's record.

inline void stream_cache::wake(segment& home) noexcept {
  idle_.remove(&home);
  used_.insert(home);
  home.state = segment_state::used;
  owner_->stats.idle_fell(home.bytes);
}

inline void stream_cache::rest(segment& home) noexcept {
  used_.remove(home);
  idle_.push_front(&home);
  home.state = segment_state::idle;
  home.idle_stamp = ++owner_->stamp;
  owner_->stats.idle_rose(home.bytes);
}

}  // namespace arcalloc::detail
