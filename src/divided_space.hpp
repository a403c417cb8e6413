// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arena.hpp"
#include "recycled.hpp"
#include "segment.hpp"

namespace arcalloc::detail {

/// What is idle in a stream cache's divided segments. A request is cut, to 512 bytes, from the smallest idle part that
/// is large enough and may serve it, of a partly used segment if one has any; what comes back merges with its idle
/// neighbours at once.
///
/// Called by its stream cache, and guarded as it is; calls nothing, but the arena in try_reserve. A cut and its return
/// take no lock and make no driver call.
/// Equations: two neighbours are never both idle; an idle part above run_block_bytes_max is in the list of its size,
/// another serves nobody before it merges; count() = parts of its segments.
/// Cost: a cut looks through one list, 32 a doubling, and at the next that has any; a return looks at two neighbours.
class divided_space {
 public:
  /// True where the next cut finds host memory for what it leaves.
  [[nodiscard]] bool try_reserve(arena& memory) noexcept { return reserve(spare_, &part::after, memory); }

  /// An idle part of exactly so many bytes, in no list, or null. Requires: bytes > run_block_bytes_max, whole steps of
  /// 512; whoever asked makes a block of it.
  [[nodiscard]] part* cut(std::uint64_t bytes) noexcept;

  /// A part that is idle again, and in no list.
  void rejoin(part& back) noexcept;

  /// The segment that a cut would be made in, or null; of the idle ones alone, if wanted.
  [[nodiscard]] segment* find_room(std::uint64_t bytes, bool idle_only) const noexcept;

  /// Lists, or unlists, what is idle in the segment.
  void take(segment& home) noexcept;
  void drop(segment& home) noexcept;

  /// Forgets what began where in a wholly idle segment that was dropped; its one part stays with it.
  void forget_blocks(segment& home) noexcept;

  /// Used and idle.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  /// Calls visit(bytes) for each idle part that could serve a request.
  template <class Visit>
  void for_each_idle(Visit visit) const noexcept {
    for (const run* at : lists_) {
      for (; at != nullptr; at = at->in_bin.next) visit(at->block_bytes);
    }
  }

 private:
  static constexpr std::uint32_t log2_lists = 5;                // a doubling
  static constexpr std::uint32_t list_count = 5 << log2_lists;  // above 1 MiB, to 32
  static constexpr std::uint32_t row_bits = 64;

  [[nodiscard]] static std::uint32_t list_of(std::uint64_t bytes) noexcept;
  [[nodiscard]] part* find(std::uint64_t bytes, bool idle_only) const noexcept;
  [[nodiscard]] std::uint32_t next_list(std::uint32_t from) const noexcept;
  void list(part& idle) noexcept;
  void unlist(part& idle) noexcept;
  void absorb_next(part& into) noexcept;
  void note_begin(part& block) noexcept;
  void make_spare(part& gone) noexcept;

  run* lists_[list_count] = {};
  std::uint64_t filled_[(list_count + row_bits - 1) / row_bits] = {};  ///< a bit for each list that has any
  part* spare_ = nullptr;                                              ///< chained through after
  std::uint64_t count_ = 0;
};

}  // namespace arcalloc::detail
