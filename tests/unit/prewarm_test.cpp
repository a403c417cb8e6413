// SPDX-License-Identifier: Apache-2.0
// Recording, prewarming and verifying at their borders: what just fits a bound, and what a second time finds.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "capturing_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::capturing_engine;
using testing::mib;
using testing::profile_of;
using testing::s1;
using testing::s2;
using testing::s3;
using testing::small_world;

/// The entries as `stream:bytes*blocks`, in their order.
std::string text_of(const profile& from) {
  std::string text;
  for (const profile_entry& entry : from.entries()) {
    text.append(text.empty() ? "" : " ").append(std::to_string(static_cast<std::uint64_t>(entry.on)));
    text.append(":").append(std::to_string(entry.bytes)).append("*").append(std::to_string(entry.blocks));
  }
  return text;
}

TEST(profile, recorded_a_second_time_begins_anew) {
  small_world at;
  profile seen;
  const block before = at.get(3000, s1);
  for (int turn = 0; turn < 3; ++turn) {
    seen.clear();
    EXPECT_EQ(at.memory->begin_profile(), status::ok);
    at.put(at.get(3000, s1));
    at.put(at.get(20 * mib, s2));
    EXPECT_EQ(at.memory->end_profile(seen), status::ok);
    EXPECT_EQ(text_of(seen), "1:3072*1 2:20971520*1");
  }
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  EXPECT_EQ(text_of(seen), "1:3072*1 2:20971520*1") << "nothing was asked for: nothing is added";
  at.put(before);
  at.check();
}

TEST(profile, is_added_to_what_the_caller_has) {
  small_world at;
  profile seen = profile_of({{s3, 512, 9}, {s1, 3072, 1}});
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  const block first = at.get(3000, s1);
  at.put(at.get(3000, s1));
  at.put(first);
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  EXPECT_EQ(text_of(seen), "3:512*9 1:3072*2");
}

TEST(profile, knows_nothing_of_blocks_of_an_earlier_recording) {
  for (const std::uint64_t bytes : {std::uint64_t{3072}, 20 * mib}) {
    small_world at;
    profile seen;
    EXPECT_EQ(at.memory->begin_profile(), status::ok);
    const block earlier = at.get(bytes, s1);
    EXPECT_EQ(at.memory->end_profile(seen), status::ok);
    EXPECT_EQ(at.memory->begin_profile(), status::ok);
    const block first = at.get(bytes, s1);
    at.put(earlier);
    const block second = at.get(bytes, s1);
    seen.clear();
    EXPECT_EQ(at.memory->end_profile(seen), status::ok);
    ASSERT_EQ(seen.entries().size(), 1U);
    EXPECT_EQ(seen.entries()[0].blocks, 2U);
    at.put(first);
    at.put(second);
    at.check();
  }
}

TEST(profile, tells_streams_and_classes_apart_by_the_hundred) {
  small_world at;
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  std::vector<block> pieces;
  for (std::uint64_t i = 0; i < 300; ++i) {
    for (std::uint64_t k = 0; k <= i % 3; ++k) pieces.push_back(at.get(512 * (1 + i % 8), stream{i / 8}));
  }
  for (const block& piece : pieces) at.put(piece);
  profile seen;
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  ASSERT_EQ(seen.entries().size(), 300U);
  for (std::uint64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(seen.entries()[i].on, stream{i / 8});
    EXPECT_EQ(seen.entries()[i].bytes, 512 * (1 + i % 8));
    EXPECT_EQ(seen.entries()[i].blocks, 1 + i % 3);
  }
  at.check();
}

TEST(profile, counts_several_blocks_that_changed_streams) {
  capturing_engine at;
  constexpr pool_group group{5};
  at.begin(s1, {capture_policy::as_configured, group});
  block pieces[3];
  for (block& piece : pieces) piece = at.get(mib, s1);
  for (const block& piece : pieces) at.put(piece);
  const graph_id made = at.end(s1);
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  at.begin(s2, {capture_policy::as_configured, group});
  for (block& piece : pieces) piece = at.get(mib, s2);
  at.let_go(made);
  at.abort(s2);
  for (const int i : {1, 0, 2}) at.put(pieces[i]);
  for (block& piece : pieces) piece = at.get(mib, s2);
  profile seen;
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  EXPECT_EQ(text_of(seen), "2:1048576*3");
  for (const block& piece : pieces) at.put(piece);
  at.check();
}

TEST(profile, recorded_over_a_stream_that_ends_errs_upwards) {
  capturing_engine at;
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  const block piece = at.get(mib, s1);
  EXPECT_EQ(at.memory->end_stream(s1), status::ok);
  at.put(piece);
  at.put(at.get(mib, s1));
  profile seen;
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  EXPECT_EQ(text_of(seen), "1:1048576*2");
  at.check();
}

TEST(profile, recorded_by_a_thread_that_was_there_before_and_one_that_came_later) {
  small_world at;
  const block mine = at.get(3000, s1);
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  profile seen;
  std::thread([&] {
    const block first = at.get(3000, s1);
    const block second = at.get(3000, s1);
    at.put(first);
    at.put(second);
  }).join();
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  EXPECT_EQ(text_of(seen), "1:3072*2");
  at.put(mine);
  at.check();
}

TEST(prewarm, takes_what_just_fits_the_cached_max) {
  for (const std::uint64_t over : {0U, 1U}) {
    small_world at(capped(40 * mib - over));
    profile missing = profile_of({{s3, 7, 7}});
    EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 2}}), &missing),
              over == 0 ? status::ok : status::capacity_exceeded);
    EXPECT_EQ(text_of(missing), over == 0 ? "" : "1:20971520*1");
    EXPECT_EQ(at.now().cached_bytes, (over == 0 ? 40 : 20) * mib);
    at.check();
  }
}

TEST(prewarm, drives_out_what_idles_beside_it_where_the_cached_max_has_no_room_for_both) {
  for (const std::uint64_t over : {0U, 1U}) {
    small_world at(capped(60 * mib - over));
    at.put(at.get(20 * mib, s2));
    EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 2}})), status::ok);
    EXPECT_EQ(at.now().cached_bytes, (over == 0 ? 60 : 40) * mib);
    EXPECT_EQ(at.now().evictions, over);
    EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 2}})), status::ok);
    at.check();
  }
}

TEST(prewarm, of_a_block_that_would_be_cut_gives_it_a_segment_that_nothing_divides) {
  small_world at(capped(1024 * mib), 24 * 1024 * mib, 2 * mib);
  const profile wanted = profile_of({{s1, 3 * mib, 2}, {s1, 2 * mib, 3}});
  EXPECT_EQ(at.memory->verify(wanted), status::capture_miss);
  EXPECT_EQ(at.memory->prewarm(wanted), status::ok);
  EXPECT_EQ(at.memory->verify(wanted), status::ok);
  const std::uint64_t allocs = at.now().driver_allocs;
  // In any order, and of any size of the class.
  for (int turn = 0; turn < 3; ++turn) {
    const block a = at.get(2 * mib, s1), b = at.get(3 * mib - 512, s1), c = at.get(2 * mib - 512, s1);
    at.put(a);
    const block d = at.get(3 * mib, s1), e = at.get(2 * mib, s1), f = at.get(2 * mib, s1);
    for (const block& piece : {b, c, d, e, f}) at.put(piece);
  }
  EXPECT_EQ(at.now().driver_allocs, allocs);
  EXPECT_EQ(at.memory->verify(wanted), status::ok);
  at.check();
}

TEST(prewarm, holds_what_it_found_against_the_cached_max_too) {
  small_world at(capped(60 * mib));
  at.put(at.get(20 * mib, s1));
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 4}})), status::capacity_exceeded);
  EXPECT_EQ(at.now().cached_bytes, 60 * mib);
  EXPECT_EQ(at.now().evictions, 0U);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 3}})), status::ok);
  EXPECT_EQ(at.now().driver_allocs, 3U);
  at.check();
}

TEST(prewarm, passes_over_what_says_nothing_and_goes_on_after_what_cannot_be) {
  small_world at;
  profile missing;
  const std::uint64_t too_large = (std::uint64_t{1} << 47) + 1;
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 0, 3}, {s1, 512, 0}, {s2, too_large, 2}, {s1, 20 * mib, 1}}), &missing),
            status::request_too_large);
  EXPECT_EQ(text_of(missing), "2:140737488355329*2");
  EXPECT_EQ(at.now().cached_bytes, 20 * mib);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s2, too_large, 2}})), status::request_too_large);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 0, 3}, {s1, 512, 0}})), status::ok);
  EXPECT_EQ(at.now().driver_allocs, 1U);
  at.device.fail_allocate = {1, false, status::backend_failed};
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 30 * mib, 1}, {s1, 40 * mib, 1}}), &missing), status::backend_failed);
  EXPECT_EQ(text_of(missing), "1:31457280*1") << "the second is filled all the same";
  at.check();
}

TEST(prewarm, of_the_calling_thread_is_hit_by_it) {
  small_world at;
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 3000, 2}, {s1, 300000, 2}})), status::ok);
  (void)at.get(3000, s1);
  (void)at.get(3000, s1);
  (void)at.get(300000, s1);
  EXPECT_EQ(at.now().stream_cache_hits, 3U);
  EXPECT_EQ(at.now().misses, 0U);
  EXPECT_EQ(at.now().frees, 0U) << "nobody freed anything";
  EXPECT_EQ(at.now().requested_bytes_peak, 306000U);
  EXPECT_EQ(at.now().slack_bytes_peak, 2 * mib - 3072) << "what was held on the way was cached all the time";
  at.check();
}

TEST(verify, says_whether_a_prewarm_could_help_to_the_byte) {
  small_world at(capped(60 * mib));
  at.put(at.get(20 * mib, s1));
  profile missing;
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 3}}), &missing), status::capture_miss);
  EXPECT_EQ(text_of(missing), "1:20971520*2");
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 4}}), &missing), status::capacity_exceeded);
  EXPECT_EQ(text_of(missing), "1:20971520*3");
  EXPECT_EQ(at.memory->set_capacity_bytes(40 * mib), status::ok);
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 2}})), status::capture_miss);
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 3}})), status::capacity_exceeded);
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 1}}), &missing), status::ok);
  EXPECT_TRUE(missing.empty());
  EXPECT_EQ(at.now().cached_bytes, 20 * mib);
  EXPECT_EQ(at.now().driver_allocs, 1U);
  EXPECT_EQ(at.now().driver_frees, 0U);
  at.check();
}

TEST(verify, adds_up_what_several_sizes_are_short_of) {
  small_world at(capped(60 * mib));
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 1}, {s2, 40 * mib, 1}})), status::capture_miss);
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 1}, {s2, 40 * mib, 1}, {s3, 20 * mib, 1}})),
            status::capacity_exceeded);
  at.put(at.get(60 * mib, s1));
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 512, 1}})), status::capacity_exceeded)
      << "the cache is full of something else";
  EXPECT_EQ(at.memory->verify(profile_of({{s1, (std::uint64_t{1} << 47) + 1, 1}, {s1, 512, 1}})),
            status::request_too_large);
}

TEST(verify, of_a_profile_over_two_streams_of_which_one_is_captured) {
  capturing_engine at;
  const profile wanted = profile_of({{s1, 3000, 2}, {s2, 20 * mib, 1}});
  EXPECT_EQ(at.memory->prewarm(wanted), status::ok);
  at.begin(s1);
  EXPECT_EQ(at.memory->verify(wanted), status::ok);
  EXPECT_EQ(at.memory->verify(profile_of({{s2, 20 * mib, 2}})), status::capture_miss);
  const block own = at.get(3000, s1);
  at.put(own);
  EXPECT_EQ(at.now().capture_misses, 0U);
  (void)at.end(s1);
  at.check();
}

}  // namespace
}  // namespace arcalloc
