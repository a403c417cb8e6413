// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>

#include "arena.hpp"
#include "segment.hpp"
#include "stream_work.hpp"

namespace arcalloc::detail {

/// A use of a block on another stream than its own. `point` is recorded when the block is freed, or later where
/// that cannot be: the stream is being captured then. Where the stream has ended, stream_works knows.
struct foreign_use {
  stream on = default_stream;
  event point = event::none;
  foreign_use* next = nullptr;
};

/// A block that was used on other streams: live until it is freed, then pending until all uses passed.
struct noted_block {
  block_record* piece = nullptr;
  foreign_use* uses = nullptr;
  bool waited_for = false;       ///< a thread waits for its events: they must not be dropped
  std::uint64_t drain_turn = 0;  ///< the last drain that waited for it
  noted_block* next_in_bucket = nullptr;
  list_links<noted_block> in_pending{};
};

/// Blocks with work on foreign streams: the notes of the live ones, and the freed ones in order.
///
/// Called by the pool in note_use, in a free of a noted block, and on the ladder's rungs 3 and 7; calls
/// the backend's event functions that do not block. Guarded by the pool's mutex.
/// Equation: bytes() = sum of the block sizes of those that are freed and not settled.
/// Cost: an event per foreign use when the block is freed, a query per use when it is looked at.
class pending {
 public:
  pending(backend& device, arena& memory, stream_works& works) noexcept
      : device_(device), memory_(memory), works_(works) {}
  ~pending();
  pending(const pending&) = delete;
  pending& operator=(const pending&) = delete;

  /// Notes a use of a live or pending block; a second use on the same stream needs no second note. False when the
  /// host has no memory.
  [[nodiscard]] bool note(block_record& piece, stream on) noexcept;

  /// Takes a noted block into the pending ones: records an event on every stream that used it. On
  /// failure the driver's status, and the block is live and noted as before.
  [[nodiscard]] status defer(block_record& piece) noexcept;

  /// The same for a block that nobody holds any more: what cannot be recorded now is recorded later.
  void defer_late(block_record& piece) noexcept;

  /// Records what was left for later, as far as the device will.
  void record_late() noexcept;

  /// Host memory for `uses` more notes. After true, as many of them succeed.
  [[nodiscard]] bool try_reserve(std::uint64_t uses) noexcept;

  [[nodiscard]] bool is_used_on(stream on) const noexcept;
  /// What was used on `from` counts as used on `to`.
  void rename(stream from, stream to) noexcept;

  /// Asks for the block's unfinished uses, and drops what passed. True when none is left.
  [[nodiscard]] bool passed(noted_block& block) noexcept;

  /// The block is no longer pending: its record, ready to be pushed. Requires: no use is left.
  block_record& settle(noted_block& block) noexcept;

  [[nodiscard]] noted_block* first() const noexcept { return waiting_.front(); }
  [[nodiscard]] static noted_block* next(const noted_block* block) noexcept { return deferred::next(block); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t events_recorded() const noexcept { return events_recorded_; }

  /// Waits for every use, noted or pending, ignoring what the driver says: for the end of the pool, which waits
  /// for ended streams itself.
  void wait_for_all() noexcept;

 private:
  using deferred = list<noted_block, &noted_block::in_pending>;
  static constexpr std::uint32_t bucket_count = 256;

  [[nodiscard]] noted_block*& bucket_of(const block_record& piece) noexcept;
  [[nodiscard]] noted_block* find(const block_record& piece) noexcept;
  [[nodiscard]] noted_block* find_waiting(const block_record& piece) noexcept;
  void unlink(noted_block& block) noexcept;
  [[nodiscard]] bool records_now(const foreign_use& use) const noexcept;
  void enter(noted_block& block) noexcept;
  template <class Visit>
  void for_each_use(Visit visit) const noexcept;
  [[nodiscard]] bool passed(foreign_use& use) noexcept;

  backend& device_;
  arena& memory_;
  stream_works& works_;
  noted_block* buckets_[bucket_count] = {};
  noted_block* spare_blocks_ = nullptr;  // chained through next_in_bucket
  foreign_use* spare_uses_ = nullptr;
  deferred waiting_;
  std::uint64_t bytes_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t events_recorded_ = 0;
  bool any_late_ = false;
};

}  // namespace arcalloc::detail
