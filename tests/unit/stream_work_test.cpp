// SPDX-License-Identifier: Apache-2.0
#include "stream_work.hpp"

#include <gtest/gtest.h>
#include <arcalloc/sim_backend.hpp>

namespace arcalloc::detail {
namespace {

constexpr stream s1{1};
constexpr stream s2{2};

struct asked_streams {
  sim_backend device;
  arena memory;
  stream_works works{device, memory};
};

TEST(stream_work, of_an_idle_stream_costs_one_event_and_is_remembered) {
  asked_streams at;
  EXPECT_TRUE(at.works.finished(s1, 5, 9));
  EXPECT_TRUE(at.works.finished(s1, 9, 12)) << "the event stood for all up to stamp 9";
  EXPECT_EQ(at.works.events_recorded(), 1U);
  EXPECT_TRUE(at.works.finished(s1, 10, 12));
  EXPECT_EQ(at.works.events_recorded(), 2U);
  EXPECT_EQ(at.device.calls(sim_call::query_event), 2U);
}

TEST(stream_work, that_is_unfinished_is_asked_for_again_through_the_same_event) {
  asked_streams at;
  at.device.busy(s1);
  EXPECT_FALSE(at.works.finished(s1, 5, 9));
  EXPECT_FALSE(at.works.finished(s1, 9, 20));
  EXPECT_EQ(at.works.events_recorded(), 1U) << "the event at 9 will answer both";
  at.device.finish(s1);
  EXPECT_TRUE(at.works.finished(s1, 9, 20));
  EXPECT_EQ(at.works.events_recorded(), 1U);
}

TEST(stream_work, keeps_four_unanswered_events_at_most) {
  asked_streams at;
  at.device.busy(s1);
  for (std::uint64_t stamp = 1; stamp <= 9; ++stamp) EXPECT_FALSE(at.works.finished(s1, stamp, stamp));
  EXPECT_EQ(at.works.events_recorded(), 4U);
  at.device.finish(s1);
  EXPECT_TRUE(at.works.finished(s1, 4, 9));
  EXPECT_EQ(at.works.events_recorded(), 4U);
  EXPECT_TRUE(at.works.finished(s1, 9, 9));
  EXPECT_EQ(at.works.events_recorded(), 5U);
}

TEST(stream_work, of_one_stream_says_nothing_of_another) {
  asked_streams at;
  at.device.busy(s2);
  EXPECT_TRUE(at.works.finished(s1, 5, 5));
  EXPECT_FALSE(at.works.finished(s2, 5, 5));
}

TEST(stream_work, that_was_waited_for_needs_no_event) {
  asked_streams at;
  at.works.learn_finished(s1, 7);
  at.works.learn_finished(s1, 3);
  EXPECT_TRUE(at.works.finished(s1, 7, 9));
  EXPECT_EQ(at.works.events_recorded(), 0U);
}

TEST(stream_work, is_unknown_where_the_driver_fails) {
  asked_streams at;
  at.device.plan_fault(sim_call::record_event, 1, false, status::backend_failed);
  EXPECT_FALSE(at.works.finished(s1, 5, 5));
  EXPECT_EQ(at.works.events_recorded(), 0U);
  at.device.plan_fault(sim_call::query_event, 1, false, status::backend_failed);
  EXPECT_FALSE(at.works.finished(s1, 5, 5));
  EXPECT_TRUE(at.works.finished(s1, 5, 5));
  EXPECT_EQ(at.works.events_recorded(), 1U);
}

TEST(stream_work, drops_every_event_answered_or_not) {
  sim_backend device;
  {
    arena memory;
    stream_works works(device, memory);
    device.busy(s1);
    for (std::uint64_t stamp = 1; stamp <= 3; ++stamp) EXPECT_FALSE(works.finished(s1, stamp, stamp));
    for (std::uint64_t other = 2; other < 200; ++other) EXPECT_TRUE(works.finished(stream{other}, 1, 1));
  }
  device.convict_leaks();
  for (const std::string& conviction : device.convictions()) ADD_FAILURE() << conviction;
}

}  // namespace
}  // namespace arcalloc::detail
