// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

namespace arcalloc::trace {

/// Gives addresses to blocks of a trace that has none: the lowest room that is large enough, in one space of its own.
///
/// Concurrency: one thread. Cost: a step per gap in front of the first that is large enough; memory for the gaps.
class address_layout {
 public:
  /// Above every address that a device or a process has, and exact as a double.
  static constexpr std::uint64_t base = std::uint64_t{1} << 48;
  static constexpr std::uint64_t alignment = 512;

  [[nodiscard]] std::uint64_t place(std::uint64_t bytes);
  void give_back(std::uint64_t address, std::uint64_t bytes);

 private:
  std::map<std::uint64_t, std::uint64_t> gaps_;  ///< begin -> end, below the top
  std::uint64_t top_ = base;
};

/// What a block takes at least, and never overflows.
[[nodiscard]] std::uint64_t laid_out_bytes(std::uint64_t bytes);

}  // namespace arcalloc::trace
