// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
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

const std::string csv_rows = "t_us,op,id,size,stream\n1,a,5,256,0\n2,f,9,64,0\n3,a,6,100,0\n4,f,5,256,0\n";

std::size_t entries_in(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

TEST(convert, says_what_was_read_and_what_was_written) {
  const temporary_folder folder;
  const std::string in = folder.file("a.csv");
  const std::string out = folder.file("b.arct");
  write_file(in, csv_rows);
  const ended run = arcalloc({"convert", in, out});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, in + ": csv, 5 events: 3 allocate, 2 free\n" +
                         "  before the recording: blocks 1, bytes requested 64, bytes reserved 0\n" +
                         "  peaks: bytes requested 356, bytes reserved 0; blocks live at the end 1\n" + out +
                         ": own, 5 events, " + std::to_string(content_of(out).size()) + " bytes\n");
}

TEST(convert, and_back_is_the_same) {
  const temporary_folder folder;
  write_file(folder.file("a.csv"), csv_rows);
  for (const char* name : {"b.arct", "b.pickle", "b.pkl", "b.csv"}) {
    ASSERT_EQ(arcalloc({"convert", folder.file("a.csv"), folder.file(name), "--from-empty"}).exit_status, 0) << name;
    ASSERT_EQ(arcalloc({"convert", folder.file(name), folder.file("c"), "--to", "csv"}).exit_status, 0) << name;
    const std::string there_and_back = content_of(folder.file("c"));
    EXPECT_EQ(lines_in(there_and_back), 4U) << name;
    EXPECT_NE(there_and_back.find("3,a,"), std::string::npos) << there_and_back;
  }
  EXPECT_EQ(content_of(folder.file("b.arct")).substr(1, 4), "ARCT");
  EXPECT_EQ(content_of(folder.file("b.pickle")).substr(0, 2), "\x80\x04");
  EXPECT_EQ(content_of(folder.file("b.csv")), "t_us,op,id,size,stream\n1,a,5,256,0\n3,a,6,100,0\n4,f,5,256,0\n");
}

TEST(convert, a_file_may_be_converted_onto_itself) {
  const temporary_folder folder;
  write_file(folder.file("a"), csv_rows);
  ASSERT_EQ(arcalloc({"convert", folder.file("a"), folder.file("a"), "--to", "own"}).exit_status, 0);
  EXPECT_EQ(content_of(folder.file("a")).substr(1, 4), "ARCT");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(convert, writes_its_counts_as_json) {
  const temporary_folder folder;
  write_file(folder.file("a.csv"), csv_rows);
  ASSERT_EQ(
      arcalloc({"convert", folder.file("a.csv"), folder.file("b.pickle"), "--json", folder.file("j")}).exit_status, 0);
  const auto json = nlohmann::json::parse(content_of(folder.file("j")));
  EXPECT_EQ(json["schema"], "arcalloc.convert/1");
  EXPECT_EQ(json["from"], "csv");
  EXPECT_EQ(json["to"], "snapshot");
  EXPECT_EQ(json["events"]["allocate"], 3);
  EXPECT_EQ(json["events"]["free"], 2);
  EXPECT_EQ(json["blocks_before"], 1);
  EXPECT_EQ(json["requested_bytes_peak"], 356);
  EXPECT_EQ(json["cut_at"], nullptr);
}

TEST(convert, a_trace_that_was_not_closed_is_converted_with_a_warning) {
  const temporary_folder folder;
  write_file(folder.file("a.csv"), csv_rows);
  ASSERT_EQ(arcalloc({"convert", folder.file("a.csv"), folder.file("b")}).exit_status, 0);
  const std::string whole = content_of(folder.file("b"));
  write_file(folder.file("b"), whole.substr(0, whole.size() - 1));
  const ended run = arcalloc({"convert", folder.file("b"), folder.file("c.csv")});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.err, "arcalloc: " + folder.file("b") + ": warning: was not closed; it is readable up to byte " +
                         std::to_string(whole.size() - 13) + "\n");
  EXPECT_EQ(lines_in(content_of(folder.file("c.csv"))), 6U);
}

TEST(convert, a_refused_trace_leaves_what_was_there) {
  const temporary_folder folder;
  const std::string in = folder.file("a.csv");
  write_file(in, csv_rows + "5,a,6,1,0\n");
  write_file(folder.file("b"), "older");
  const ended run = arcalloc({"convert", in, folder.file("b"), "--json", folder.file("j")});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "arcalloc: " + in + ":6: allocates 6, which is live\n");
  EXPECT_EQ(content_of(folder.file("b")), "older");
  EXPECT_EQ(entries_in(folder.path()), 2U);
}

TEST(convert, what_could_run_code_is_refused_whatever_its_name) {
  const temporary_folder folder;
  write_file(folder.file("a.json"),
             "\x80\x04"
             "cos\nsystem\n(X\x02" +
                 std::string(3, '\0') + "lst\x85R.");
  const ended run = arcalloc({"convert", folder.file("a.json"), folder.file("b")});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.err, "arcalloc: " + folder.file("a.json") + " at byte 2: the opcode GLOBAL could run code: refused\n");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(convert, lifetimes_have_a_unit) {
  const temporary_folder folder;
  write_file(folder.file("a"), "id,lower,upper,size\n1,0,5,3\n");
  ASSERT_EQ(arcalloc({"convert", folder.file("a"), folder.file("b.csv"), "--unit", "1KiB"}).exit_status, 0);
  EXPECT_EQ(content_of(folder.file("b.csv")), "t_us,op,id,size,stream\n0,a,1,3072,0\n5,f,1,3072,0\n");
  const ended run = arcalloc({"convert", folder.file("b.csv"), folder.file("c"), "--unit", "1KiB"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.err, "arcalloc: --unit: only lifetimes have units, and " + folder.file("b.csv") + " is csv\n");
}

TEST(convert, bad_usage_is_one_line) {
  const temporary_folder folder;
  const std::string in = folder.file("a.csv");
  const std::string out = folder.file("b");
  write_file(in, csv_rows);
  const std::vector<std::vector<std::string>> all{{"convert"},
                                                  {"convert", in},
                                                  {"convert", "", out},
                                                  {"convert", in, ""},
                                                  {"convert", in, out, "more"},
                                                  {"convert", in, folder.path()},
                                                  {"convert", folder.path(), out},
                                                  {"convert", folder.file("none"), out},
                                                  {"convert", in, folder.file("none/b")},
                                                  {"convert", in, out, "--to", "rmm"},
                                                  {"convert", in, out, "--to", ""},
                                                  {"convert", in, out, "--from", "json"},
                                                  {"convert", in, out, "--from", "snapshot"},
                                                  {"convert", in, out, "--unit", "0"},
                                                  {"convert", in, out, "--unit", "1kb"},
                                                  {"convert", in, out, "--device", "-1"},
                                                  {"convert", in, out, "--device", "4294967296"},
                                                  {"convert", in, out, "--json", ""},
                                                  {"convert", in, out, "--json", folder.path()},
                                                  {"convert", in, out, "--fast"}};
  for (const auto& words : all) {
    const ended run = arcalloc(words);
    EXPECT_EQ(run.exit_status, 2) << words.back();
    EXPECT_EQ(run.out, "") << words.back();
    EXPECT_EQ(lines_in(run.err), 1U) << run.err;
    EXPECT_EQ(run.err.rfind("arcalloc: ", 0), 0U) << run.err;
    EXPECT_EQ(entries_in(folder.path()), 1U) << words.back();
  }
}

}  // namespace
}  // namespace arcalloc::cli
