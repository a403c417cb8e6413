// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arena.hpp"
#include "segment.hpp"

namespace arcalloc::detail {

/// Idle segments of one block each, by class and stream: large classes, tight blocks, and all blocks
/// under geometry `exact`. A hash of chains, last freed first, beside a list in order of coldness.
///
/// Called by the pool and the ladder, calls nothing; guarded by the pool's mutex.
/// All that are in it are idle.
class dedicated_bins {
 public:
  explicit dedicated_bins(arena& memory) noexcept : memory_(memory) {}

  /// Makes room for one more. False when the host has no memory; nothing is lost then, lookups of
  /// what is there go on, only slower.
  [[nodiscard]] bool try_reserve() noexcept;

  /// Files an idle segment. Requires: try_reserve() succeeded once.
  void insert(segment& idle) noexcept;
  void remove(segment& idle) noexcept;

  /// The last freed segment of this class on this stream that has so many bytes, or null.
  [[nodiscard]] segment* find(stream on, std::uint64_t class_bytes, std::uint64_t bytes) const noexcept;

  /// The smallest segment of at least `bytes` on this stream, the last freed of equals; or null. Looks at all.
  [[nodiscard]] segment* find_fitting(stream on, std::uint64_t bytes) const noexcept;

  /// All segments of a class, whatever their stream.
  [[nodiscard]] segment* first_of(std::uint64_t class_bytes) const noexcept;
  [[nodiscard]] static segment* next_of(const segment& at) noexcept;

  [[nodiscard]] segment* coldest() const noexcept { return by_age_.back(); }
  [[nodiscard]] static segment* warmer(const segment* than) noexcept { return ages::previous(than); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t classes() const noexcept { return classes_; }

 private:
  using ages = list<segment, &segment::in_cache>;
  using chain = list<segment, &segment::in_class>;

  [[nodiscard]] chain& chain_of(std::uint64_t class_bytes) const noexcept;

  arena& memory_;
  chain* chains_ = nullptr;
  std::uint64_t chain_count_ = 0;  ///< a power of two
  ages by_age_;
  std::uint64_t count_ = 0;
  std::uint64_t classes_ = 0;
};

}  // namespace arcalloc::detail
