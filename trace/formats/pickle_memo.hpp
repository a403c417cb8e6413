// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/formats/byte_source.hpp"

namespace arcalloc::trace {

/// Which values of a pickle are fetched again from its memo.
///
/// Picklers put nearly every value there and fetch few of them. What is never fetched need not be kept, so that the
/// memory for a long snapshot is that of its few shared values. Cost: two bits a put; 16 bytes a value are the
/// keeper's.
class memo_use {
 public:
  /// Goes through the whole pickle; refuses what pickle_code refuses, and an index that nothing was put at.
  explicit memo_use(byte_source& from);

  [[nodiscard]] bool is_fetched(std::uint64_t index) const {
    return index / 64 < fetched_.size() && ((fetched_[index / 64] >> (index % 64)) & 1) != 0;
  }
  /// Numbers the fetched ones from 0 on.
  [[nodiscard]] std::size_t place_of(std::uint64_t index) const {
    const auto word = static_cast<std::size_t>(index / 64);
    return before_[word] + ones_in(fetched_[word] & ((std::uint64_t{1} << (index % 64)) - 1));
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  /// Where a processor's own instruction may not be used, std::popcount is a call: this stands in a loop over every
  /// fetch.
  static constexpr std::size_t ones_in(std::uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555U;
    word = (word & 0x3333333333333333U) + ((word >> 2) & 0x3333333333333333U);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
    return static_cast<std::size_t>((word * 0x0101010101010101U) >> 56);
  }

  std::vector<std::uint64_t> fetched_;
  std::vector<std::uint32_t> before_;  ///< fetched in all words before
  std::size_t count_ = 0;
};

}  // namespace arcalloc::trace
