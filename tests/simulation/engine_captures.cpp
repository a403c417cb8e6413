// SPDX-License-Identifier: Apache-2.0
#include "engine_captures.hpp"

#include <algorithm>

namespace arcalloc::testing {

namespace {

bool has(const std::vector<stream>& streams, stream on) {
  return std::find(streams.begin(), streams.end(), on) != streams.end();
}

}  // namespace

stream engine_captures::named(stream name) const {
  const auto found = ended_.find(name);
  return found == ended_.end() ? name : stream{static_cast<std::uint64_t>(name) + names * found->second};
}

void engine_captures::end(stream name) { ++ended_[name]; }

stream engine_captures::point_of(stream on) const {
  const stream name{static_cast<std::uint64_t>(on) % names};
  return around(on) != nullptr || named(name) != on ? mark_of(on) : on;
}

const engine_window* engine_captures::around(stream on) const {
  const auto is_in = [on](const engine_window& window) { return has(window.streams, on); };
  const auto found = std::find_if(windows_.begin(), windows_.end(), is_in);
  return found == windows_.end() ? nullptr : &*found;
}

void engine_captures::join(stream joining, stream capturing) {
  for (engine_window& window : windows_) {
    if (has(window.streams, capturing) && !has(window.streams, joining)) window.streams.push_back(joining);
  }
}

engine_window engine_captures::close(stream began_on) {
  const auto found = std::find_if(windows_.begin(), windows_.end(),
                                  [=](const engine_window& window) { return window.began_on == began_on; });
  engine_window closed = *found;
  windows_.erase(found);
  return closed;
}

const engine_graph* engine_captures::find(std::uint32_t number) const {
  const auto found = graphs_.find(number);
  return found == graphs_.end() ? nullptr : &found->second;
}

std::vector<stream> engine_captures::due_before(const engine_graph& graph, stream on) const {
  std::vector<stream> due = graph.streams;
  if (const auto last = launched_on_.find(graph.group); graph.group != pool_group::none && last != launched_on_.end()) {
    if (!has(due, last->second)) due.push_back(last->second);
  }
  std::erase(due, on);
  std::transform(due.begin(), due.end(), due.begin(), [this](stream each) { return point_of(each); });
  return due;
}

void engine_captures::launched(const engine_graph& graph, stream on) { launched_on_[graph.group] = on; }

}  // namespace arcalloc::testing
