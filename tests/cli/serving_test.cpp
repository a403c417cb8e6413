// SPDX-License-Identifier: Apache-2.0
// `arcalloc decode --requests`, as its users run it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::temporary_folder;
using json = nlohmann::json;

/// A folder with a file of requests in it, and the program.
struct serving {
  serving() {
    write(
        "2023-11-16 18:00:00,600,5\n2023-11-16 18:00:00,100,40\n2023-11-16 18:00:00.5,1,1\n"
        "2023-11-16 18:00:01,131072,1\n2023-11-16 18:00:07.25,2000,20\n");
  }

  void write(const std::string& rows) const {
    test::write_file(path, "TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows);
  }
  [[nodiscard]] ended run(const std::vector<std::string>& flags) const {
    std::vector<std::string> words{"decode", "--device",   "sim:h200", "--config", "qwen3-0.6b",         "--layers",
                                   "2",      "--requests", path,       "--json",   folder.file("r.json")};
    words.insert(words.end(), flags.begin(), flags.end());
    return arcalloc(words);
  }
  [[nodiscard]] json result() const { return json::parse(content_of(folder.file("r.json"))); }

  temporary_folder folder;
  std::string path = folder.file("requests.csv");
};

TEST(serving, every_leg_answers_the_same_and_says_how_it_went_window_by_window) {
  const serving some;
  const ended run = some.run({"--batch", "2", "--chunk", "256", "--draft", "2", "--every", "5"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  EXPECT_NE(run.out.find("served by bounded: 4 of 5 requests, 1 skipped as too long, in 7.3 s"), std::string::npos)
      << run.out;
  const json result = some.result();
  const json asked{{"requests", some.path}, {"batch", 2}, {"chunk", 256}, {"draft", 2}, {"every", 5}, {"seconds", 0}};
  EXPECT_EQ(result["input"]["serving"], asked);
  EXPECT_EQ(result["input"]["layers"], 2);
  EXPECT_EQ(result["input"]["tokens"], 66);
  ASSERT_EQ(result["legs"].size(), 4U);
  for (const json& leg : result["legs"]) {
    EXPECT_EQ(leg["outcome"], "completed");
    EXPECT_EQ(leg["tokens_done"], 66);
    const json& served = leg["load"]["serving"];
    EXPECT_EQ(served["requests"], 5);
    EXPECT_EQ(served["done"], 4);
    EXPECT_EQ(served["skipped"], 1);
    ASSERT_EQ(served["windows"].size(), 2U);
    EXPECT_EQ(served["windows"][0]["requests_done"], 3);
    EXPECT_EQ(served["windows"][0]["sequences_most"], 2);
    EXPECT_EQ(served["windows"][1]["requests_done"], 1);
    EXPECT_EQ(served["windows"][1]["prompt_tokens"], 2000);
    std::uint64_t allocs = 0;
    for (const json& window : served["windows"]) allocs += window["driver_allocs"].get<std::uint64_t>();
    EXPECT_GT(allocs, 0U);
    EXPECT_LE(allocs, leg["counters"]["driver_allocs"]);
  }
}

TEST(serving, a_run_by_time_repeats_the_file_and_has_no_early_end) {
  const serving some;
  const ended run = some.run({"--seconds", "100", "--every", "50", "--legs", "bounded", "--kv", "preallocated"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const json result = some.result();
  const json& leg = result["legs"][0];
  EXPECT_EQ(leg["outcome"], "completed");
  EXPECT_EQ(leg["load"]["serving"]["seconds"], 100);
  EXPECT_GT(leg["load"]["serving"]["done"], 20);
  EXPECT_EQ(leg["load"]["serving"]["windows"].size(), 2U);
  EXPECT_EQ(run.out.find("early"), std::string::npos) << run.out;
}

TEST(serving, a_bad_line_is_named_by_file_and_number) {
  const serving some;
  some.write("2023-11-16 18:00:00,600,5\n2023-11-16 18:00:00,600,many\n");
  const ended run = some.run({});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.err, "arcalloc: --requests: " + some.path + ":3: a length is no whole number from 1 to 10000000\n");
}

TEST(serving, what_does_not_go_together_is_refused) {
  const serving some;
  struct refusal {
    std::vector<std::string> flags;
    std::string message;
  };
  const std::string config = "qwen3-0.6b";
  const refusal refusals[] = {
      {{"--batch", "0"}, "--batch: \"0\" is not a whole number from 1 to 4096"},
      {{"--chunk", "x"}, "--chunk: \"x\" is not a whole number from 1 to 65536"},
      {{"--draft", "65"}, "--draft: \"65\" is not a whole number from 0 to 64"},
      {{"--every", "0"}, "--every: \"0\" is not a whole number from 1 to 31536000"},
      {{"--seconds", "0"}, "--seconds: \"0\" is not a whole number from 1 to 31536000"},
      {{"--seconds", "5", "--tokens", "5"}, "--seconds and --tokens exclude each other"},
      {{"--context", "5"}, "--context: not with --requests, which bring their own"},
      {{"--ranks", "3"}, "--ranks: qwen3-0.6b has 16 heads, which do not divide among 3 ranks"},
  };
  for (const refusal& each : refusals) {
    const ended run = some.run(each.flags);
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_EQ(run.err, "arcalloc: " + each.message + "\n");
  }
  const refusal of_others[] = {
      {{"--batch", "2"}, "--batch: of use only with --requests"},
      {{"--requests", some.path}, "--requests: of use only with a simulated device"},
      {{"--layers", "2"}, "--layers: of use only with a simulated device"},
      {{"--device", "sim:h200", "--layers", "2"}, "--layers: not with --config demo-42m"},
      {{"--device", "sim:h200", "--config", "qwen3-0.6b", "--layers", "29"},
       "--layers: \"29\" is not a whole number from 1 to 28"},
      {{"--device", "sim:h200", "--config", "origin-v4", "--requests", some.path},
       "--requests: not with --config origin-v4"},
      {{"--device", "sim:h200", "--config", "qwen3-0.6b", "--requests", ""}, "--requests: the name is empty"},
      {{"--device", "sim:h200", "--config", "qwen3-0.6b", "--requests", some.path + "x"},
       "--requests: " + some.path + "x: cannot be read"},
  };
  for (const refusal& each : of_others) {
    std::vector<std::string> words{"decode"};
    words.insert(words.end(), each.flags.begin(), each.flags.end());
    const ended run = arcalloc(words);
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_EQ(run.err, "arcalloc: " + each.message + "\n");
  }
}

}  // namespace
}  // namespace arcalloc::cli
