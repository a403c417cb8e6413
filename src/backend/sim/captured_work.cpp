// SPDX-License-Identifier: Apache-2.0
#include "captured_work.hpp"

namespace arcalloc {

void captured_graph::add(const captured_use& fresh) {
  const std::uint64_t reach = std::min(longest_bytes, fresh.touched.begin);
  auto at = uses.lower_bound(fresh.touched.begin - reach);
  while (at != uses.end() && at->first < fresh.touched.end) {
    const captured_use& earlier = at->second;
    const bool replaced = earlier.hand_out == fresh.hand_out && earlier.lending == fresh.lending &&
                          fresh.touched.contains(earlier.touched) &&
                          work_order::ordered_before(earlier.work, fresh.work);
    at = replaced ? uses.erase(at) : std::next(at);
  }
  longest_bytes = std::max(longest_bytes, fresh.touched.bytes());
  uses.emplace(fresh.touched.begin, fresh);
}

void captured_work::begin(stream on, std::uint64_t group) {
  captured_graph& fresh = graphs_[++last_number_];
  fresh.number = last_number_;
  fresh.begun_on = on;
  fresh.group = group;
  streams_[on] = fresh.number;
}

captured_graph* captured_work::close(stream begun_on) {
  captured_graph* const closing = around(begun_on);
  if (closing == nullptr || closing->begun_on != begun_on) return nullptr;
  std::erase_if(streams_, [closing](const auto& joined) { return joined.second == closing->number; });
  closing->open = false;
  return closing;
}

const captured_graph* captured_work::graph(std::uint64_t number) const {
  const auto found = graphs_.find(number);
  return found == graphs_.end() || found->second.open ? nullptr : &found->second;
}

}  // namespace arcalloc
