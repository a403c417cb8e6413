// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "tiny_allocator.hpp"

namespace arcalloc::testing {

/// The tiny allocator with graphs: what a window touches is kept for its graph until that is released, and
/// shared with windows of its group alone. Each step is a function that a broken one overrides.
///
/// One thread, one window at a time. A piece is reused in the window by the stream that alone worked on it there.
class graph_allocator : public tiny_allocator {
 public:
  using tiny_allocator::tiny_allocator;

  void begin_window(stream on, std::uint64_t group) {
    open_ = ++windows_;
    groups_[open_] = group;
    begin_capture(on);
  }
  void join(stream on) { begin_capture(on); }
  /// The graph's number is the window's.
  std::uint64_t end_window() {
    end_capture();
    return open_;
  }
  void abort_window() {
    end_capture();
    forget(open_, {});
  }
  void note_replay(std::uint64_t window, stream on) { replays_[window].push_back(on); }
  void let_go(std::uint64_t window) { forget(window, replays_[window]); }

  void put(void* address) override {
    const auto found = out_.find(address);
    if (found == out_.end()) return;
    for (const stream user : std::vector<stream>(found->second.users)) touch(found->second, user);
    tiny_allocator::put(address);
  }

 protected:
  void touch(piece& touched, stream on) override {
    if (!captures(on) || is_of(touched, open_)) return;
    touched.windows.push_back(open_);
  }

  bool may_reuse(const piece& candidate, stream on) override {
    return is_for(candidate, on) && is_ordered(candidate, on);
  }

  virtual bool is_for(const piece& candidate, stream on) {
    return std::all_of(candidate.windows.begin(), candidate.windows.end(), [this, on](std::uint64_t window) {
      return captures(on) && (window == open_ || is_shared(groups_[window], groups_[open_]));
    });
  }
  virtual bool is_shared(std::uint64_t group, std::uint64_t other) { return group != 0 && group == other; }
  virtual bool is_ordered(const piece& candidate, stream on) { return tiny_allocator::may_reuse(candidate, on); }

  status grow(std::uint64_t bytes, stream on, void*& address) override {
    return captures(on) ? device_.allocate_beside_capture(bytes, on, address) : device_.allocate(bytes, on, address);
  }

  place coldest() override {
    return std::find_if(idle_.begin(), idle_.end(), [](const piece& idle) { return idle.windows.empty(); });
  }

  static bool is_of(const piece& some, std::uint64_t window) {
    return std::find(some.windows.begin(), some.windows.end(), window) != some.windows.end();
  }

  virtual void forget(std::uint64_t window, const std::vector<stream>& replays) {
    const auto one = [&](piece& some) {
      if (!is_of(some, window)) return;
      std::erase(some.windows, window);
      some.users.insert(some.users.end(), replays.begin(), replays.end());
    };
    for (auto& [address, live] : out_) one(live);
    for (piece& idle : idle_) {
      one(idle);
      record(idle);
    }
  }

  std::uint64_t open_ = 0;
  std::uint64_t windows_ = 0;
  std::map<std::uint64_t, std::uint64_t> groups_;
  std::map<std::uint64_t, std::vector<stream>> replays_;
};

}  // namespace arcalloc::testing
