// SPDX-License-Identifier: Apache-2.0
// The profile file to the letter: what is written, what is read, and where the borders are.

#include <gtest/gtest.h>
#include <arcalloc/allocator.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::s1;

/// A directory of the test's own, gone with it.
struct own_directory {
  own_directory() { std::filesystem::create_directories(at); }
  ~own_directory() { std::filesystem::remove_all(at); }
  [[nodiscard]] std::string path(const std::string& name) const { return (at / name).string(); }
  std::filesystem::path at =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("arcalloc_profile_text_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

struct answer {
  status outcome = status::ok;
  std::string why;
  profile read;
};

answer read_text(const std::string& text) {
  const own_directory at;
  const std::string path = at.path("p");
  std::ofstream(path, std::ios::binary) << text;
  answer out;
  profile_error why;
  out.outcome = read_profile(path.c_str(), out.read, why);
  out.why = why.text;
  if (out.why.rfind(path, 0) == 0) out.why.erase(0, path.size());
  return out;
}

std::string with_entries(const std::string& entries) {
  return std::string("{\"schema\": \"arcalloc.profile/1\", \"entries\": [").append(entries).append("]}");
}

std::string entry(const std::string& on, const std::string& bytes, const std::string& blocks) {
  std::ostringstream text;
  text << "{\"stream\": " << on << ", \"bytes\": " << bytes << ", \"blocks\": " << blocks << "}";
  return text.str();
}

TEST(profile_file, is_written_to_the_letter) {
  const own_directory at;
  const std::string path = at.path("p");
  profile made;
  profile_error why;
  const auto written = [&] {
    EXPECT_EQ(write_profile(path.c_str(), made, why), status::ok);
    EXPECT_STREQ(why.text, "");
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  };
  EXPECT_EQ(written(), "{\n  \"schema\": \"arcalloc.profile/1\",\n  \"entries\": []\n}\n");
  ASSERT_TRUE(made.add({s1, 512, 3}));
  ASSERT_TRUE(made.add({stream{0}, 1024, 1}));
  EXPECT_EQ(written(),
            "{\n  \"schema\": \"arcalloc.profile/1\",\n  \"entries\": [\n"
            "    {\"stream\": 1, \"bytes\": 512, \"blocks\": 3},\n"
            "    {\"stream\": 0, \"bytes\": 1024, \"blocks\": 1}\n  ]\n}\n");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

TEST(profile_file, that_cannot_take_its_place_leaves_nothing_behind) {
  const own_directory at;
  const std::string path = at.path("a_directory");
  std::filesystem::create_directories(path + "/with_something_in_it");
  profile_error why;
  EXPECT_EQ(write_profile(path.c_str(), {}, why), status::backend_failed);
  EXPECT_EQ(std::string(why.text), path + ": cannot be written");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  EXPECT_TRUE(std::filesystem::exists(path + "/with_something_in_it"));
}

TEST(profile_file, whose_name_is_too_long_is_refused_and_not_cut_short) {
  const own_directory at;
  const auto named = [&](std::size_t length) {  // through directories that need not exist: `././p`
    std::string path = at.path("");
    if ((length - path.size()) % 2 == 0) path += '/';
    while (path.size() + 1 < length) path += "./";
    path += 'p';
    return path;
  };
  profile_error why;
  const std::string longest = named(4091);
  ASSERT_EQ(longest.size(), 4091U);
  EXPECT_EQ(write_profile(longest.c_str(), {}, why), status::ok) << why.text << ": with .new it is 4095 bytes";
  EXPECT_EQ(write_profile(named(4092).c_str(), {}, why), status::backend_failed);
  EXPECT_NE(std::string(why.text).find(": the name is too long"), std::string::npos) << why.text;
}

TEST(profile_file, takes_blanks_and_keys_in_any_order_and_place) {
  const answer got = read_text(
      " \t\r\n{ \"entries\" :\n[ { \"blocks\" : 3 , \"stream\" : 1 , \"bytes\" : 512 } , "
      "{\"bytes\":1,\"blocks\":1,\"stream\":0}\t] , \"schema\" : \"arcalloc.profile/1\" }\r\n\n ");
  ASSERT_EQ(got.outcome, status::ok) << got.why;
  EXPECT_EQ(got.why, "");
  ASSERT_EQ(got.read.entries().size(), 2U);
  EXPECT_EQ(got.read.entries()[0].on, s1);
  EXPECT_EQ(got.read.entries()[0].bytes, 512U);
  EXPECT_EQ(got.read.entries()[0].blocks, 3U);
  EXPECT_EQ(got.read.entries()[1].bytes, 1U);
}

TEST(profile_file, takes_numbers_up_to_their_largest) {
  const std::string largest = "18446744073709551615";
  const answer got = read_text(with_entries(entry(largest, "140737488355328", largest)));
  ASSERT_EQ(got.outcome, status::ok) << got.why;
  EXPECT_EQ(got.read.entries()[0].on, stream{UINT64_MAX});
  EXPECT_EQ(got.read.entries()[0].bytes, std::uint64_t{1} << 47);
  EXPECT_EQ(got.read.entries()[0].blocks, UINT64_MAX);
  EXPECT_EQ(read_text(with_entries(entry("0", "1", "1"))).outcome, status::ok);
  for (const char* const wrong : {"18446744073709551616", "18446744073709551620", "99999999999999999999"}) {
    EXPECT_EQ(read_text(with_entries(entry(wrong, "512", "1"))).why, ":1: a number above 2^64 - 1") << wrong;
  }
  EXPECT_EQ(read_text(with_entries(entry("0", "140737488355329", "1"))).why, ":1: \"bytes\" is not from 1 to 2^47");
  EXPECT_EQ(read_text(with_entries(entry("00", "512", "1"))).why, ":1: a number begins with 0");
  for (const char* const wrong : {"", "-1", "+1", "x", "1.0", "1e1", "1E1", "1-", "1+"}) {
    EXPECT_EQ(read_text(with_entries(entry(wrong, "512", "1"))).why, ":1: a number in decimal digits belongs here")
        << wrong;
  }
  EXPECT_EQ(read_text("{\"entries\": [{\"stream\": 1").why, ":1: the file ends where ',' belongs");
}

TEST(profile_file, names_each_fault_with_its_line) {
  const std::string sixty_three(63, 'k');
  const std::pair<std::string, std::string> cases[] = {
      {std::string("{\n\"").append(sixty_three).append("\": 1}"),
       std::string(":2: unknown key \"").append(sixty_three).append("\"")},
      {std::string("{\n\"").append(sixty_three).append("k\": 1}"), ":2: a string longer than any that belongs here"},
      {"{\"sche\\u006da\": 1}", ":1: a string without its end, or with an escape"},
      {"{\"schema\n\": 1}", ":1: a string without its end, or with an escape"},
      {"{\"schema", ":1: a string without its end, or with an escape"},
      {"{\"schema\" 1}", ":1: ':' belongs here"},
      {"{\"schema\": 1}", ":1: '\"' belongs here"},
      {"{\"schema\": \"arcalloc.profile/1\" \"entries\": []}", ":1: ',' belongs here"},
      {"{\"schema\": \"arcalloc.profile/1\", \"entries\": []", ":1: the file ends where ',' belongs"},
      {"{\"schema\": \"arcalloc.profile/1\",}", ":1: '\"' belongs here"},
      {"{\"entries\": [],\n\n\"entries\": []}", ":3: the key \"entries\" is there twice"},
      {"{\"entries\": 1}", ":1: '[' belongs here"},
      {"{\"schema\": \"arcalloc.profile/10\"}",
       ":1: the schema is \"arcalloc.profile/10\"; this version reads \"arcalloc.profile/1\""},
      {with_entries("{\"stream\": 1, \"stream\": 1}"), ":1: the key \"stream\" is there twice"},
      {with_entries("{\"bytes\": 1, \"bytes\": 1}"), ":1: the key \"bytes\" is there twice"},
      {with_entries("{\"blocks\": 1, \"blocks\": 1}"), ":1: the key \"blocks\" is there twice"},
      {with_entries("{}"), ":1: an entry needs \"stream\", \"bytes\" and \"blocks\""},
      {with_entries("{\"bytes\": 1, \"blocks\": 1}"), ":1: an entry needs \"stream\", \"bytes\" and \"blocks\""},
      {with_entries("{\"stream\": 1, \"blocks\": 1}"), ":1: an entry needs \"stream\", \"bytes\" and \"blocks\""},
      {with_entries(entry("1", "512", "1") + " " + entry("2", "512", "1")), ":1: ']' belongs here"},
      {with_entries("") + " x", ":1: something follows the profile"},
  };
  for (const auto& [text, reason] : cases) {
    const answer got = read_text(text);
    EXPECT_EQ(got.outcome, status::invalid_argument) << text;
    EXPECT_EQ(got.why, reason) << text;
  }
}

TEST(profile_file, has_at_most_16384_entries) {
  std::string entries = entry("0", "512", "1");
  for (int i = 1; i < 16384; ++i) entries.append(",").append(entry(std::to_string(i), "512", "1"));
  const answer most = read_text(with_entries(entries));
  ASSERT_EQ(most.outcome, status::ok) << most.why;
  ASSERT_EQ(most.read.entries().size(), 16384U);
  EXPECT_EQ(most.read.entries()[16383].on, stream{16383});
  EXPECT_EQ(read_text(with_entries(entries + "," + entry("9999999", "512", "1"))).why, ":1: more than 16384 entries");
}

TEST(profile_file, is_at_most_4_mib_large) {
  std::string text = with_entries(entry("1", "512", "1"));
  text.append((std::size_t{4} << 20) - text.size(), ' ');
  EXPECT_EQ(read_text(text).outcome, status::ok);
  EXPECT_EQ(read_text(text + " ").why, ": larger than 4 MiB, which no profile is");
  EXPECT_EQ(read_text(text + "  ").why, ": larger than 4 MiB, which no profile is");
  EXPECT_EQ(read_text(text).read.entries().size(), 1U);
}

TEST(profile_file, that_is_a_directory_cannot_be_read) {
  const own_directory at;
  profile read;
  profile_error why;
  EXPECT_EQ(read_profile(at.path("").c_str(), read, why), status::invalid_argument);
  EXPECT_NE(std::string(why.text).find(": cannot be read"), std::string::npos) << why.text;
}

TEST(profile, keeps_its_entries_in_order_through_growth_and_moves) {
  profile made;
  EXPECT_TRUE(made.empty());
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(made.add({stream{i % 10}, 512 * (1 + i / 10), i + 1}));
  ASSERT_TRUE(made.add({stream{7}, 512, 3}));
  ASSERT_EQ(made.entries().size(), 100U);
  EXPECT_EQ(made.entries()[7].blocks, 8U) << "3 is fewer";
  ASSERT_TRUE(made.add({stream{7}, 512, 9}));
  EXPECT_EQ(made.entries()[7].blocks, 9U);
  EXPECT_EQ(made.entries()[17].blocks, 18U) << "another size of the stream";
  EXPECT_EQ(made.entries()[8].blocks, 9U) << "another stream of the size";
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(made.entries()[i].on, stream{i % 10});
    EXPECT_EQ(made.entries()[i].bytes, 512 * (1 + i / 10));
  }
  profile moved = static_cast<profile&&>(made);
  EXPECT_TRUE(made.empty());
  ASSERT_TRUE(made.add({s1, 1, 1}));
  EXPECT_EQ(moved.entries().size(), 100U);
  made = static_cast<profile&&>(moved);
  EXPECT_EQ(made.entries().size(), 100U);
  ASSERT_TRUE(made.add({stream{99}, 1, 1}));
  EXPECT_EQ(made.entries()[100].on, stream{99});
  made.rename_stream(stream{3}, stream{4});
  EXPECT_EQ(made.entries()[3].on, stream{4});
  EXPECT_EQ(made.entries()[2].on, stream{2});
  made.clear();
  EXPECT_TRUE(made.empty());
}

}  // namespace
}  // namespace arcalloc
