// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>

#include "work_order.hpp"

namespace arcalloc {

/// Addresses [begin, end) of the simulated device.
struct address_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return end - begin; }
  [[nodiscard]] bool overlaps(const address_range& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
  [[nodiscard]] bool contains(const address_range& other) const noexcept {
    return begin <= other.begin && other.end <= end;
  }
};

/// Work that touched a range, the latest of its kind: later work that covers it and comes after it replaces it.
struct noted_use {
  address_range touched;
  work_point work;
  std::uint64_t group = 0;  ///< a launch of a graph of this group did it; 0: of none, or no launch
};

/// A block that somebody was handed.
struct block_out {
  address_range range;
  std::uint64_t hand_out = 0;  ///< which one: numbers of one device, not used twice
  stream owner{};
  std::uint64_t capture = 0;  ///< in which it was handed out; 0: none
  std::uint64_t group = 0;    ///< of that capture
};

/// A range as the driver call lent it, with what happens in it.
struct lent_range {
  address_range range;
  std::uint64_t lending = 0;  ///< which one: another time the same addresses are other memory
  /// By the beginning of what was touched; none touched more than use_bytes_most.
  std::multimap<std::uint64_t, noted_use> uses;
  std::uint64_t use_bytes_most = 0;
  /// By begin; two of one begin are convicted, and still there.
  std::multimap<std::uint64_t, block_out> blocks_out;
};

/// The address space of the simulated device, and who has which part of it.
///
/// Used by the simulated backend alone. It lends the lowest gap that is large enough, so that ranges
/// touch, and a range that went back is soon another one at the same address: both are what an
/// allocator's tables get wrong. Addresses follow from the calls alone.
/// Concurrency: none of its own; the backend's mutex.
/// Invariants: lent ranges and gaps partition the space; lent_bytes is the sum over the lent ranges.
/// Cost: lending is linear in the gaps, looking up logarithmic. It judges nothing and knows no device
/// size: the address space is larger than any device.
class device_memory {
 public:
  /// Every range begins at a multiple of `alignment`, a power of two.
  explicit device_memory(std::uint64_t alignment);

  /// The new range, or null where no gap is large enough.
  lent_range* lend(std::uint64_t bytes);
  void take_back(std::uint64_t begin);

  [[nodiscard]] lent_range* starting_at(std::uint64_t begin);
  /// The one lent range that has all of `part`, or null.
  [[nodiscard]] lent_range* around(const address_range& part);
  /// Whether a range that began here was ever lent.
  [[nodiscard]] bool was_lent(std::uint64_t begin) const { return began_.count(begin) != 0; }

  [[nodiscard]] const std::map<std::uint64_t, lent_range>& lent() const { return lent_; }
  [[nodiscard]] std::uint64_t lent_bytes() const { return lent_bytes_; }
  [[nodiscard]] std::uint64_t lent_bytes_peak() const { return lent_bytes_peak_; }

 private:
  [[nodiscard]] std::uint64_t spanned(std::uint64_t bytes) const;

  std::uint64_t alignment_;
  std::map<std::uint64_t, address_range> gaps_;
  std::map<std::uint64_t, lent_range> lent_;
  std::unordered_set<std::uint64_t> began_;  ///< where a range ever began; only ever looked up
  std::uint64_t lendings_ = 0;
  std::uint64_t lent_bytes_ = 0;
  std::uint64_t lent_bytes_peak_ = 0;
};

}  // namespace arcalloc
