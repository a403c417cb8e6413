// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "device_memory.hpp"
#include "work_order.hpp"

namespace arcalloc {

/// Work that was captured: a launch of its graph does it.
struct captured_use {
  address_range touched;
  std::uint64_t lending = 0;   ///< of which lending the range was
  std::uint64_t hand_out = 0;  ///< of the block that was out there; 0: none, so nobody can be asked to keep it
  stream owner{};              ///< whom that block was handed to
  work_point work;             ///< in the order of its own capture, where nothing ever finishes
};

/// What a capture recorded: while it is open, and as a graph until it is forgotten.
struct captured_graph {
  std::uint64_t number = 0;
  stream begun_on{};
  std::uint64_t group = 0;
  bool open = true;
  work_order order;  ///< of its own streams among themselves
  std::multimap<std::uint64_t, captured_use> uses;
  std::uint64_t longest_bytes = 0;  ///< of a use

  /// Whether memory of the one may be memory of the other: they are never run at once.
  [[nodiscard]] bool shares_with(std::uint64_t other_group) const { return group != 0 && group == other_group; }

  /// Takes the place of earlier uses of the same block that it covers and comes after.
  void add(const captured_use& fresh);

  /// The first use that overlaps and that `matches`, or null.
  template <class Matches>
  [[nodiscard]] const captured_use* find_use(const address_range& range, Matches matches) const {
    const std::uint64_t reach = std::min(longest_bytes, range.begin);
    const auto end = uses.lower_bound(range.end);
    for (auto at = uses.lower_bound(range.begin - reach); at != end; ++at) {
      if (at->second.touched.overlaps(range) && matches(at->second)) return &at->second;
    }
    return nullptr;
  }
};

/// The captures that are open on the simulated device, and the graphs that came of them.
///
/// Used by the simulated backend alone. A stream is in one capture at most; a graph has the number that its capture
/// had, and numbers are not used twice.
/// Concurrency: none of its own; the backend's mutex.
/// Cost: nothing where no capture is open and no graph is there; else for a block handed out, the graphs, and the
/// uses that overlap it. It judges nothing.
class captured_work {
 public:
  [[nodiscard]] bool any_open() const { return !streams_.empty(); }
  [[nodiscard]] bool any() const { return !graphs_.empty(); }

  /// The open capture that the stream is in, or null.
  [[nodiscard]] captured_graph* around(stream on) {
    if (streams_.empty()) return nullptr;
    const auto found = streams_.find(on);
    return found == streams_.end() ? nullptr : &graphs_.at(found->second);
  }
  /// Where the open capture began that has the lowest stream in it; one must be open.
  [[nodiscard]] stream first_open() const { return graphs_.at(streams_.begin()->second).begun_on; }

  /// The stream must be in no capture.
  void begin(stream on, std::uint64_t group);
  void join(stream joining, const captured_graph& capture) { streams_[joining] = capture.number; }
  /// The capture that began there, not open any more; null where none did.
  captured_graph* close(stream begun_on);

  /// A graph that is there and whose capture has ended, or null.
  [[nodiscard]] const captured_graph* graph(std::uint64_t number) const;
  void forget(std::uint64_t number) { graphs_.erase(number); }
  [[nodiscard]] bool was_there(std::uint64_t number) const { return number != 0 && number <= last_number_; }

  [[nodiscard]] const std::map<std::uint64_t, captured_graph>& all() const { return graphs_; }

 private:
  std::map<std::uint64_t, captured_graph> graphs_;
  std::map<stream, std::uint64_t> streams_;  ///< each stream in an open capture, and which
  std::uint64_t last_number_ = 0;
};

}  // namespace arcalloc
