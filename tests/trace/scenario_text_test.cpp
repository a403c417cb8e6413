// SPDX-License-Identifier: Apache-2.0
#include "trace/scenario_text.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace arcalloc::trace {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

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

TEST(scenario_text, settings_of_device_and_options) {
  const scenario read = parse_scenario("f.ops",
                                       "device memory=2GiB others=1GiB granularity=2MiB alloc_us=7 free_us=9\n"
                                       "option cached_bytes_max=256MiB capacity_bytes=1GiB geometry=4\n"
                                       "option enabled=0 oom_retry=\"0\" capture_miss=refuse\n"
                                       "env ARC_ALLOC_CACHE_MAX_MB=\"4Gi\" -> invalid_argument\n"
                                       "step\n");
  EXPECT_EQ(read.file, "f.ops");
  EXPECT_EQ(read.device.memory_bytes, 2 * gib);
  EXPECT_EQ(read.device.others_bytes, gib);
  EXPECT_EQ(read.device.granularity, 2 * mib);
  EXPECT_EQ(read.device.allocate_ns, 7000U);
  EXPECT_EQ(read.device.free_ns, 9000U);
  ASSERT_TRUE(read.options.cached_bytes_max);
  EXPECT_EQ(read.options.cached_bytes_max->mode, bound_mode::explicit_bytes);
  EXPECT_EQ(read.options.cached_bytes_max->bytes, 256 * mib);
  EXPECT_EQ(read.options.capacity_bytes, gib);
  EXPECT_EQ(read.options.classes, geometry::classes_4);
  EXPECT_EQ(read.options.enabled, false);
  EXPECT_EQ(read.options.oom_retry, false);
  EXPECT_EQ(read.options.capture_miss, capture_policy::refuse);
  ASSERT_EQ(read.environment.size(), 1U);
  EXPECT_EQ(read.environment[0].line, 4U);
  EXPECT_EQ(read.environment[0].name, "ARC_ALLOC_CACHE_MAX_MB");
  EXPECT_EQ(read.environment[0].value, "4Gi");
  EXPECT_EQ(read.environment[0].expected, status::invalid_argument);
}

TEST(scenario_text, what_is_not_said_is_the_default) {
  const scenario read = parse_scenario("f.ops", "step");
  EXPECT_EQ(read.device.memory_bytes, sim_options{}.memory_bytes);
  EXPECT_FALSE(read.options.cached_bytes_max || read.options.capacity_bytes || read.options.classes ||
               read.options.enabled || read.options.oom_retry || read.options.capture_miss);
}

TEST(scenario_text, zero_in_a_scenario_holds_nothing_and_unbounded_is_a_word) {
  const scenario zero = parse_scenario("f.ops", "option cached_bytes_max=0\nstep");
  EXPECT_EQ(zero.options.cached_bytes_max->mode, bound_mode::explicit_bytes);
  EXPECT_EQ(zero.options.cached_bytes_max->bytes, 0U);
  const scenario none = parse_scenario("f.ops", "option cached_bytes_max=unbounded\nstep");
  EXPECT_EQ(none.options.cached_bytes_max->mode, bound_mode::unbounded);
}

TEST(scenario_text, every_operation) {
  const scenario read = parse_scenario("f.ops",
                                       "alloc A 512MiB @s1\nalloc B 1\nuse A @s2\nbusy @s2\nfinish @s2\nwait @s3 @s2\n"
                                       "free A @s1\nfree B 1\nstep\nphase decode\ntrim 64MiB\ndrain\n"
                                       "device others=2GiB\nfault query 3+ backend_failed\n"
                                       "expect step driver_allocs == 0\nsame A B\ndiffer A B\n");
  ASSERT_EQ(read.operations.size(), 17U);
  EXPECT_EQ(act_at<act::allocate>(read, 0).id, "A");
  EXPECT_EQ(act_at<act::allocate>(read, 0).bytes, 512 * mib);
  const stream first = act_at<act::allocate>(read, 0).on;
  EXPECT_NE(first, default_stream);
  EXPECT_EQ(act_at<act::allocate>(read, 1).on, default_stream);
  const stream second = act_at<act::use>(read, 2).on.value();
  EXPECT_NE(second, first);
  EXPECT_EQ(act_at<act::busy>(read, 3).on, second);
  EXPECT_EQ(act_at<act::finish>(read, 4).on, second);
  EXPECT_EQ(act_at<act::wait>(read, 5).earlier, second);
  EXPECT_NE(act_at<act::wait>(read, 5).later, second);
  EXPECT_EQ(act_at<act::deallocate>(read, 6).on, first);
  EXPECT_EQ(act_at<act::deallocate>(read, 7).bytes, 1U);
  EXPECT_EQ(act_at<act::begin_phase>(read, 9).next, phase::decode);
  EXPECT_EQ(act_at<act::trim>(read, 10).cached_bytes, 64 * mib);
  EXPECT_EQ(act_at<act::set_others>(read, 12).bytes, 2 * gib);
  EXPECT_EQ(act_at<act::plan_fault>(read, 13).call, sim_call::query_event);
  EXPECT_EQ(act_at<act::plan_fault>(read, 13).nth, 3U);
  EXPECT_TRUE(act_at<act::plan_fault>(read, 13).persistent);
  EXPECT_EQ(act_at<act::plan_fault>(read, 13).with, status::backend_failed);
  EXPECT_TRUE(act_at<act::expect>(read, 14).in_step);
  EXPECT_EQ(act_at<act::expect>(read, 14).claim, "step driver_allocs == 0");
  EXPECT_TRUE(act_at<act::compare>(read, 15).same);
  EXPECT_FALSE(act_at<act::compare>(read, 16).same);
  EXPECT_EQ(read.operations[16].line, 17U);
}

TEST(scenario_text, s0_is_the_default_stream_and_other_names_are_identities) {
  const scenario read = parse_scenario("f.ops", "busy @s7\nbusy @s0\nbusy @work\nbusy @s7");
  EXPECT_EQ(act_at<act::busy>(read, 1).on, default_stream);
  EXPECT_EQ(act_at<act::busy>(read, 0).on, act_at<act::busy>(read, 3).on);
  EXPECT_NE(act_at<act::busy>(read, 0).on, act_at<act::busy>(read, 2).on);
  EXPECT_NE(act_at<act::busy>(read, 0).on, default_stream);
}

TEST(scenario_text, an_id_may_be_used_again_after_its_free) {
  EXPECT_EQ(refusal_of("alloc A 1\nfree A\nalloc A 2\nfree A"), "no refusal");
  EXPECT_EQ(refusal_of("alloc A 1 -> capacity_exceeded\nalloc A 1\nfree A"), "no refusal");
}

TEST(scenario_text, an_id_without_a_block_is_refused_unless_the_line_expects_it) {
  EXPECT_EQ(refusal_of("alloc A 1\nalloc A 2"),
            "f.ops:2:7: expected an ID without a live block (A has one since line 1), found \"A\"");
  EXPECT_EQ(refusal_of("free A"), "f.ops:1:6: expected the ID of a live block (A has none yet), found \"A\"");
  EXPECT_EQ(refusal_of("alloc A 1\nfree A\nuse A @s1"),
            "f.ops:3:5: expected the ID of a live block (A was freed in line 2), found \"A\"");
  EXPECT_EQ(refusal_of("same A B"), "f.ops:1:6: expected the ID of a block that was allocated, found \"A\"");
  EXPECT_EQ(refusal_of("alloc A 1\nfree A\nfree A -> double_free\nfree B -> unknown_pointer"), "no refusal");
}

struct garbled {
  const char* text;
  const char* refusal;
};

TEST(scenario_text, a_garbled_line_is_refused_by_line_and_column) {
  constexpr const char* size = "expected a size: a whole number, then nothing, KiB, MiB or GiB, found ";
  const garbled all[] = {
      {"", "1:1: expected an operation, found the end of the file"},
      {"# only this\n\n", "3:1: expected an operation, found the end of the file"},
      {"device memory=1GiB\n", "2:1: expected an operation, found the end of the file"},
      {"allocate A 1", "1:1: expected an operation, found \"allocate\""},
      {"\"alloc\" A 1", "1:1: expected an operation, found \"alloc\""},
      {"alloc", "1:6: expected the ID of a block, found the end of the line"},
      {"alloc 4MiB A", "1:7: expected the ID of a block, found \"4MiB\""},
      {"alloc A 1 s1", "1:11: expected the end of the line, found \"s1\""},
      {"alloc A 1 @", "1:11: expected a stream, as in @s1, found \"@\""},
      {"alloc A 1 @s1 @s2", "1:15: expected the end of the line, found \"@s2\""},
      {"alloc A 1 -> fine", "1:14: expected a status after \"->\", found \"fine\""},
      {"alloc A 1 ->", "1:13: expected a status after \"->\", found the end of the line"},
      {"alloc A 1 -> ok ok", "1:17: expected the end of the line, found \"ok\""},
      {"alloc A -> ok", "1:9: expected a size: a whole number, then nothing, KiB, MiB or GiB, found \"->\""},
      {"step -> double_free", "1:9: expected ok, found \"double_free\": \"step\" always is"},
      {"busy s1", "1:6: expected a stream, as in @s1, found \"s1\""},
      {"wait @s1", "1:9: expected a stream, as in @s1, found the end of the line"},
      {"phase decoding", "1:7: expected prefill, decode or mixed, found \"decoding\""},
      {"step now", "1:6: expected the end of the line, found \"now\""},
      {"expect held == 1", "1:8: expected a counter, found \"held\""},
      {"expect hits = 1", "1:13: expected ==, <=, >=, < or >, found \"=\""},
      {"expect hits == -1", "1:16: expected a size: a whole number, then nothing, KiB, MiB or GiB, found \"-1\""},
      {"expect step hits == 1", "1:8: expected a counter (no step has ended yet), found \"step\""},
      {"expect cap_source == 2", "1:22: expected explicit, environment, derived, fallback or unbounded, found \"2\""},
      {"fault malloc 1 ok", "1:7: expected alloc, free, event, query, wait or memory_info, found \"malloc\""},
      {"fault alloc 0 backend_failed", "1:13: expected which call, as in 3 or 3+, found \"0\""},
      {"fault alloc + backend_failed", "1:13: expected which call, as in 3 or 3+, found \"+\""},
      {"fault alloc 3 failed", "1:15: expected the status that it answers, found \"failed\""},
      {"env X -> ok", "1:5: expected a variable, as in ARC_ALLOC_CACHE_MAX_MB=256, found \"X\""},
      {"env 4=5", "1:5: expected the name of a variable, found \"4\""},
      {"env X= 64", "1:8: expected the end of the line, found \"64\""},
      {"env \"X=4\"", "1:5: expected a variable, as in ARC_ALLOC_CACHE_MAX_MB=256, found \"X=4\""},
      {"option speed=1",
       "1:8: expected cached_bytes_max, capacity_bytes, geometry, enabled, oom_retry or capture_miss, found "
       "\"speed\""},
      {"option capture_miss=1", "1:21: expected grow or refuse, found \"1\""},
      {"option geometry=3", "1:17: expected 1, 2, 4, 8, 16 or exact, found \"3\""},
      {"option geometry=4 geometry=5", "1:28: expected 1, 2, 4, 8, 16 or exact, found \"5\""},
      {"option enabled=yes", "1:16: expected 0 or 1, found \"yes\""},
      {"device granularity=3KiB", "1:20: expected a size that is a power of two, found \"3KiB\""},
      {"device size=1GiB", "1:8: expected memory, others, granularity, alloc_us or free_us, found \"size\""},
      {"device alloc_us=2GiB", "1:17: expected microseconds, at most 1000000000, found \"2GiB\""},
      {"step\ndevice memory=1GiB", "2:8: expected others= after the first operation, found \"memory\""},
      {"step\noption enabled=1",
       "2:1: expected an operation, found \"option\", which must precede the first operation"},
      {"step\nenv X=1", "2:1: expected an operation, found \"env\", which must precede the first operation"},
  };
  for (const garbled& one : all) EXPECT_EQ(refusal_of(one.text), std::string("f.ops:") + one.refusal) << one.text;
  EXPECT_EQ(refusal_of("option cached_bytes_max=4Gi"),
            "f.ops:1:25: expected unbounded or " + std::string(size + 9) + "\"4Gi\"");
  EXPECT_EQ(refusal_of("device memory=0"), std::string("f.ops:1:15: ") + size + "\"0\"");
}

TEST(scenario_text, what_this_version_cannot_do_is_refused_as_that) {
  EXPECT_EQ(refusal_of("option enabled=1 reserve_bytes=1"),
            "f.ops:1:18: \"reserve_bytes\" is not available in this version");
}

TEST(scenario_text, a_file_is_read_as_text) {
  const std::string path = ::testing::TempDir() + "arcalloc_scenario_text_test.ops";
  std::ofstream(path) << "step\nfree A\n";
  try {
    (void)read_scenario(path);
    FAIL() << "not refused";
  } catch (const scenario_error& error) {
    EXPECT_EQ(error.message.rfind(path + ":2:6: ", 0), 0U) << error.message;
  }
  std::remove(path.c_str());
}

TEST(scenario_text, a_file_that_cannot_be_read_is_named) {
  const std::string missing = ::testing::TempDir() + "arcalloc_no_such_file.ops";
  for (const std::string& path : {missing, ::testing::TempDir()}) {
    try {
      (void)read_scenario(path);
      ADD_FAILURE() << path << " is not refused";
    } catch (const scenario_error& error) {
      EXPECT_EQ(error.message.rfind(path + ": cannot be read: ", 0), 0U) << error.message;
    }
  }
}

}  // namespace
}  // namespace arcalloc::trace
