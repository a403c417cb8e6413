// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "segment.hpp"

namespace arcalloc::detail {

/// The partly used segments of a stream cache, filed by their longest span of idle units, so that whoever wants room
/// for a run looks only where there is some. Divided ones have no units, and are filed with those that are full.
///
/// Called by its stream cache, and guarded as it is; calls nothing. Filing and finding a place cost a few
/// instructions, so that a segment that wakes or rests does not feel it.
/// Equation: a segment is in the list of its idle_span; whoever changes that takes it out meanwhile.
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

  /// The first whose idle units have room for a run of the kind, or null: of those one of the shortest span, give or
  /// take a factor of two.
  [[nodiscard]] segment* find(const run_kind& kind) const noexcept {
    for (auto span = static_cast<std::uint32_t>(std::bit_width(kind.run_units)); span < spans; ++span) {
      for (segment* home = lists_[span].front(); home != nullptr; home = segments::next(home)) {
        if (kind.run_units <= home->idle_span) return home;
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

  static constexpr std::uint32_t spans = std::bit_width(segment_units) + 1;  // none, 1, to 3, 7, 15, 31, 63, and all

  [[nodiscard]] segments& list_of(const segment& home) noexcept {
    return lists_[static_cast<std::uint32_t>(std::bit_width(home.idle_span))];
  }

  segments lists_[spans];
};

}  // namespace arcalloc::detail
