// SPDX-License-Identifier: Apache-2.0
#include "work_order.hpp"

#include <algorithm>
#include <utility>

namespace arcalloc {
namespace {

void raise(std::uint64_t& position, std::uint64_t to) { position = std::max(position, to); }

}  // namespace

work_point work_order::enqueue(stream on) {
  ++streams_[on].enqueued;
  return reached(on);
}

work_point work_order::reached(stream on) const {
  const auto found = streams_.find(on);
  if (found == streams_.end()) return {on, 0, nullptr};
  return {on, found->second.enqueued, found->second.past};
}

void work_order::order(stream later, stream earlier) {
  if (later == earlier) return;
  const work_point before = reached(earlier);
  sequence& waiting = streams_[later];
  positions joined = waiting.past ? *waiting.past : positions{};
  if (before.past) {
    for (const auto& [on, position] : *before.past) raise(joined[on], position);
  }
  raise(joined[earlier], before.position);
  // Its own work comes first anyway, and up to a later position than others can know.
  joined.erase(later);
  waiting.past = std::make_shared<const positions>(std::move(joined));
}

void work_order::hold(stream on) { streams_[on].held = true; }

void work_order::let_go(stream on) { streams_[on].held = false; }

bool work_order::finished(stream on, std::uint64_t position) const {
  const auto found = streams_.find(on);
  return found == streams_.end() || !found->second.held || position <= found->second.settled;
}

bool work_order::finished(const work_point& point) const {
  if (!finished(point.on, point.position)) return false;
  return !point.past || std::all_of(point.past->begin(), point.past->end(),
                                    [this](const auto& before) { return finished(before.first, before.second); });
}

void work_order::settle(const work_point& point) {
  raise(streams_[point.on].settled, point.position);
  if (!point.past) return;
  for (const auto& [on, position] : *point.past) raise(streams_[on].settled, position);
}

bool work_order::settled(const work_point& point) const {
  const auto found = streams_.find(point.on);
  return found != streams_.end() && point.position <= found->second.settled;
}

bool work_order::ordered_before(const work_point& earlier, const work_point& later) {
  if (earlier.on == later.on) return earlier.position <= later.position;
  if (!later.past) return false;
  const auto found = later.past->find(earlier.on);
  return found != later.past->end() && earlier.position <= found->second;
}

}  // namespace arcalloc
