// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "simulated_engine.hpp"

namespace arcalloc::testing {

inline capture_options in_group(std::uint64_t number) { return {capture_policy::as_configured, pool_group{number}}; }

/// An engine that captures: the device hears of a window within the allocator's.
struct capturing_engine : simulated_engine {
  explicit capturing_engine(const options& settings = {}, const sim_options& made_of = {})
      : simulated_engine(settings, made_of) {}

  void begin(stream on, const capture_options& how = {}) {
    EXPECT_EQ(memory->begin_capture(on, how), status::ok);
    device.begin_capture(on, static_cast<std::uint64_t>(how.group));
  }
  graph_id end(stream on) {
    const sim_graph known = device.end_capture(on);
    graph_id made = graph_id::none;
    EXPECT_EQ(memory->end_capture(on, made), status::ok);
    EXPECT_NE(made, graph_id::none);
    on_device[made] = known;
    return made;
  }
  void launch(graph_id made, stream on) {
    device.launch_graph(on_device.at(made), on);
    EXPECT_EQ(memory->note_replay(made, on), status::ok);
  }
  void let_go(graph_id made) {
    device.forget_graph(on_device.at(made));
    EXPECT_EQ(memory->release_graph(made), status::ok);
  }
  void abort(stream on) {
    device.abort_capture(on);
    EXPECT_EQ(memory->abort_capture(on), status::ok);
  }

  std::map<graph_id, sim_graph> on_device;
};

}  // namespace arcalloc::testing
