// SPDX-License-Identifier: Apache-2.0
// What the simulated device answers in captures, and its rules for graphs, case by case, without an allocator in
// between.
#include <gtest/gtest.h>
#include <arcalloc/sim_backend.hpp>

#include <algorithm>
#include <iterator>

#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
constexpr stream s4{4};

class sim_capture : public ::testing::Test {
 protected:
  void SetUp() override {
    void* address = nullptr;
    ASSERT_EQ(device_.allocate(4 * mib, s1, address), status::ok);
    at_ = static_cast<char*>(address);
  }
  void out(stream on, char* at) {
    device_.handed_out(on, at, mib);
    device_.use(on, at, mib);
  }
  void own(stream on, char* at) {
    out(on, at);
    device_.handed_back(at);
  }
  [[nodiscard]] std::size_t convictions() const { return device_.convictions().size(); }
  [[nodiscard]] std::string last() const {
    return device_.convictions().empty() ? "innocent" : device_.convictions().back();
  }
  void expect_last(const char* what) const { EXPECT_NE(last().find(what), std::string::npos) << last(); }

  sim_backend device_;
  char* at_ = nullptr;
};

TEST_F(sim_capture, other_streams_allocate_and_record_events) {
  device_.begin_capture(s1);
  event point{};
  EXPECT_EQ(device_.record_event(s2, point), status::ok);
  void* address = nullptr;
  EXPECT_EQ(device_.allocate(mib, s2, address), status::ok);
  device_.abort_capture(s1);
  EXPECT_EQ(device_.wait_event(point), status::ok);
  device_.drop_event(point);
  EXPECT_EQ(device_.free(address, mib), status::ok);
  EXPECT_EQ(last(), "innocent");
}

TEST_F(sim_capture, what_is_illegal_is_refused_and_changes_nothing) {
  event before{};
  ASSERT_EQ(device_.record_event(s1, before), status::ok);
  device_.begin_capture(s1);
  void* refused = nullptr;
  EXPECT_EQ(device_.allocate(mib, s1, refused), status::backend_failed);
  EXPECT_EQ(device_.free(at_, 4 * mib), status::backend_failed);
  memory_info info{5, 6};
  EXPECT_EQ(device_.query_memory(info), status::backend_failed);
  EXPECT_EQ(info.free_bytes, 5U);
  bool finished = true;
  EXPECT_EQ(device_.query_event(before, finished), status::backend_failed);
  EXPECT_EQ(device_.wait_event(before), status::backend_failed);
  event point{};
  EXPECT_EQ(device_.record_event(s1, point), status::backend_failed);
  EXPECT_EQ(point, event::none);
  EXPECT_EQ(device_.lent_bytes(), 4 * mib);
  EXPECT_EQ(convictions(), 6U);
  device_.drop_event(before);
  EXPECT_EQ(convictions(), 6U) << "to drop an event asks nothing of the device";
  device_.abort_capture(s1);
  EXPECT_EQ(device_.free(at_, 4 * mib), status::ok);
}

TEST_F(sim_capture, memory_comes_beside_it) {
  device_.begin_capture(s1);
  void* address = nullptr;
  EXPECT_EQ(device_.allocate_beside_capture(mib, s1, address), status::ok);
  EXPECT_NE(address, nullptr);
  EXPECT_EQ(device_.lent_bytes(), 5 * mib);
  EXPECT_EQ(device_.calls(sim_call::allocate), 2U);
  device_.plan_fault(sim_call::allocate, 1, false, status::device_out_of_memory);
  EXPECT_EQ(device_.allocate_beside_capture(mib, s1, address), status::device_out_of_memory);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(last(), "innocent");
  EXPECT_EQ(device_.allocate_beside_capture(mib + 1, s1, address), status::invalid_argument);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(sim_capture, a_device_that_cannot_lend_beside_it_says_so) {
  sim_backend poor({.allocates_beside_capture = false});
  poor.begin_capture(s1);
  void* address = at_;
  EXPECT_EQ(poor.allocate_beside_capture(mib, s1, address), status::capture_miss);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(poor.lent_bytes(), 0U);
  EXPECT_TRUE(poor.convictions().empty());
}

TEST_F(sim_capture, a_stream_that_waits_for_a_capturing_one_joins_until_it_ends) {
  device_.begin_capture(s1);
  device_.wait(s2, s1);
  device_.wait(s3, s2);
  void* refused = nullptr;
  EXPECT_EQ(device_.allocate(mib, s3, refused), status::backend_failed);
  EXPECT_NE(device_.end_capture(s1), sim_graph::none);
  EXPECT_EQ(device_.allocate(mib, s3, refused), status::ok);
}

TEST_F(sim_capture, does_not_wait_for_work_outside_nor_for_another_capture) {
  device_.begin_capture(s1);
  device_.wait(s1, s2);
  EXPECT_EQ(convictions(), 1U);
  expect_last("a wait of stream 1, which is in a capture, for stream 2, which is not in it");
  device_.begin_capture(s2);
  device_.wait(s1, s2);
  EXPECT_EQ(convictions(), 2U);
  device_.wait(s1, s1);
  EXPECT_EQ(convictions(), 2U);
}

TEST_F(sim_capture, work_is_recorded_and_not_done) {
  device_.busy(s1);
  device_.begin_capture(s1);
  device_.use(s1, at_, mib);
  const sim_graph graph = device_.end_capture(s1);
  EXPECT_EQ(device_.free(at_, 4 * mib), status::ok);
  EXPECT_EQ(last(), "innocent") << "nothing has run on it";
  device_.forget_graph(graph);
}

TEST_F(sim_capture, work_in_it_on_memory_that_is_not_lent_is_convicted) {
  device_.begin_capture(s1);
  device_.use(s1, at_ + 4 * mib, 512);
  expect_last("work of stream 1 on");
  device_.abort_capture(s1);
}

TEST_F(sim_capture, a_launch_is_work_on_every_range) {
  device_.begin_capture(s1);
  own(s1, at_);
  own(s1, at_ + mib);
  const sim_graph graph = device_.end_capture(s1);
  device_.busy(s4);
  device_.launch_graph(graph, s4);
  device_.forget_graph(graph);
  out(s3, at_);
  EXPECT_EQ(convictions(), 1U) << "what was launched is still work";
  expect_last("before the work of stream 4");
  device_.finish(s4);
  out(s3, at_ + mib);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(sim_capture, within_one_captured_work_never_finishes_and_order_is_all) {
  device_.begin_capture(s1);
  own(s1, at_);
  own(s1, at_);
  device_.wait(s2, s1);
  own(s2, at_);
  EXPECT_EQ(last(), "innocent");
  own(s1, at_);
  EXPECT_EQ(convictions(), 1U) << "s1 did not wait for s2";
  expect_last("is handed to stream 1 before the captured work of stream 2");
  device_.wait(s3, s1);
  device_.wait(s3, s2);
  own(s3, at_);
  EXPECT_EQ(convictions(), 1U);
  device_.abort_capture(s1);
}

TEST_F(sim_capture, work_of_before_it_counts_as_before) {
  device_.busy(s1);
  device_.busy(s2);
  own(s1, at_);
  own(s2, at_ + mib);
  device_.begin_capture(s1);
  own(s1, at_);
  device_.wait(s3, s1);
  own(s3, at_);
  EXPECT_EQ(last(), "innocent") << "a launch comes after what s1 did before";
  own(s1, at_ + mib);
  EXPECT_EQ(convictions(), 1U);
  device_.abort_capture(s1);
  own(s3, at_);
  EXPECT_EQ(convictions(), 2U) << "a wait in a capture orders captured work only";
}

TEST_F(sim_capture, a_stream_beside_it_may_not_have_what_it_touched) {
  device_.begin_capture(s1);
  own(s1, at_);
  own(s2, at_ + mib);
  EXPECT_EQ(last(), "innocent");
  own(s2, at_);
  expect_last("which the open capture on stream 1 touches as a block of stream 1");
  EXPECT_EQ(convictions(), 1U);
  device_.abort_capture(s1);
  own(s2, at_);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(sim_capture, graphs_may_share_weights_that_stay_out) {
  out(s1, at_);
  sim_graph graphs[3] = {};
  for (sim_graph& graph : graphs) {
    device_.begin_capture(s1);
    device_.use(s1, at_, mib);
    device_.use(s1, at_ + 512, 512);
    graph = device_.end_capture(s1);
  }
  for (const sim_graph graph : graphs) device_.launch_graph(graph, s2);
  EXPECT_EQ(last(), "innocent");
  device_.handed_back(at_);
  device_.launch_graph(graphs[0], s1);
  EXPECT_EQ(last(), "innocent") << "idle memory is nobody else's";
  device_.forget_graph(graphs[0]);
  device_.forget_graph(graphs[1]);
  device_.handed_out(s1, at_, mib);
  EXPECT_EQ(convictions(), 1U);
  expect_last(", which graph 3 touches as a block of stream 1");
  device_.launch_graph(graphs[2], s2);
  EXPECT_EQ(convictions(), 2U);
  expect_last(", a block of stream 1, where stream 1 has the block");
}

TEST_F(sim_capture, a_graph_and_its_memory_part_at_the_first_byte_they_share) {
  device_.begin_capture(s1);
  own(s1, at_ + mib);
  const sim_graph graph = device_.end_capture(s1);
  own(s2, at_);
  own(s2, at_ + 2 * mib);
  EXPECT_EQ(last(), "innocent");
  device_.handed_out(s2, at_ + 512, mib);
  EXPECT_EQ(convictions(), 1U);
  device_.handed_back(at_ + 512);
  device_.handed_out(s2, at_ + 2 * mib - 512, 512);
  EXPECT_EQ(convictions(), 2U);
  device_.launch_graph(graph, s1);
  EXPECT_EQ(convictions(), 3U);
}

TEST_F(sim_capture, memory_that_no_block_was_in_has_only_to_be_lent) {
  device_.begin_capture(s1);
  device_.use(s1, at_, mib);
  const sim_graph graph = device_.end_capture(s1);
  own(s2, at_);
  out(s3, at_);
  device_.launch_graph(graph, s1);
  EXPECT_EQ(last(), "innocent");
  device_.handed_back(at_);
  ASSERT_EQ(device_.free(at_, 4 * mib), status::ok);
  device_.launch_graph(graph, s1);
  expect_last("which the driver no longer backs");
}

TEST_F(sim_capture, work_over_two_blocks_is_known_by_both) {
  out(s1, at_);
  out(s2, at_ + mib);
  device_.begin_capture(s1);
  device_.use(s1, at_, 3 * mib);
  const sim_graph graph = device_.end_capture(s1);
  device_.launch_graph(graph, s1);
  device_.handed_back(at_ + mib);
  out(s3, at_ + 2 * mib);
  device_.launch_graph(graph, s1);
  EXPECT_EQ(last(), "innocent");
  device_.handed_out(s1, at_ + mib, mib);
  expect_last("touches as a block of stream 2");
}

TEST_F(sim_capture, the_same_addresses_lent_again_are_other_memory) {
  device_.begin_capture(s1);
  own(s1, at_);
  const sim_graph graph = device_.end_capture(s1);
  ASSERT_EQ(device_.free(at_, 4 * mib), status::ok);
  device_.launch_graph(graph, s1);
  expect_last("graph 1 is launched on stream 1 over");
  expect_last("a block of stream 1, which the driver no longer backs");
  void* again = nullptr;
  ASSERT_EQ(device_.allocate(4 * mib, s1, again), status::ok);
  ASSERT_EQ(again, at_);
  device_.launch_graph(graph, s1);
  expect_last(", which the driver took back since and lent again");
  EXPECT_EQ(convictions(), 2U);
}

TEST_F(sim_capture, graphs_of_one_group_share_memory_and_those_of_none_do_not) {
  device_.begin_capture(s1, 5);
  own(s1, at_);
  const sim_graph first = device_.end_capture(s1);
  device_.begin_capture(s2, 5);
  out(s2, at_);
  const sim_graph second = device_.end_capture(s2);
  device_.launch_graph(first, s1);
  device_.launch_graph(second, s1);
  EXPECT_EQ(last(), "innocent");
  device_.handed_back(at_);
  device_.begin_capture(s1, 6);
  own(s1, at_);
  EXPECT_EQ(convictions(), 2U) << "both graphs touch it";
  device_.abort_capture(s1);
  device_.begin_capture(s1);
  own(s1, at_ + mib);
  (void)device_.end_capture(s1);
  device_.begin_capture(s1);
  own(s1, at_ + mib);
  EXPECT_EQ(convictions(), 3U);
}

TEST_F(sim_capture, in_a_group_a_replay_need_not_have_finished) {
  device_.begin_capture(s1, 5);
  own(s1, at_);
  const sim_graph first = device_.end_capture(s1);
  device_.busy(s4);
  device_.launch_graph(first, s4);
  device_.begin_capture(s2, 5);
  own(s2, at_);
  EXPECT_EQ(last(), "innocent");
  device_.abort_capture(s2);
  device_.forget_graph(first);
  device_.begin_capture(s2, 6);
  own(s2, at_);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(sim_capture, a_graph_that_is_not_there_is_not_launched_nor_forgotten) {
  device_.launch_graph(sim_graph{1}, s1);
  expect_last("launch of graph 1, which was never captured");
  device_.forget_graph(sim_graph::none);
  expect_last("forget of graph 0, which was never captured");
  device_.begin_capture(s1);
  device_.launch_graph(sim_graph{1}, s2);
  EXPECT_EQ(convictions(), 3U) << "its capture is open";
  const sim_graph graph = device_.end_capture(s1);
  device_.begin_capture(s1);
  device_.launch_graph(graph, s1);
  expect_last("launch of graph 1 on stream 1, which is in a capture");
  device_.abort_capture(s1);
  device_.forget_graph(graph);
  device_.forget_graph(graph);
  expect_last("forget of graph 1, which is no graph any more");
  EXPECT_EQ(convictions(), 5U);
}

TEST_F(sim_capture, a_block_whose_free_was_refused_is_the_one_that_was_out) {
  out(s1, at_);
  device_.begin_capture(s1);
  device_.use(s1, at_, mib);
  const sim_graph graph = device_.end_capture(s1);
  device_.handed_back(at_);
  device_.still_out(at_);
  device_.launch_graph(graph, s1);
  EXPECT_EQ(last(), "innocent");
  device_.handed_out(s1, at_, mib);
  EXPECT_EQ(convictions(), 2U) << "out already, and touched by a graph";
  device_.still_out(at_ + mib);
  EXPECT_EQ(convictions(), 3U);
  device_.still_out(nullptr);
  EXPECT_EQ(convictions(), 3U);
}

TEST_F(sim_capture, every_call_is_in_the_history) {
  const auto hash_after = [](auto... calls) {
    sim_backend device;
    void* address = nullptr;
    EXPECT_EQ(device.allocate(mib, s1, address), status::ok);
    device.handed_out(s1, address, mib);
    (calls(device, address), ...);
    return device.history_hash();
  };
  const auto begin = [](sim_backend& device, void*) { device.begin_capture(s1); };
  const auto begin_in_group = [](sim_backend& device, void*) { device.begin_capture(s1, 1); };
  const auto end = [](sim_backend& device, void*) { (void)device.end_capture(s1); };
  const auto abort = [](sim_backend& device, void*) { device.abort_capture(s1); };
  const auto launch = [](sim_backend& device, void*) { device.launch_graph(sim_graph{1}, s1); };
  const auto launch_elsewhere = [](sim_backend& device, void*) { device.launch_graph(sim_graph{1}, s2); };
  const auto forget = [](sim_backend& device, void*) { device.forget_graph(sim_graph{1}); };
  const auto lend = [](sim_backend& device, void* address) {
    EXPECT_EQ(device.allocate_beside_capture(mib, s1, address), status::ok);
  };
  const auto back = [](sim_backend& device, void* address) { device.handed_back(address); };
  const auto keep = [](sim_backend& device, void* address) { device.still_out(address); };
  const std::uint64_t hashes[] = {hash_after(),
                                  hash_after(begin),
                                  hash_after(begin_in_group),
                                  hash_after(begin, end),
                                  hash_after(begin, abort),
                                  hash_after(begin, end, launch),
                                  hash_after(begin, end, launch_elsewhere),
                                  hash_after(begin, end, forget),
                                  hash_after(begin, lend),
                                  hash_after(back),
                                  hash_after(back, keep)};
  for (const std::uint64_t& hash : hashes) EXPECT_EQ(std::count(std::begin(hashes), std::end(hashes), hash), 1);
  EXPECT_EQ(hash_after(begin, end, launch), hash_after(begin, end, launch));
}

}  // namespace
}  // namespace arcalloc
