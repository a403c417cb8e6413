// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>

#include "segment.hpp"

namespace arcalloc::detail {

/// The partly used segments of a stream cache, filed by their size and by their longest span of idle units, so that
/// whoever wants room for a run looks only where there may be some.
///
/// Called by its stream cache, and guarded as it is; calls nothing. Filing and finding a place cost a few
/// instructions, so that a segment that wakes or rests does not feel it.
/// Equation: a segment is in the list of its bytes and its idle_span; whoever changes that takes it out meanwhile.
class room_index {
 public:
  void insert(segment& home) noexcept { list_of(home).push_back(&home); }
  void remove(segment& home) noexcept { list_of(home).remove(&home); }

  /// Any of them, or null.
  [[nodiscard]] segment* any() const noexcept {
    for (const segments& at : lists_) {
      if (!at.empty()) return at.front();
    }
    return nullptr;
  }

  /// The first whose idle units have room for a run of the kind, or null: of the smallest size, and of those one of the
  /// shortest span, give or take a factor of two each.
  [[nodiscard]] segment* find(const run_kind& kind) const noexcept {
    for (std::uint32_t size = size_index(std::max(kind.block_bytes, segment_bytes_min)); size < sizes; ++size) {
      const std::uint64_t bytes_most = segment_bytes_min << size;
      if (size > 0 && bytes_most / 2 >= run_share_max * kind.block_bytes)
        return nullptr;  // nor may it enter a larger one
      const std::uint64_t least = size == 0          ? kind.run_units
                                  : size < sizes - 1 ? (kind.block_bytes * segment_units + bytes_most - 1) / bytes_most
                                                     : 1;
      if (least > segment_units) continue;
      for (auto span = static_cast<std::uint32_t>(std::bit_width(least)); span < spans; ++span) {
        for (segment* home = lists_[size * spans + span].front(); home != nullptr; home = segments::next(home)) {
          if (units_in(*home, kind) <= home->idle_span && may_enter(*home, kind.block_bytes)) return home;
        }
      }
    }
    return nullptr;
  }

  /// The first that passes the test, or null. Looks at all.
  template <class Test>
  [[nodiscard]] segment* first_that(Test test) const noexcept {
    for (const segments& at : lists_) {
      for (segment* home = at.front(); home != nullptr; home = segments::next(home)) {
        if (test(*home)) return home;
      }
    }
    return nullptr;
  }

 private:
  using segments = list<segment, &segment::in_cache>;

  static constexpr std::uint32_t sizes = 6;                                  // 2, to 4, 8, 16, 32 MiB, and larger
  static constexpr std::uint32_t spans = std::bit_width(segment_units) + 1;  // none, 1, to 3, 7, 15, 31, 63, and all

  [[nodiscard]] static std::uint32_t size_index(std::uint64_t bytes) noexcept {
    return std::min(static_cast<std::uint32_t>(std::bit_width((bytes - 1) / segment_bytes_min)), sizes - 1);
  }
  [[nodiscard]] segments& list_of(const segment& home) noexcept {
    return lists_[size_index(home.bytes) * spans + static_cast<std::uint32_t>(std::bit_width(home.idle_span))];
  }

  segments lists_[sizes * spans];
};

}  // namespace arcalloc::detail
