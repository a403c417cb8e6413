// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/capture.hpp>
#include <arcalloc/sim_backend.hpp>
#include <cstdint>
#include <map>
#include <vector>

namespace arcalloc::testing {

/// A window that is open, as the engine knows it.
struct engine_window {
  stream began_on = default_stream;
  std::vector<stream> streams;  ///< where it began, and all that joined
  pool_group group = pool_group::none;
  capture_policy policy = capture_policy::grow;
};

/// A graph that was captured and not given up.
struct engine_graph {
  graph_id id = graph_id::none;
  sim_graph on_device = sim_graph::none;
  pool_group group = pool_group::none;
  stream began_on = default_stream;
  std::vector<stream> streams;  ///< those of its window: a launch comes after what they did eagerly
};

/// The windows and graphs of an engine, and the marks that its launches are ordered by.
///
/// A stream that is in a window, or has ended, cannot be waited for. So the engine keeps a mark for it, a stream of its
/// own that waited for it when the window began or the stream ended, as an event would be recorded there: point_of.
/// Bookkeeping alone: the player tells the device and the allocator. Concurrency: none; whoever plays.
class engine_captures {
 public:
  /// A name's next stream is so many numbers above its last.
  static constexpr std::uint64_t names = 16;
  static constexpr std::uint64_t first_mark = std::uint64_t{1} << 32;

  /// The stream that is meant by its name in a plan.
  [[nodiscard]] stream named(stream name) const;
  /// Its stream has ended: the name means another one.
  void end(stream name);

  [[nodiscard]] static stream mark_of(stream on) { return stream{first_mark + static_cast<std::uint64_t>(on)}; }
  [[nodiscard]] static bool is_mark(stream on) { return static_cast<std::uint64_t>(on) >= first_mark; }
  /// What to wait for instead of `on`: itself, or its mark.
  [[nodiscard]] stream point_of(stream on) const;

  [[nodiscard]] const std::vector<engine_window>& windows() const { return windows_; }
  [[nodiscard]] bool any_open() const { return !windows_.empty(); }
  /// The window that the stream is in, or null.
  [[nodiscard]] const engine_window* around(stream on) const;
  void open(const engine_window& window) { windows_.push_back(window); }
  void join(stream joining, stream capturing);
  /// The window that began there is closed. Requires: one is open there.
  engine_window close(stream began_on);

  [[nodiscard]] const std::map<std::uint32_t, engine_graph>& graphs() const { return graphs_; }
  [[nodiscard]] const engine_graph* find(std::uint32_t number) const;
  void add(std::uint32_t number, const engine_graph& graph) { graphs_[number] = graph; }
  void forget(std::uint32_t number) { graphs_.erase(number); }

  /// What a launch of the graph on `on` must be ordered after: what its streams did eagerly, and the last launch of its
  /// group.
  [[nodiscard]] std::vector<stream> due_before(const engine_graph& graph, stream on) const;
  void launched(const engine_graph& graph, stream on);

 private:
  std::map<stream, std::uint64_t> ended_;  ///< by name, how often
  std::vector<engine_window> windows_;
  std::map<std::uint32_t, engine_graph> graphs_;
  std::map<pool_group, stream> launched_on_;  ///< the last of each group
};

}  // namespace arcalloc::testing
