// SPDX-License-Identifier: Apache-2.0
// Prewarm profiles: recorded, filled, verified; and their file.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "simulated_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::mib;
using testing::profile_of;
using testing::s1;
using testing::s2;
using testing::simulated_engine;
using testing::small_world;

TEST(profile, records_the_most_blocks_out_at_once_per_stream_and_class) {
  simulated_engine at;
  const block before = at.get(3000, s1);
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  EXPECT_EQ(at.memory->begin_profile(), status::invalid_argument);
  const block first = at.get(3000, s1);
  const block second = at.get(2900, s1);
  at.put(before);  // requested earlier: no business of the recording
  at.put(first);
  const block third = at.get(3072, s1);
  at.put(second);
  at.put(third);
  at.put(at.get(393216, s2));
  const block kept = at.get(20 * mib, s1);
  profile seen;
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  EXPECT_EQ(at.memory->end_profile(seen), status::invalid_argument);
  ASSERT_EQ(seen.entries().size(), 3U);
  EXPECT_EQ(seen.entries()[0].bytes, 3072U);
  EXPECT_EQ(seen.entries()[0].blocks, 2U);
  EXPECT_EQ(seen.entries()[1].on, s2);
  EXPECT_EQ(seen.entries()[1].bytes, 393216U);
  EXPECT_EQ(seen.entries()[2].blocks, 1U);
  at.put(kept);
  at.check();
}

TEST(profile, is_recorded_from_every_thread) {
  small_world at;
  const block own = at.get(3000, s1);
  at.put(own);
  EXPECT_EQ(at.memory->begin_profile(), status::ok);
  const block here = at.get(3000, s1);
  std::thread([&] { at.put(at.get(3000, s1)); }).join();
  at.put(here);
  profile seen;
  EXPECT_EQ(at.memory->end_profile(seen), status::ok);
  ASSERT_EQ(seen.entries().size(), 1U);
  EXPECT_EQ(seen.entries()[0].blocks, 2U);
  at.check();
}

TEST(prewarm, makes_every_request_of_the_profile_a_hit) {
  simulated_engine at;
  const profile wanted = profile_of({{s1, 3000, 40}, {s1, 393216, 3}, {s2, 20 * mib, 2}});
  profile missing;
  EXPECT_EQ(at.memory->verify(wanted, &missing), status::capture_miss);
  ASSERT_EQ(missing.entries().size(), 3U);
  EXPECT_EQ(missing.entries()[1].bytes, 393216U);
  EXPECT_EQ(missing.entries()[1].blocks, 3U);
  EXPECT_EQ(at.now().driver_allocs, 0U);
  EXPECT_EQ(at.memory->prewarm(wanted, &missing), status::ok);
  EXPECT_TRUE(missing.empty());
  EXPECT_EQ(at.memory->verify(wanted), status::ok);
  EXPECT_EQ(at.now().requests, 0U);
  EXPECT_EQ(at.now().allocated_bytes_peak, 0U) << "nobody asked for anything";
  at.check();
  for (const profile_entry& entry : wanted.entries()) {
    for (std::uint64_t i = 0; i < entry.blocks; ++i) (void)at.get(entry.bytes, entry.on);
  }
  EXPECT_EQ(at.now().misses, 0U);
  at.check();
}

TEST(prewarm, counts_what_is_there_already) {
  simulated_engine at;
  at.put(at.get(20 * mib, s1));
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 2}})), status::ok);
  EXPECT_EQ(at.now().driver_allocs, 2U);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 2}})), status::ok);
  EXPECT_EQ(at.now().driver_allocs, 2U);
  at.check();
}

TEST(prewarm, stays_within_the_cached_max_and_says_what_is_short) {
  simulated_engine at(capped(50 * mib));
  profile missing;
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 3}}), &missing), status::capacity_exceeded);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 3}, {s1, 3000, 1}}), &missing), status::capacity_exceeded);
  ASSERT_EQ(missing.entries().size(), 1U);
  EXPECT_EQ(missing.entries()[0].bytes, 20 * mib);
  EXPECT_EQ(missing.entries()[0].blocks, 1U);
  EXPECT_EQ(at.now().cached_bytes, 42 * mib) << "what fitted stays, the small class too";
  EXPECT_EQ(at.now().evictions, 0U);
  at.check();
}

TEST(prewarm, stays_within_the_capacity) {
  options settings = capped(500 * mib);
  settings.capacity_bytes = 50 * mib;
  simulated_engine at(settings);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 3}})), status::capacity_exceeded);
  EXPECT_EQ(at.now().reserved_bytes, 40 * mib);
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 3}})), status::capacity_exceeded);
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 20 * mib, 2}})), status::ok);
  at.check();
}

TEST(prewarm, passes_on_what_the_driver_says) {
  sim_options small;
  small.memory_bytes = 50 * mib;
  simulated_engine at(capped(500 * mib), small);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 20 * mib, 3}})), status::device_out_of_memory);
  EXPECT_EQ(at.now().cached_bytes, 40 * mib);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, (std::uint64_t{1} << 47) + 1, 1}})), status::request_too_large);
  at.check();
}

TEST(prewarm, with_the_cache_off_has_nowhere_to_keep_it) {
  options settings;
  settings.enabled = false;
  simulated_engine at(settings);
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 3000, 1}})), status::capacity_exceeded);
  EXPECT_EQ(at.now().reserved_bytes, 0U);
  at.check();
}

TEST(prewarm, beside_another_thread_raises_no_peak_of_what_was_requested) {
  small_world at(capped(64 * mib), 100 * mib);
  const block mine = at.get(1000, s1);
  std::thread([&] { EXPECT_EQ(at.memory->prewarm(profile_of({{s2, 5 * mib, 3}})), status::ok); }).join();
  EXPECT_EQ(at.now().requested_bytes_peak, 1000U);
  EXPECT_EQ(at.now().allocated_bytes_peak, 1024U);
  EXPECT_GE(at.now().reserved_bytes_peak, 15 * mib);
  at.put(mine);
}

TEST(verify, names_the_one_size_that_is_missing) {
  simulated_engine at;
  EXPECT_EQ(at.memory->prewarm(profile_of({{s1, 3000, 4}})), status::ok);
  profile missing;
  EXPECT_EQ(at.memory->verify(profile_of({{s1, 3000, 4}, {s1, 20 * mib, 1}}), &missing), status::capture_miss);
  ASSERT_EQ(missing.entries().size(), 1U);
  EXPECT_EQ(missing.entries()[0].bytes, 20 * mib);
  at.check();
}

/// A file in the test's own directory, gone with it.
struct temporary_file {
  explicit temporary_file(const std::string& text) { std::ofstream(path) << text; }
  ~temporary_file() { std::remove(path.c_str()); }
  std::string path = ::testing::TempDir() + "arcalloc_profile_test_" +
                     ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST(profile_file, is_read_as_it_was_written) {
  temporary_file file("old");
  profile_error why;
  const profile wanted = profile_of({{s1, 393216, 2}, {stream{UINT64_MAX - 1}, 512, 1}});
  ASSERT_EQ(write_profile(file.path.c_str(), wanted, why), status::ok);
  profile read;
  ASSERT_EQ(read_profile(file.path.c_str(), read, why), status::ok) << why.text;
  ASSERT_EQ(read.entries().size(), 2U);
  EXPECT_EQ(read.entries()[0].bytes, 393216U);
  EXPECT_EQ(read.entries()[1].on, stream{UINT64_MAX - 1});
  read.rename_stream(s1, s2);
  EXPECT_EQ(read.entries()[0].on, s2);
}

TEST(profile_file, that_is_empty_of_entries_is_a_profile) {
  temporary_file file("{\"entries\": [], \"schema\": \"arcalloc.profile/1\"}\n");
  profile read = profile_of({{s1, 1, 1}});
  profile_error why;
  EXPECT_EQ(read_profile(file.path.c_str(), read, why), status::ok) << why.text;
  EXPECT_TRUE(read.empty());
}

TEST(profile_file, is_refused_with_its_line) {
  const std::string head = "{\"schema\": \"arcalloc.profile/1\",\n\"entries\": [\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", ":1: the file ends where '{' belongs"},
      {"[]", ":1: '{' belongs here"},
      {"{}", "there is no \"schema\""},
      {"{\"schema\": \"arcalloc.profile/2\"}", "this version reads \"arcalloc.profile/1\""},
      {"{\"schema\": \"arcalloc.profile/1\"}", "there is no \"entries\""},
      {"{\"schema\": \"arcalloc.profile/1\", \"schema\": \"x\"}", "is there twice"},
      {head + "{\"stream\": 0, \"bytes\": 512}]}", ":3: an entry needs"},
      {head + "{\"stream\": 0, \"bytes\": 0, \"blocks\": 1}]}", ":3: \"bytes\" is not from 1 to 2^47"},
      {head + "{\"stream\": 0, \"bytes\": 512, \"blocks\": 0}]}", ":3: \"blocks\" is 0"},
      {head + "{\"stream\": 0, \"bytes\": 512.5, \"blocks\": 1}]}", "decimal digits"},
      {head + "{\"stream\": 0, \"bytes\": 1e9, \"blocks\": 1}]}", "decimal digits"},
      {head + "{\"stream\": 0, \"bytes\": 0512, \"blocks\": 1}]}", "begins with 0"},
      {head + "{\"stream\": 0, \"bytes\": 18446744073709551616, \"blocks\": 1}]}", "above 2^64 - 1"},
      {head + "{\"stream\": 0, \"bytes\": 512, \"block\": 1}]}", "unknown key \"block\""},
      {head + "{\"stream\": 0, \"bytes\": 512, \"blocks\": 1},]}", ":3: '{' belongs here"},
      {head + "{\"stream\": 0, \"bytes\": 512, \"blocks\": 1}", "the file ends where ']' belongs"},
      {head + "]}\nmore", ":4: something follows the profile"},
      {std::string("{\0}", 3), "no text"},
  };
  for (const auto& [text, reason] : cases) {
    temporary_file file(text);
    profile read = profile_of({{s1, 700, 1}});
    profile_error why;
    EXPECT_EQ(read_profile(file.path.c_str(), read, why), status::invalid_argument) << text;
    EXPECT_NE(std::string(why.text).find(file.path), std::string::npos) << why.text;
    EXPECT_NE(std::string(why.text).find(reason), std::string::npos) << why.text << "\nwanted: " << reason;
    EXPECT_EQ(read.entries().size(), 1U) << "left as it was";
  }
  profile_error why;
  profile read;
  EXPECT_EQ(read_profile("/no/such/profile", read, why), status::invalid_argument);
  EXPECT_STREQ(why.text, "/no/such/profile: cannot be opened");
  EXPECT_EQ(write_profile("/no/such/profile", read, why), status::backend_failed);
}

TEST(profile_file, named_in_the_options_prewarms_the_allocator) {
  temporary_file file("");
  profile_error why;
  ASSERT_EQ(write_profile(file.path.c_str(), profile_of({{s1, 20 * mib, 2}}), why), status::ok);
  options settings;
  settings.profile_path = file.path.c_str();
  simulated_engine at(settings);
  EXPECT_EQ(at.now().cached_bytes, 40 * mib);
  at.check();
  std::string said;
  settings.sink = {[](void* to, const char* line) noexcept { static_cast<std::string*>(to)->append(line); }, &said};
  const simulated_engine fitting(settings);
  EXPECT_EQ(said, "");
  settings.cached_bytes_max = {bound_mode::explicit_bytes, 30 * mib};
  const simulated_engine tight(settings);
  EXPECT_EQ(tight.now().cached_bytes, 20 * mib) << "one that does not fit is no reason to have no allocator";
  EXPECT_EQ(said, std::string("arcalloc: profile ")
                      .append(file.path)
                      .append(": capacity_exceeded: 1 blocks of 20971520 bytes on stream 1 are short"));
  settings.profile_path = "/no/such/profile";
  allocator* none = nullptr;
  said.clear();
  EXPECT_EQ(allocator::create(at.device, settings, none), status::invalid_argument);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(said, "/no/such/profile: cannot be opened");
  settings.sink = {};
  EXPECT_EQ(allocator::create(at.device, settings, none), status::invalid_argument);
}

}  // namespace
}  // namespace arcalloc
