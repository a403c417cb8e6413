// SPDX-License-Identifier: Apache-2.0
#include "device_memory.hpp"

#include <algorithm>
#include <iterator>

namespace arcalloc {
namespace {

// What a 64-bit device can address, without the part where null and small numbers are.
constexpr address_range whole{std::uint64_t{1} << 32, std::uint64_t{1} << 47};

}  // namespace

device_memory::device_memory(std::uint64_t alignment) : alignment_(alignment) { gaps_[whole.begin] = whole; }

std::uint64_t device_memory::spanned(std::uint64_t bytes) const {
  return (bytes + alignment_ - 1) / alignment_ * alignment_;
}

lent_range* device_memory::lend(std::uint64_t bytes) {
  if (bytes > whole.bytes()) return nullptr;
  const std::uint64_t span = spanned(bytes);
  const auto found =
      std::find_if(gaps_.begin(), gaps_.end(), [span](const auto& gap) { return gap.second.bytes() >= span; });
  if (found == gaps_.end()) return nullptr;
  const address_range gap = found->second;
  gaps_.erase(found);
  if (gap.bytes() > span) gaps_[gap.begin + span] = {gap.begin + span, gap.end};
  began_.insert(gap.begin);
  lent_bytes_ += bytes;
  lent_bytes_peak_ = std::max(lent_bytes_peak_, lent_bytes_);
  lent_range& fresh = lent_[gap.begin];
  fresh.range = {gap.begin, gap.begin + bytes};
  fresh.lending = ++lendings_;
  return &fresh;
}

void device_memory::take_back(std::uint64_t begin) {
  const auto leaving = lent_.find(begin);
  const std::uint64_t bytes = leaving->second.range.bytes();
  address_range gap{begin, begin + spanned(bytes)};
  lent_bytes_ -= bytes;
  lent_.erase(leaving);
  auto after = gaps_.lower_bound(begin);
  if (after != gaps_.end() && after->first == gap.end) {
    gap.end = after->second.end;
    after = gaps_.erase(after);
  }
  if (after != gaps_.begin() && std::prev(after)->second.end == begin) {
    std::prev(after)->second.end = gap.end;
  } else {
    gaps_[begin] = gap;
  }
}

lent_range* device_memory::starting_at(std::uint64_t begin) {
  const auto found = lent_.find(begin);
  return found == lent_.end() ? nullptr : &found->second;
}

lent_range* device_memory::around(const address_range& part) {
  const auto after = lent_.upper_bound(part.begin);
  if (after == lent_.begin() || part.end < part.begin) return nullptr;
  lent_range& candidate = std::prev(after)->second;
  return candidate.range.contains(part) ? &candidate : nullptr;
}

}  // namespace arcalloc
