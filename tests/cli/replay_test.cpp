// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::lines_in;
using test::temporary_folder;
using test::write_file;

TEST(replay, what_holds_is_said_in_one_line) {
  const temporary_folder folder;
  write_file(folder.file("a.ops"), "alloc A 4MiB\nexpect blocks_live == 1\n");
  const ended run = arcalloc({"replay", folder.file("a.ops")});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.out, folder.file("a.ops") + ": 2 expectations, 0 failed\n");
  EXPECT_EQ(run.err, "");
}

TEST(replay, all_that_fails_is_named_by_file_and_line) {
  const temporary_folder folder;
  const std::string file = folder.file("a.ops");
  write_file(file, "alloc A 64MiB\nexpect blocks_live == 2\nexpect allocated_bytes <= 1MiB\n");
  const ended run = arcalloc({"replay", file});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_EQ(run.out, file + ": 3 expectations, 2 failed\n");
  EXPECT_EQ(run.err, "arcalloc: " + file + ":2: expected blocks_live == 2, found 1\n" + "arcalloc: " + file +
                         ":3: expected allocated_bytes <= 1MiB, found 67108864\n");
}

TEST(replay, a_garbled_file_is_refused_by_line_and_column) {
  const temporary_folder folder;
  const std::string file = folder.file("a.ops");
  write_file(file, "step\nalloc A 4Mib\n");
  const ended run = arcalloc({"replay", file});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "arcalloc: " + file +
                         ":2:9: expected a size: a whole number, then nothing, KiB, MiB or GiB, found \"4Mib\"\n");
}

TEST(replay, bad_usage_is_one_line) {
  const temporary_folder folder;
  write_file(folder.file("a.ops"), "step\n");
  const std::vector<std::vector<std::string>> all{{"replay"},
                                                  {"replay", ""},
                                                  {"replay", folder.path()},
                                                  {"replay", folder.file("none.ops")},
                                                  {"replay", folder.file("a.ops"), folder.file("a.ops")},
                                                  {"replay", folder.file("a.ops"), "--json", ""},
                                                  {"replay", folder.file("a.ops"), "--json", folder.path()},
                                                  {"replay", folder.file("a.ops"), "--speed"}};
  for (const auto& words : all) {
    const ended run = arcalloc(words);
    EXPECT_EQ(run.exit_status, 2) << words.back();
    EXPECT_EQ(run.out, "") << words.back();
    EXPECT_EQ(lines_in(run.err), 1U) << run.err;
  }
}

TEST(replay, the_environment_of_the_program_is_not_the_scenarios) {
  const temporary_folder folder;
  write_file(folder.file("a.ops"), "expect cap_source == derived\n");
  const ended run = arcalloc({"replay", folder.file("a.ops")}, {{"ARC_ALLOC_CACHE_MAX_MB", "nonsense"}});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.err, "");
}

TEST(replay, warnings_of_the_settings_and_step_reports_are_shown) {
  const temporary_folder folder;
  write_file(folder.file("a.ops"), "env ARC_ALLOC_CACHE_MAX_MB=0\nenv ARC_ALLOC_CACHE_STATS=1\nalloc A 1\nstep\n");
  const ended run = arcalloc({"replay", folder.file("a.ops")});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(lines_in(run.out), 2U);
  EXPECT_NE(run.err.find("a.ops: warning: ARC_ALLOC_CACHE_MAX_MB=0"), std::string::npos) << run.err;
}

TEST(replay, the_json_has_the_result) {
  const temporary_folder folder;
  const std::string json = folder.file("a.json");
  write_file(folder.file("a.ops"), "alloc A 64MiB\nexpect blocks_live == 2\n");
  EXPECT_EQ(arcalloc({"replay", folder.file("a.ops"), "--json", json}).exit_status, 1);
  const auto result = nlohmann::json::parse(content_of(json));
  EXPECT_EQ(result.at("schema"), "arcalloc.replay/1");
  EXPECT_EQ(result.at("file"), folder.file("a.ops"));
  EXPECT_EQ(result.at("outcome"), "failed");
  EXPECT_EQ(result.at("expectations_checked"), 2);
  ASSERT_EQ(result.at("failed").size(), 1U);
  EXPECT_EQ(result.at("failed")[0].at("line"), 2);
  EXPECT_EQ(result.at("failed")[0].at("expected"), "blocks_live == 2");
  EXPECT_EQ(result.at("failed")[0].at("found"), "1");
  EXPECT_EQ(result.at("counters").at("blocks_live"), 1);
  EXPECT_EQ(result.at("provenance").at("device"), "sim");

  write_file(folder.file("a.ops"), "step\n");
  EXPECT_EQ(arcalloc({"replay", folder.file("a.ops"), "--json", json}).exit_status, 0);
  EXPECT_EQ(nlohmann::json::parse(content_of(json)).at("outcome"), "held");
}

}  // namespace
}  // namespace arcalloc::cli
