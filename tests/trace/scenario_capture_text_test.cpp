// SPDX-License-Identifier: Apache-2.0
// The lines about captures, graphs and profiles, as scenario_text_test.cpp has the others.
#include <gtest/gtest.h>

#include "trace/scenario_text.hpp"

namespace arcalloc::trace {
namespace {

std::string refusal_of(std::string_view text) {
  try {
    (void)parse_scenario("f.ops", text);
  } catch (const scenario_error& error) {
    return error.message;
  }
  return "no refusal";
}

template <class Act>
const Act& act_at(const scenario& what, std::size_t index) {
  return std::get<Act>(what.operations.at(index).what);
}

TEST(scenario_capture_text, windows_and_graphs) {
  const scenario read = parse_scenario("f.ops",
                                       "capture begin @s1\ncapture end @s1 g1\n"
                                       "capture begin @s1 pool=a policy=refuse\ncapture abort @s1\n"
                                       "capture begin @s2 policy=grow pool=b\ncapture end @s2 g2\n"
                                       "capture begin @s2 pool=a\ncapture abort @s2\n"
                                       "graph replay g1 @s1\ngraph replay g1\ngraph release g1\n");
  ASSERT_EQ(read.operations.size(), 11U);
  const stream s1 = act_at<act::begin_capture>(read, 0).on;
  EXPECT_NE(s1, default_stream);
  EXPECT_EQ(act_at<act::begin_capture>(read, 0).how.policy, capture_policy::as_configured);
  EXPECT_EQ(act_at<act::begin_capture>(read, 0).how.group, pool_group::none);
  EXPECT_EQ(act_at<act::end_capture>(read, 1).on, s1);
  EXPECT_EQ(act_at<act::end_capture>(read, 1).graph, "g1");
  const pool_group a = act_at<act::begin_capture>(read, 2).how.group;
  EXPECT_NE(a, pool_group::none);
  EXPECT_EQ(act_at<act::begin_capture>(read, 2).how.policy, capture_policy::refuse);
  EXPECT_EQ(act_at<act::abort_capture>(read, 3).on, s1);
  EXPECT_NE(act_at<act::begin_capture>(read, 4).how.group, a);
  EXPECT_NE(act_at<act::begin_capture>(read, 4).how.group, pool_group::none);
  EXPECT_EQ(act_at<act::begin_capture>(read, 4).how.policy, capture_policy::grow);
  EXPECT_EQ(act_at<act::begin_capture>(read, 6).how.group, a);
  EXPECT_EQ(act_at<act::replay_graph>(read, 8).graph, "g1");
  EXPECT_EQ(act_at<act::replay_graph>(read, 8).on, s1);
  EXPECT_EQ(act_at<act::replay_graph>(read, 9).on, default_stream);
  EXPECT_EQ(act_at<act::release_graph>(read, 10).graph, "g1");
}

TEST(scenario_capture_text, prewarming_and_profiles) {
  const scenario read = parse_scenario("f.ops",
                                       "prewarm 20KiB x2 @s1\nprewarm 1MiB\nprewarm 1MiB @s1\n"
                                       "record profile p\nend profile p\nprewarm profile p\n"
                                       "verify profile p -> capture_miss\nexpect miss 96MiB x3 @s1\nstream end @s1\n");
  ASSERT_EQ(read.operations.size(), 9U);
  EXPECT_EQ(act_at<act::prewarm_blocks>(read, 0).bytes, 20U << 10);
  EXPECT_EQ(act_at<act::prewarm_blocks>(read, 0).blocks, 2U);
  const stream s1 = act_at<act::prewarm_blocks>(read, 0).on;
  EXPECT_NE(s1, default_stream);
  EXPECT_EQ(act_at<act::prewarm_blocks>(read, 1).blocks, 1U);
  EXPECT_EQ(act_at<act::prewarm_blocks>(read, 1).on, default_stream);
  EXPECT_EQ(act_at<act::prewarm_blocks>(read, 2).on, s1);
  EXPECT_EQ(act_at<act::begin_profile>(read, 3).profile, "p");
  EXPECT_EQ(act_at<act::end_profile>(read, 4).profile, "p");
  EXPECT_EQ(act_at<act::prewarm_profile>(read, 5).profile, "p");
  EXPECT_EQ(act_at<act::verify_profile>(read, 6).profile, "p");
  EXPECT_EQ(read.operations[6].expected, status::capture_miss);
  EXPECT_EQ(act_at<act::expect_miss>(read, 7).bytes, 96U << 20);
  EXPECT_EQ(act_at<act::expect_miss>(read, 7).count, 3U);
  EXPECT_EQ(act_at<act::expect_miss>(read, 7).on, s1);
  EXPECT_EQ(act_at<act::end_stream>(read, 8).on, s1);
}

TEST(scenario_capture_text, names_may_be_used_again_when_what_they_named_is_gone) {
  EXPECT_EQ(refusal_of("capture begin @s1\ncapture end @s1 g\ngraph release g\ncapture begin @s1\ncapture end @s1 g"),
            "no refusal");
  EXPECT_EQ(refusal_of("record profile p\nend profile p\nrecord profile q\nend profile q"), "no refusal");
}

TEST(scenario_capture_text, a_line_that_expects_a_refusal_may_name_what_is_not_there) {
  for (const char* line : {"capture end @s1 g", "capture abort @s1", "graph replay g @s1", "graph release g",
                           "end profile p", "capture begin @s1", "wait @s1 @s2"}) {
    EXPECT_EQ(refusal_of(std::string(line) + " -> invalid_argument"), "no refusal") << line;
  }
  EXPECT_EQ(refusal_of("record profile p\nrecord profile q -> invalid_argument\nend profile p"), "no refusal");
  EXPECT_EQ(refusal_of("capture begin @s1\ncapture begin @s1 -> invalid_argument\ncapture end @s1 g"), "no refusal");
  EXPECT_EQ(refusal_of("capture begin @s1\ncapture end @s2 g -> invalid_argument\ncapture end @s1 g"), "no refusal");
}

struct garbled {
  const char* text;
  const char* refusal;
};

TEST(scenario_capture_text, a_garbled_line_is_refused_by_line_and_column) {
  const garbled all[] = {
      {"capture", "1:8: expected begin, end or abort, found the end of the line"},
      {"capture start @s1", "1:9: expected begin, end or abort, found \"start\""},
      {"capture begin", "1:14: expected a stream, as in @s1, found the end of the line"},
      {"capture begin @s1 g1", "1:19: expected pool=NAME or policy=grow, found \"g1\""},
      {"capture begin @s1 group=g", "1:19: expected pool or policy, found \"group\""},
      {"capture begin @s1 pool=1", "1:24: expected the name of a group, found \"1\""},
      {"capture begin @s1 policy=wait", "1:26: expected grow or refuse, found \"wait\""},
      {"capture begin @s1\ncapture begin @s1",
       "2:15: expected a stream in no capture (the one it is in began in line 1), found \"@s1\""},
      {"capture begin @s1\nwait @s2 @s1\ncapture begin @s2",
       "3:15: expected a stream in no capture (the one it is in began in line 1), found \"@s2\""},
      {"capture end @s1 g", "1:13: expected a stream on which a capture began, found \"@s1\""},
      {"capture begin @s1\nwait @s2 @s1\ncapture end @s2 g",
       "3:13: expected a stream on which a capture began, found \"@s2\""},
      {"capture begin @s1\ncapture end @s1", "2:16: expected the name of a graph, found the end of the line"},
      {"capture begin @s1\ncapture end @s1 g g", "2:19: expected the end of the line, found \"g\""},
      {"capture begin @s1\ncapture end @s1 g\ncapture begin @s1\ncapture end @s1 g",
       "4:17: expected a name without a graph (g has one since line 2), found \"g\""},
      {"capture abort @s1", "1:15: expected a stream on which a capture began, found \"@s1\""},
      {"capture begin @s1\ncapture abort @s1\ncapture end @s1 g",
       "3:13: expected a stream on which a capture began, found \"@s1\""},
      {"graph launch g", "1:7: expected replay or release, found \"launch\""},
      {"graph replay g", "1:14: expected a graph that was captured (g was not), found \"g\""},
      {"graph release 1", "1:15: expected the name of a graph, found \"1\""},
      {"capture begin @s1\ncapture end @s1 g\ngraph release g\ngraph release g",
       "4:15: expected a graph that was captured (g was released in line 3), found \"g\""},
      {"prewarm",
       "1:8: expected profile, or a size: a whole number, then nothing, KiB, MiB or GiB, found the end of "
       "the line"},
      {"prewarm 1MiB 2", "1:14: expected a number of blocks, as in x2, found \"2\""},
      {"prewarm 1MiB x0", "1:14: expected a number of blocks, as in x2, found \"x0\""},
      {"prewarm 1MiB x", "1:14: expected a number of blocks, as in x2, found \"x\""},
      {"prewarm profile p", "1:17: expected a profile that was recorded (p was not), found \"p\""},
      {"record p", "1:8: expected \"profile\", found \"p\""},
      {"record profile", "1:15: expected the name of a profile, found the end of the line"},
      {"record profile p\nrecord profile q",
       "2:8: expected the end of profile p, which is being recorded, found \"profile\""},
      {"record profile p\nend profile p\nrecord profile p", "3:16: expected a name without a profile, found \"p\""},
      {"record profile p\nverify profile p",
       "2:16: expected a profile that was recorded (p has not ended), found \"p\""},
      {"end profile p", "1:13: expected the profile that is being recorded, found \"p\""},
      {"record profile p\nend profile q", "2:13: expected the profile that is being recorded, found \"q\""},
      {"verify profile", "1:15: expected the name of a profile, found the end of the line"},
      {"expect miss x2", "1:13: expected a size: a whole number, then nothing, KiB, MiB or GiB, found \"x2\""},
      {"expect miss 1MiB", "1:17: expected a number of blocks, as in x2, found the end of the line"},
      {"stream @s1", "1:8: expected \"end\", found \"@s1\""},
  };
  for (const garbled& one : all) EXPECT_EQ(refusal_of(one.text), std::string("f.ops:") + one.refusal) << one.text;
}

}  // namespace
}  // namespace arcalloc::trace
