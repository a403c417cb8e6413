// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::expect_refused;

/// The texts in golden/ are what the program prints: `arcalloc COMMAND --help` renews one.
std::string golden(const std::string& name) {
  return content_of(std::string(ARCALLOC_SOURCE_DIRECTORY) + "/tests/cli/golden/" + name);
}

void expect_help(const std::vector<std::string>& words, const std::string& name) {
  const ended run = arcalloc(words);
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.err, "");
  ASSERT_NE(golden(name), "") << name << " is missing";
  EXPECT_EQ(run.out, golden(name));
}

TEST(help, of_the_program_lists_the_commands) {
  expect_help({"--help"}, "help.txt");
  expect_help({"-h"}, "help.txt");
  expect_help({"help"}, "help.txt");
}

TEST(help, of_convert_lists_its_flags) { expect_help({"convert", "--help"}, "convert_help.txt"); }

TEST(help, of_decode_lists_its_flags) {
  expect_help({"decode", "--help"}, "decode_help.txt");
  expect_help({"help", "decode"}, "decode_help.txt");
}

TEST(help, of_doctor_lists_its_flags) { expect_help({"doctor", "--help"}, "doctor_help.txt"); }

TEST(help, of_replay_lists_its_flags) { expect_help({"replay", "--help"}, "replay_help.txt"); }

TEST(help, of_report_lists_its_flags) { expect_help({"report", "--help"}, "report_help.txt"); }

TEST(help, of_tune_lists_its_flags) { expect_help({"tune", "--help"}, "tune_help.txt"); }

TEST(help, version_has_one_item_a_line) {
  const ended run = arcalloc({"--version"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(test::lines_in(run.out), 6U);
  EXPECT_EQ(run.out.rfind("arcalloc ", 0), 0U);
  for (const char* item : {"\ncommit: ", "\ntree: ", "\nbuild id: ", "\ncompiler: ", "\nbuild type: "}) {
    EXPECT_NE(run.out.find(item), std::string::npos) << item;
  }
  EXPECT_EQ(run.out.find("build id: unknown"), std::string::npos);
}

TEST(help, commands_that_there_are_not_are_refused) {
  expect_refused({}, "--help");
  expect_refused({""}, "--help");
  for (const char* name : {"Tune", "reports", "Decode", "decod", "leg"}) expect_refused({name}, name);
  expect_refused({"help", "tunes"}, "tunes");
  expect_refused({"--verbose"}, "--verbose");
  expect_refused({"--version", "more"}, "--version");
  expect_refused({"decode-leg"}, "decode-leg");
  expect_refused({"a\nb"}, "a\\nb");
}

}  // namespace
}  // namespace arcalloc::cli
