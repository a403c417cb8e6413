// SPDX-License-Identifier: Apache-2.0
#include "decode/requests.hpp"

#include <gtest/gtest.h>

#include "decode/input_error.hpp"
#include "files.hpp"

namespace arcalloc::decode {
namespace {

constexpr const char* header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

std::vector<char> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(requests, are_read_with_their_arrivals_after_the_first) {
  const temporary_directory folder;
  const std::string rows = std::string(header) +
                           "2023-11-16 23:59:59.6805900,374,44\n2023-11-17 00:00:01.1805900,396,109\r\n"
                           "2023-11-17 00:00:01.1805900,1,1\n2023-11-17 00:01:00,14050,992";
  const auto all = read_requests(folder.write("r.csv", bytes_of(rows)));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].arrival_ns, 0U);
  EXPECT_EQ(all[0].prompt, 374U);
  EXPECT_EQ(all[0].answer, 44U);
  EXPECT_EQ(all[1].arrival_ns, 1'500'000'000U);
  EXPECT_EQ(all[1].answer, 109U);
  EXPECT_EQ(all[2].arrival_ns, 1'500'000'000U);
  EXPECT_EQ(all[3].arrival_ns, 60'319'410'000U);
}

TEST(requests, times_go_over_the_end_of_a_leap_february_and_of_a_year) {
  const temporary_directory folder;
  const auto leap = read_requests(
      folder.write("l.csv", bytes_of(std::string(header) + "2024-02-28 00:00:00,1,1\n2024-03-01 00:00:00,1,1\n")));
  EXPECT_EQ(leap[1].arrival_ns, 2 * 86'400'000'000'000U);
  const auto year = read_requests(
      folder.write("y.csv", bytes_of(std::string(header) + "2023-12-31 23:00:00,1,1\n2024-01-01 00:00:00,1,1\n")));
  EXPECT_EQ(year[1].arrival_ns, 3'600'000'000'000U);
}

TEST(requests, a_bad_line_is_refused_by_file_and_line) {
  struct refusal {
    const char* rows;
    const char* said;
  };
  const std::string good = "2023-11-16 18:15:46,1,1\n";
  const char* time = ":3: the time is not like 2023-11-16 18:15:46.6805900";
  const char* length = ":3: a length is no whole number from 1 to 10000000";
  const refusal refusals[] = {
      {"2023-11-16 18:15:47,1", ":3: a row has three columns"},
      {"2023-11-16 18:15:47,1,1,1", ":3: a row has three columns"},
      {"", ":3: a row has three columns"},
      {"2023-11-16T18:15:47,1,1", time},
      {"2023-13-16 18:15:47,1,1", time},
      {"2023-11-16 18:15:47.,1,1", time},
      {"2023-11-16 18:15:47.0123456789,1,1", time},
      {"-023-11-16 18:15:47,1,1", time},
      {"2023-11-16 18:15:47,0,1", length},
      {"2023-11-16 18:15:47,1,-1", length},
      {"2023-11-16 18:15:47, 1,1", length},
      {"2023-11-16 18:15:47,1,1e3", length},
      {"2023-11-16 18:15:47,10000001,1", length},
      {"2023-11-16 18:15:45,1,1", ":3: the request came before the one above"},
      {"2025-11-16 18:15:45,1,1", ":3: the request came more than a year from the first"},
  };
  const temporary_directory folder;
  for (const refusal& each : refusals) {
    const std::string path = folder.write("r.csv", bytes_of(header + good + each.rows + "\n"));
    EXPECT_EQ(refusal_of([&] { static_cast<void>(read_requests(path)); }), path + each.said) << each.rows;
  }
}

TEST(requests, a_file_that_is_none_is_refused) {
  const temporary_directory folder;
  const auto refusal_of_file = [&](const std::string& path) {
    return refusal_of([&] { static_cast<void>(read_requests(path)); });
  };
  const std::string none = folder.path() + "/none.csv";
  EXPECT_EQ(refusal_of_file(none), none + ": cannot be read");
  const std::string empty = folder.write("empty.csv", {});
  EXPECT_EQ(refusal_of_file(empty), empty + ":1: the header is not TIMESTAMP,ContextTokens,GeneratedTokens");
  const std::string other = folder.write("other.csv", bytes_of("t_us,op,id\n"));
  EXPECT_EQ(refusal_of_file(other), other + ":1: the header is not TIMESTAMP,ContextTokens,GeneratedTokens");
  const std::string bare = folder.write("bare.csv", bytes_of(header));
  EXPECT_EQ(refusal_of_file(bare), bare + ": there is no request in it");
}

TEST(requests, the_published_traces_have_their_published_numbers) {
  const auto conversations = shared_file("requests/AzureLLMInferenceTrace_conv.csv");
  const auto code = shared_file("requests/AzureLLMInferenceTrace_code.csv");
  if (!conversations || !code) GTEST_SKIP() << "there are no published traces here";
  EXPECT_EQ(read_requests(*conversations).size(), 19'366U);
  EXPECT_EQ(read_requests(*code).size(), 8'819U);
}

}  // namespace
}  // namespace arcalloc::decode
