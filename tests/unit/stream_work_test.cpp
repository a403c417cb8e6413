// SPDX-License-Identifier: Apache-2.0
#include "stream_work.hpp"

#include <gtest/gtest.h>
#include <arcalloc/sim_backend.hpp>

#include <string>

#include "sizes_and_streams.hpp"

namespace arcalloc::detail {
namespace {

using testing::s1;
using testing::s2;

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

TEST(stream_work, of_an_ended_stream_keeps_its_event_while_anybody_waits_for_it) {
  sim_backend device;
  {
    arena memory;
    stream_works works(device, memory);
    const stream former = former_stream(1);
    device.busy(s1);
    EXPECT_EQ(works.end(s1, former), status::ok);
    EXPECT_FALSE(works.finished(former, 0, 0));
    EXPECT_FALSE(works.is_spare(former));
    const event point = works.hold_point(former);
    EXPECT_NE(point, event::none);
    EXPECT_EQ(works.hold_point(former), point);
    device.finish(s1);
    EXPECT_FALSE(works.finished(former, 0, 0)) << "the event belongs to those who wait for it";
    works.let_go(former, true);
    bool passed = false;
    EXPECT_EQ(device.query_event(point, passed), status::ok) << "still there for the other one";
    works.let_go(former, false);
    EXPECT_TRUE(works.finished(former, 0, 0)) << "one of them knows";
    EXPECT_EQ(works.hold_point(former), event::none);
    works.make_spare(former);
    EXPECT_TRUE(works.is_spare(former));
    device.busy(s2);
    EXPECT_EQ(works.end(s2, former), status::ok);
    EXPECT_FALSE(works.is_spare(former));
    EXPECT_FALSE(works.finished(former, 0, 0)) << "another stream's work now";
    EXPECT_EQ(works.hold_point(former) == event::none, false);
    works.let_go(former, false);
    EXPECT_FALSE(works.finished(former, 0, 0)) << "who waited in vain knows nothing";
    EXPECT_TRUE(works.finished(former_stream(0), 0, 0));
  }
  device.convict_leaks();
  for (const std::string& conviction : device.convictions()) ADD_FAILURE() << conviction;
}

TEST(stream_work, ends_with_its_unanswered_events_or_not_at_all) {
  sim_backend device;
  {
    arena memory;
    stream_works works(device, memory);
    const stream former = former_stream(1);
    device.busy(s1);
    for (std::uint64_t stamp = 1; stamp <= 4; ++stamp) EXPECT_FALSE(works.finished(s1, stamp, stamp));
    device.plan_fault(sim_call::record_event, 1, false, status::backend_failed);
    EXPECT_EQ(works.end(s1, former), status::backend_failed);
    EXPECT_EQ(works.events_recorded(), 4U);
    EXPECT_EQ(works.hold_point(former), event::none) << "nothing has changed";
    EXPECT_EQ(works.end(s1, former), status::ok);
    EXPECT_EQ(works.events_recorded(), 5U);
    device.finish(s1);
    EXPECT_TRUE(works.finished(former, 0, 0));
  }
  device.convict_leaks();
  for (const std::string& conviction : device.convictions()) ADD_FAILURE() << conviction;
}

TEST(stream_work, is_not_asked_for_while_a_window_is_open) {
  asked_streams at;
  EXPECT_TRUE(at.works.finished(s1, 5, 9));
  at.works.set_frozen(true);
  EXPECT_TRUE(at.works.finished(s1, 9, 12)) << "known already";
  EXPECT_FALSE(at.works.finished(s1, 10, 12));
  EXPECT_FALSE(at.works.finished(s2, 1, 12));
  EXPECT_EQ(at.works.events_recorded(), 1U);
  at.works.set_frozen(false);
  EXPECT_TRUE(at.works.finished(s2, 1, 12));
}

TEST(stream_work, knows_which_streams_are_captured) {
  asked_streams at;
  EXPECT_FALSE(at.works.is_captured(s1));
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_TRUE(at.works.set_captured(s1, true));
    EXPECT_TRUE(at.works.set_captured(s1, true)) << "a second time changes nothing";
    EXPECT_TRUE(at.works.set_captured(s2, true));
    EXPECT_TRUE(at.works.is_captured(s1));
    EXPECT_TRUE(at.works.set_captured(s1, false));
    EXPECT_FALSE(at.works.is_captured(s1));
    EXPECT_TRUE(at.works.is_captured(s2));
    EXPECT_TRUE(at.works.set_captured(s2, false));
    EXPECT_FALSE(at.works.is_captured(s2));
  }
}

}  // namespace
}  // namespace arcalloc::detail
