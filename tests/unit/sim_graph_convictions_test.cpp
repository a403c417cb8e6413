// SPDX-License-Identifier: Apache-2.0
// For each way to give away a captured graph's memory a little allocator that does it and is convicted of it, first
// of all; and the one they derive from, which does none of it and is innocent over the same engine.
#include <gtest/gtest.h>
#include <arcalloc/sim_backend.hpp>

#include "graph_allocator.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::graph_allocator;
using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
constexpr std::uint64_t capacity_bytes = 64 * mib;
constexpr std::uint64_t group = 7;
constexpr stream s4{4};

/// An engine that captures, and tells the device and the allocator as it must.
class engine {
 public:
  struct graph {
    sim_graph on_device{};
    std::uint64_t window = 0;
  };

  engine(sim_backend& device, graph_allocator& memory) : device_(device), memory_(memory) {}

  void* get(std::uint64_t bytes, stream on) {
    void* const address = memory_.get(bytes, on);
    if (address == nullptr) return nullptr;
    device_.handed_out(on, address, bytes);
    device_.use(on, address, bytes);
    return address;
  }
  void use(void* address, std::uint64_t bytes, stream on) {
    device_.use(on, address, bytes);
    memory_.note_use(address, on);
  }
  void put(void* address) {
    if (address == nullptr) return;
    device_.handed_back(address);
    memory_.put(address);
  }
  void get_and_put(std::uint64_t bytes, stream on) { put(get(bytes, on)); }

  void begin(stream on, std::uint64_t of_group) {
    memory_.begin_window(on, of_group);
    device_.begin_capture(on, of_group);
  }
  void join(stream joining, stream capturing) {
    memory_.join(joining);
    device_.wait(joining, capturing);
  }
  graph end(stream on) {
    const sim_graph made = device_.end_capture(on);
    return {made, memory_.end_window()};
  }
  void replay(const graph& what, stream on) {
    device_.launch_graph(what.on_device, on);
    memory_.note_replay(what.window, on);
  }
  void let_go(const graph& what) {
    device_.forget_graph(what.on_device);
    memory_.let_go(what.window);
  }

 private:
  sim_backend& device_;
  graph_allocator& memory_;
};

/// What makes every kind of misuse possible.
void run_engine(sim_backend& device, graph_allocator& memory) {
  engine plays(device, memory);
  void* const weights = plays.get(3 * mib, s1);
  // A window with a stream that joins, scratch memory, weights it is told of, and eager work beside it.
  plays.begin(s1, group);
  plays.use(weights, 3 * mib, s1);
  void* const output = plays.get(2 * mib, s1);
  plays.get_and_put(mib, s1);
  plays.get_and_put(mib, s1);
  plays.join(s2, s1);
  void* const joined = plays.get(5 * mib, s2);
  plays.put(plays.get(mib, s1));
  plays.put(plays.get(mib, s2));
  plays.put(joined);
  plays.get_and_put(mib, s3);
  plays.get_and_put(5 * mib, s1);
  const engine::graph first = plays.end(s1);
  plays.replay(first, s1);
  // Its memory is asked for by others, and all that is idle goes to the device.
  plays.get_and_put(mib, s1);
  plays.put(weights);
  plays.get_and_put(3 * mib, s1);
  plays.put(output);
  memory.drain();
  plays.replay(first, s1);
  plays.get_and_put(6 * mib, s3);
  plays.replay(first, s1);
  // A window of the same group, and one of none.
  plays.begin(s1, group);
  void* const kept = plays.get(mib, s1);
  const engine::graph second = plays.end(s1);
  plays.replay(first, s1);
  plays.put(kept);
  plays.begin(s1, 0);
  plays.get_and_put(mib, s1);
  const engine::graph third = plays.end(s1);
  // One that fails leaves nothing.
  plays.begin(s1, 0);
  plays.get_and_put(7 * mib, s1);
  device.abort_capture(s1);
  memory.abort_window();
  plays.get_and_put(7 * mib, s1);
  // Let go while a replay runs.
  device.busy(s4);
  plays.replay(first, s4);
  plays.let_go(second);
  plays.let_go(first);
  void* const next = plays.get(2 * mib, s3);
  device.finish(s4);
  plays.replay(third, s2);
  plays.put(next);
  plays.let_go(third);
  memory.drain();
}

template <class Allocator>
std::vector<std::string> verdict_on() {
  sim_backend device({.memory_bytes = 2 * capacity_bytes});
  device.set_capacity_bytes(capacity_bytes);
  Allocator memory(device, capacity_bytes);
  run_engine(device, memory);
  device.convict_leaks();
  return device.convictions();
}

std::string all_of(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text.append(sentence).append("\n");
  return text;
}

template <class Allocator>
std::string expect_first(const char* what) {
  const std::vector<std::string> found = verdict_on<Allocator>();
  const std::string first = found.empty() ? "not convicted" : found.front();
  EXPECT_NE(first.find(what), std::string::npos) << first << "\n" << all_of(found);
  return all_of(found);
}

TEST(sim_graph_convictions, the_well_behaved_allocator_is_innocent) {
  EXPECT_EQ(all_of(verdict_on<graph_allocator>()), "");
}

struct gives_away_what_is_pinned : graph_allocator {
  using graph_allocator::graph_allocator;
  bool is_for(const piece& candidate, stream on) override {
    return graph_allocator::is_for(candidate, on) || !in_capture();
  }
};
TEST(sim_graph_convictions, a_block_over_what_a_graph_touches) {
  const std::string all = expect_first<gives_away_what_is_pinned>(", which graph 1 touches as a block of stream 1");
  EXPECT_NE(all.find("is handed to stream 1 over [0x"), std::string::npos) << all;
}

struct evicts_what_is_pinned : graph_allocator {
  using graph_allocator::graph_allocator;
  place coldest() override { return idle_.begin(); }
};
struct evicts_and_grows_there : evicts_what_is_pinned {
  using evicts_what_is_pinned::evicts_what_is_pinned;
  void drain() override {
    evicts_what_is_pinned::drain();
    void* again = nullptr;
    if (!in_capture()) (void)device_.allocate(8 * mib, s1, again);
  }
};
TEST(sim_graph_convictions, a_launch_over_what_the_driver_took_back) {
  const std::string all = expect_first<evicts_what_is_pinned>(", which the driver no longer backs");
  EXPECT_NE(all.find("graph 1 is launched on stream 1 over [0x"), std::string::npos) << all;
  expect_first<evicts_and_grows_there>(", which the driver took back since and lent again");
}

struct forgets_notes : graph_allocator {
  using graph_allocator::graph_allocator;
  void touch(piece& touched, stream on) override {
    if (touched.requested_bytes != 3 * mib) graph_allocator::touch(touched, on);
  }
};
TEST(sim_graph_convictions, a_block_over_weights_that_it_was_told_of) {
  expect_first<forgets_notes>(", which graph 1 touches as a block of stream 1");
}

struct takes_what_an_open_window_touched : graph_allocator {
  using graph_allocator::graph_allocator;
  bool is_for(const piece&, stream) override { return true; }
  bool is_ordered(const piece& candidate, stream on) override {
    return on == s3 || graph_allocator::is_ordered(candidate, on);
  }
};
TEST(sim_graph_convictions, a_block_to_a_stream_beside_over_what_the_open_capture_touches) {
  expect_first<takes_what_an_open_window_touched>(
      ", which the open capture on stream 1 touches as a block of stream 1");
}

struct ignores_the_order_in_a_window : graph_allocator {
  using graph_allocator::graph_allocator;
  bool is_ordered(const piece& candidate, stream on) override {
    return captures(on) || graph_allocator::is_ordered(candidate, on);
  }
};
TEST(sim_graph_convictions, a_block_to_a_stream_of_the_capture_that_is_not_after_the_captured_work) {
  expect_first<ignores_the_order_in_a_window>("is handed to stream 2 before the captured work of stream 1 on");
}

struct shares_with_every_group : graph_allocator {
  using graph_allocator::graph_allocator;
  bool is_shared(std::uint64_t, std::uint64_t) override { return true; }
};
TEST(sim_graph_convictions, a_block_of_another_group_over_what_a_graph_touches) {
  expect_first<shares_with_every_group>(", which graph 1 touches as a block of stream 1");
}

struct pins_what_failed : graph_allocator {
  using graph_allocator::graph_allocator;
  void forget(std::uint64_t window, const std::vector<stream>& replays) override {
    if (!replays.empty() || window == 2) graph_allocator::forget(window, replays);
  }
};
TEST(sim_graph_convictions, what_an_aborted_capture_kept) {
  expect_first<pins_what_failed>("+7340032) was never freed");
}

struct does_not_wait_for_replays : graph_allocator {
  using graph_allocator::graph_allocator;
  void forget(std::uint64_t window, const std::vector<stream>&) override { graph_allocator::forget(window, {}); }
};
TEST(sim_graph_convictions, a_block_handed_on_while_a_replay_runs) {
  expect_first<does_not_wait_for_replays>("is handed to stream 3 before the work of stream 4 on");
}

}  // namespace
}  // namespace arcalloc
