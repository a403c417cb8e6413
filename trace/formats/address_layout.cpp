// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/address_layout.hpp"

#include <iterator>

#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {

namespace {

/// All that is laid out ends below this, so that sums stay far from 64 bits.
constexpr std::uint64_t space_end = std::uint64_t{1} << 62;

}  // namespace

std::uint64_t laid_out_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t alignment = address_layout::alignment;
  if (bytes == 0) return alignment;
  return bytes > space_end ? bytes : (bytes + alignment - 1) / alignment * alignment;
}

std::uint64_t address_layout::place(std::uint64_t bytes) {
  const std::uint64_t size = laid_out_bytes(bytes);
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    if (gap->second - gap->first < size) continue;
    const auto [begin, end] = *gap;
    gaps_.erase(gap);
    if (end - begin > size) gaps_.emplace(begin + size, end);
    return begin;
  }
  if (size > space_end - top_) throw trace_error{"a snapshot has no room for blocks of that many bytes"};
  const std::uint64_t address = top_;
  top_ += size;
  return address;
}

void address_layout::give_back(std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t begin = address;
  std::uint64_t end = address + laid_out_bytes(bytes);
  auto next = gaps_.lower_bound(begin);
  if (next != gaps_.begin() && std::prev(next)->second == begin) {
    begin = std::prev(next)->first;
    gaps_.erase(std::prev(next));
  }
  if (next != gaps_.end() && next->first == end) {
    end = next->second;
    gaps_.erase(next);
  }
  if (end == top_) {
    top_ = begin;
  } else {
    gaps_.emplace(begin, end);
  }
}

}  // namespace arcalloc::trace
