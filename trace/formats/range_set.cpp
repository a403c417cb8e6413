// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/range_set.hpp"

#include <algorithm>
#include <iterator>

namespace arcalloc::trace {

void range_set::add(address_range what) {
  if (what.begin >= what.end) return;
  auto next = ranges_.upper_bound(what.begin);
  if (next != ranges_.begin() && std::prev(next)->second >= what.begin) {
    --next;
    what.begin = next->first;
  }
  while (next != ranges_.end() && next->first <= what.end) {
    what.end = std::max(what.end, next->second);
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, what.begin, what.end);
}

void range_set::remove(address_range what) {
  if (what.begin >= what.end) return;
  auto next = ranges_.upper_bound(what.begin);
  if (next != ranges_.begin()) --next;
  while (next != ranges_.end() && next->first < what.end) {
    const address_range old{next->first, next->second};
    if (old.end <= what.begin) {
      ++next;
      continue;
    }
    next = ranges_.erase(next);
    if (old.begin < what.begin) ranges_.emplace(old.begin, what.begin);
    if (old.end > what.end) ranges_.emplace(what.end, old.end);
  }
}

std::vector<address_range> range_set::missing_of(address_range what) const {
  std::vector<address_range> missing;
  auto next = ranges_.upper_bound(what.begin);
  if (next != ranges_.begin()) --next;
  for (; next != ranges_.end() && next->first < what.end; ++next) {
    if (next->second <= what.begin) continue;
    if (next->first > what.begin) missing.push_back({what.begin, next->first});
    what.begin = next->second;
  }
  if (what.begin < what.end) missing.push_back(what);
  return missing;
}

bool range_set::covers(address_range what) const {
  if (what.begin >= what.end) return true;
  const auto next = ranges_.upper_bound(what.begin);
  return next != ranges_.begin() && std::prev(next)->second >= what.end;
}

std::vector<address_range> range_set::all() const {
  std::vector<address_range> every;
  for (const auto& [begin, end] : ranges_) every.push_back({begin, end});
  return every;
}

}  // namespace arcalloc::trace
