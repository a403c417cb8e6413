// SPDX-License-Identifier: Apache-2.0
#include "capture_drawing.hpp"

#include <algorithm>

namespace arcalloc::testing {

namespace {

constexpr std::size_t graphs_max = 6;
constexpr std::uint32_t streams_ended_max = 8;  // the device's cost of a wait grows with the streams there ever were

constexpr act of_captures[] = {act::begin_capture,  act::end_capture,   act::abort_capture, act::launch,
                               act::release_graph,  act::begin_profile, act::end_profile,   act::prewarm_profile,
                               act::verify_profile, act::prewarm};

operation of(act what, std::uint8_t actor, stream on, std::uint32_t number = 0) {
  operation made;
  made.what = what;
  made.actor = actor;
  made.on = on;
  made.block = number;
  return made;
}

}  // namespace

void capture_drawer::draw_world(plan& made) {
  captures_ = one_in(3);
  ends_streams_ = one_in(4);
  if (!captures_) return;
  if (one_in(4)) made.settings.capture_miss = capture_policy::refuse;
  made.device.allocates_beside_capture = !one_in(6);
}

void capture_drawer::draw_weights(std::uint32_t* weights) {
  const auto weight_of = [weights](act what) -> std::uint32_t& { return weights[static_cast<std::size_t>(what)]; };
  weight_of(act::end_stream) = ends_streams_ ? 1 : 0;
  for (const act what : of_captures) {
    if (!captures_) weight_of(what) = 0;
  }
  if (!captures_) return;
  // What opens a window is there in every such run, and so is what closes it.
  for (const act what : {act::begin_capture, act::end_capture, act::begin_profile}) weight_of(what) += 2;
  for (const act what : {act::abort_capture, act::prewarm}) weight_of(what) /= 3;
}

stream capture_drawer::stream_of_request(stream otherwise) {
  if (windows_.empty() || one_in(2)) return otherwise;
  const drawn_window& window = windows_[below(windows_.size())];
  return window.joined[below(window.joined.size())];
}

bool capture_drawer::is_in_window(stream on) const {
  return std::any_of(windows_.begin(), windows_.end(), [on](const drawn_window& window) {
    return std::find(window.joined.begin(), window.joined.end(), on) != window.joined.end();
  });
}

void capture_drawer::note_wait(operation& drawn) {
  if (!captures_) return;
  drawn.how = one_in(3) ? 1 : 0;
  if (drawn.how == 0 || is_in_window(drawn.on)) return;
  for (drawn_window& window : windows_) {
    const bool joins = std::find(window.joined.begin(), window.joined.end(), drawn.before) != window.joined.end();
    if (joins) window.joined.push_back(drawn.on);
  }
}

bool capture_drawer::fill_begin(operation& next) {
  const stream on{1 + below(streams_drawn)};
  if (is_in_window(on) || (!windows_.empty() && !one_in(3))) return false;
  next.on = on;
  next.how = static_cast<std::uint8_t>(below(3));
  next.bytes = one_in(2) ? 0 : 1 + below(2);
  windows_.push_back({on, {on}});
  return true;
}

bool capture_drawer::fill_close(operation& next) {
  if (windows_.empty()) return false;
  const std::size_t which = below(windows_.size());
  next.on = windows_[which].began_on;
  windows_.erase(windows_.begin() + static_cast<std::ptrdiff_t>(which));
  if (next.what == act::abort_capture) return true;
  next.block = ++last_graph_;
  graphs_.push_back(next.block);
  return true;
}

bool capture_drawer::fill_graph(operation& next) {
  if (graphs_.empty()) return false;
  const std::size_t which = below(graphs_.size());
  next.block = graphs_[which];
  next.on = stream{1 + below(streams_drawn)};
  next.how = static_cast<std::uint8_t>(below(2));
  if (next.what == act::release_graph) graphs_.erase(graphs_.begin() + static_cast<std::ptrdiff_t>(which));
  return true;
}

bool capture_drawer::fill(operation& next, const std::function<std::uint64_t()>& draw_size, std::uint32_t& last_block) {
  // Graphs keep memory: with many of them there is no room for anything else.
  if (next.what == act::begin_capture && graphs_.size() >= graphs_max) next.what = act::release_graph;
  switch (next.what) {
    case act::begin_capture:
      return fill_begin(next);
    case act::end_capture:
    case act::abort_capture:
      return fill_close(next);
    case act::launch:
    case act::release_graph:
      return fill_graph(next);
    case act::end_stream:
      next.on = stream{1 + below(streams_drawn)};
      return ++streams_ended_ <= streams_ended_max;
    case act::begin_profile:
      next.block = ++last_profile_;
      if (one_in(2)) draw_burst(next, draw_size, last_block);
      return true;
    case act::end_profile:
      return true;
    case act::prewarm:
      next.on = stream{1 + below(streams_drawn)};
      next.bytes = draw_size();
      next.how = static_cast<std::uint8_t>(1 + below(4));
      return true;
    default:
      next.block = 1 + static_cast<std::uint32_t>(below(last_profile_ + 1));
      return true;
  }
}

void capture_drawer::draw_burst(const operation& first, const std::function<std::uint64_t()>& draw_size,
                                std::uint32_t& last_block) {
  const std::uint8_t actor = first.actor;
  const stream on{1 + below(streams_drawn)};
  std::vector<operation> made;
  // What the profile is for begins with none open, and none recorded.
  for (const drawn_window& window : windows_) {
    made.push_back(of(act::end_capture, actor, window.began_on, ++last_graph_));
    graphs_.push_back(last_graph_);
  }
  windows_.clear();
  made.push_back(of(act::end_profile, actor, on));
  made.push_back(of(act::begin_profile, actor, on, first.block));
  std::vector<std::uint64_t> sizes(1 + below(6));
  const bool one_size = one_in(2);
  for (std::uint64_t& bytes : sizes) bytes = one_size && &bytes != sizes.data() ? sizes.front() : draw_size();
  const auto ask_and_free = [&] {
    std::vector<std::uint32_t> out;
    for (const std::uint64_t bytes : sizes) {
      made.push_back(of(act::allocate, actor, on, ++last_block));
      made.back().bytes = bytes;
      out.push_back(last_block);
    }
    std::shuffle(out.begin(), out.end(), random_);
    for (const std::uint32_t number : out) made.push_back(of(act::free_block, actor, on, number));
  };
  ask_and_free();
  made.push_back(of(act::end_profile, actor, on));
  made.push_back(of(act::prewarm_profile, actor, on, first.block));
  made.push_back(of(act::verify_profile, actor, on, first.block));
  made.push_back(of(act::begin_capture, actor, on));
  made.back().how = static_cast<std::uint8_t>(below(3));
  made.back().bytes = one_in(2) ? 0 : 1 + below(2);
  for (std::uint64_t times = 1 + below(2); times > 0; --times) {
    if (one_in(2)) std::shuffle(sizes.begin(), sizes.end(), random_);
    ask_and_free();
  }
  made.push_back(of(act::end_capture, actor, on, ++last_graph_));
  graphs_.push_back(last_graph_);
  burst_.assign(made.rbegin(), made.rend());
}

bool capture_drawer::next_of_burst(operation& next) {
  if (burst_.empty()) return false;
  next = burst_.back();
  burst_.pop_back();
  return true;
}

}  // namespace arcalloc::testing
