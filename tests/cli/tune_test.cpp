// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace arcalloc::cli {
namespace {

using nlohmann::json;
using test::arcalloc;
using test::content_of;
using test::ended;
using test::temporary_folder;
using test::write_file;

/// Rounds of six blocks of different sizes, all out together and all freed: what one round frees the next one wants.
std::string rounds_of_six(int rounds) {
  constexpr int mib[] = {20, 24, 28, 32, 40, 48};
  std::string text = "t_us,op,id,size,stream\n";
  int id = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const int size : mib) {
      text.append(",a,").append(std::to_string(++id)).append(",").append(std::to_string(size << 20)).append(",0\n");
    }
    for (int i = 5; i >= 0; --i) text.append(",f,").append(std::to_string(id - i)).append(",,\n");
  }
  return text;
}

json tuned(const temporary_folder& folder, const std::string& trace, std::vector<std::string> more) {
  write_file(folder.file("a"), trace);
  std::vector<std::string> words{"tune", folder.file("a"), "--json", folder.file("j")};
  words.insert(words.end(), more.begin(), more.end());
  const ended run = arcalloc(words);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const json said = json::parse(content_of(folder.file("j")));
  EXPECT_NE(run.out.find(said.at("recommendation").get<std::string>()), std::string::npos) << run.out;
  return said;
}

TEST(tune, says_how_few_misses_there_could_be) {
  const temporary_folder folder;
  const json said = tuned(folder, rounds_of_six(10), {"--geometries", "8", "--caps", "64,100,192"});
  ASSERT_EQ(said.at("points").size(), 4U);
  // A round has 192 MiB, all of it idle at its end. Six blocks are got once; then, in each of nine rounds, of 64 MiB
  // two blocks at best can be kept (20 + 24), of 100 MiB three (20 + 24 + 28), of 192 MiB all six.
  const std::uint64_t least[] = {6 + 9 * 4, 6 + 9 * 3, 6, 6};
  for (std::size_t i = 0; i < 4; ++i) {
    const json& point = said.at("points").at(i);
    EXPECT_EQ(point.at("misses_least"), least[i]) << i;
    EXPECT_TRUE(point.at("least_is_exact")) << i;
    EXPECT_GE(point.at("misses"), least[i]) << i;
    EXPECT_EQ(point.at("outcome"), "completed");
  }
  EXPECT_TRUE(said.at("points").at(3).at("cached_bytes_max").is_null());
  EXPECT_EQ(said.at("chosen").at("cached_bytes_max"), std::uint64_t{192} << 20);
  EXPECT_EQ(said.at("smallest_capacity_bytes"), std::uint64_t{192} << 20);
  EXPECT_EQ(said.at("requested_bytes_peak"), std::uint64_t{192} << 20);
  EXPECT_EQ(
      said.at("recommendation")
          .get<std::string>()
          .rfind("ARC_ALLOC_CACHE_GEOMETRY=8 ARC_ALLOC_CACHE_MAX_MB=192 reserves at most 192.0 MiB, 1.000 times", 0),
      0U)
      << said.at("recommendation");
}

TEST(tune, tries_caps_up_to_what_is_ever_idle) {
  const temporary_folder folder;
  const json said = tuned(folder, rounds_of_six(3), {"--geometries", "4,exact", "--threads", "3"});
  std::vector<std::uint64_t> caps;
  for (const json& point : said.at("points")) {
    if (point.at("geometry") == "4" && !point.at("cached_bytes_max").is_null()) {
      caps.push_back(point.at("cached_bytes_max").get<std::uint64_t>() >> 20);
    }
  }
  EXPECT_EQ(caps, (std::vector<std::uint64_t>{8, 16, 32, 64, 128, 256}));
  EXPECT_EQ(said.at("points").size(), 14U);
}

TEST(tune, is_the_same_on_any_number_of_threads) {
  const temporary_folder folder;
  const json one = tuned(folder, rounds_of_six(5), {"--threads", "1"});
  const json four = tuned(folder, rounds_of_six(5), {"--threads", "4"});
  EXPECT_EQ(one.at("points"), four.at("points"));
  EXPECT_EQ(one.at("chosen"), four.at("chosen"));
}

TEST(tune, of_equal_settings_takes_the_default_geometry) {
  const temporary_folder folder;
  const json said = tuned(folder, rounds_of_six(5), {"--geometries", "4,8,16", "--caps", "192,256"});
  for (const json& point : said.at("points")) EXPECT_EQ(point.at("reserved_bytes_peak"), std::uint64_t{192} << 20);
  EXPECT_EQ(said.at("chosen").at("geometry"), "8");
  EXPECT_EQ(said.at("chosen").at("cached_bytes_max"), std::uint64_t{192} << 20);
}

TEST(tune, says_of_an_empty_trace_that_anything_will_do) {
  const temporary_folder folder;
  const json said = tuned(folder, "t_us,op,id,size,stream\n", {});
  EXPECT_EQ(said.at("requested_bytes_peak"), 0U);
  EXPECT_EQ(said.at("recommendation"), "The trace asks for no memory: any settings will do.");
}

TEST(tune, says_so_where_no_cap_will_do) {
  const temporary_folder folder;
  const json said = tuned(folder, rounds_of_six(10), {"--geometries", "8", "--caps", "32"});
  EXPECT_TRUE(said.at("chosen").is_null());
  EXPECT_TRUE(said.at("smallest_capacity_bytes").is_null());
}

TEST(tune, refuses_what_it_cannot_use) {
  const temporary_folder folder;
  write_file(folder.file("a"), rounds_of_six(1));
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "no trace"},
      {{folder.file("none")}, "none"},
      {{folder.file("a"), "--caps", "8,8"}, "--caps"},
      {{folder.file("a"), "--caps", "0"}, "--caps"},
      {{folder.file("a"), "--caps", ""}, "--caps"},
      {{folder.file("a"), "--geometries", "8,8"}, "--geometries"},
      {{folder.file("a"), "--geometries", "7"}, "--geometry"},
      {{folder.file("a"), "--threads", "0"}, "--threads"},
      {{folder.file("a"), "--json", ""}, "--json"}};
  for (const auto& [words, named] : cases) {
    std::vector<std::string> line{"tune"};
    line.insert(line.end(), words.begin(), words.end());
    test::expect_refused(line, named);
  }
}

}  // namespace
}  // namespace arcalloc::cli
