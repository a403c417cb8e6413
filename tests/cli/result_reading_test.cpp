// SPDX-License-Identifier: Apache-2.0
#include "cli/result_reading.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/decode_json.hpp"
#include "cli/page/page.hpp"
#include "program.hpp"
#include "results.hpp"

namespace arcalloc::cli {
namespace {

using nlohmann::ordered_json;
using test::ended_run;
using test::leg_of;
using test::made_up_result;
using test::temporary_folder;
using test::write_file;

decode_result read_back(const std::string& text) {
  const temporary_folder folder;
  write_file(folder.file("j"), text);
  return read_decode_result(folder.file("j"));
}

void expect_the_same_page(decode_result result) {
  conclude(result);
  EXPECT_EQ(page::decode_page(read_back(decode_json(result))), page::decode_page(result));
}

std::string refusal_of(const std::string& text) {
  try {
    (void)read_back(text);
  } catch (const command_failure& refused) {
    EXPECT_EQ(refused.status, exit_status::bad_usage);
    return refused.message;
  }
  return {};
}

TEST(result_reading, a_result_makes_the_same_page_again) { expect_the_same_page(made_up_result()); }

TEST(result_reading, so_does_one_with_a_capture_and_one_with_rounds) {
  decode_result result = made_up_result();
  leg_of(result, leg::bounded).runs.front().report->outcome.capture = test::made_up_capture();
  expect_the_same_page(result);
  result.request.rounds = 3;
  for (leg_result& leg : result.legs) leg.runs.insert(leg.runs.end(), 2, leg.runs.front());
  expect_the_same_page(result);
}

TEST(result_reading, so_does_one_of_which_a_leg_died) {
  decode_result result = made_up_result();
  leg_of(result, leg::unbounded).runs = {ended_run(status::device_out_of_memory, 19)};
  expect_the_same_page(result);
  leg_run killed;
  killed.death = "killed by signal 9 (Killed)";
  leg_of(result, leg::bounded).runs = {killed};
  expect_the_same_page(result);
}

TEST(result_reading, an_identity_that_was_violated_stays_so) {
  decode_result result = made_up_result();
  leg_of(result, leg::exact).runs.front().report->outcome.at_end.held_bytes += 1;
  expect_the_same_page(result);
}

TEST(result_reading, tokens_that_differ_are_said_to) {
  decode_result result = made_up_result();
  leg_of(result, leg::exact).runs.front().report->outcome.tokens[3] = 77;
  conclude(result);
  const std::string page = page::decode_page(read_back(decode_json(result)));
  EXPECT_NE(page.find("tokens are not equal: the file does not say where"), std::string::npos);
}

TEST(result_reading, refuses_a_member_that_is_missing_or_something_else) {
  decode_result result = made_up_result();
  conclude(result);
  const ordered_json whole = ordered_json::parse(decode_json(result));
  for (const auto& [name, value] : whole.items()) {
    // What follows from the rest is not read.
    if (name == "schema" || name == "exit_status") continue;
    ordered_json without = whole;
    without.erase(name);
    EXPECT_NE(refusal_of(without.dump()).find("no result of arcalloc decode"), std::string::npos) << name;
    ordered_json wrong = whole;
    wrong[name] = ordered_json::array({1});
    EXPECT_NE(refusal_of(wrong.dump()).find("no result of arcalloc decode"), std::string::npos) << name;
  }
  ordered_json wrong = whole;
  wrong["legs"][0]["memory_deciles_bytes"].erase(0);
  wrong["legs"][0]["rounds"][0]["memory_deciles_bytes"].erase(0);
  EXPECT_NE(refusal_of(wrong.dump()).find("has not 11 entries"), std::string::npos);
  wrong = whole;
  wrong["legs"][1]["shown_round"] = 9;
  EXPECT_NE(refusal_of(wrong.dump()).find("shown_round is none of the rounds"), std::string::npos);
  wrong = whole;
  wrong["legs"][2]["leg"] = "other";
  EXPECT_NE(refusal_of(wrong.dump()).find("leg is \"other\""), std::string::npos);
}

TEST(result_reading, a_result_is_known_by_its_first_member) {
  const temporary_folder folder;
  const std::pair<const char*, std::optional<std::string>> cases[] = {
      {"{\"schema\":\"arcalloc.decode/1\"}", "arcalloc.decode/1"},
      {" \n{ \"schema\" : \"arcalloc.tune/1\", ", "arcalloc.tune/1"},
      {"{\"schema\":\"other/1\"}", std::nullopt},
      {"{\"schemaVersion\": 1, \"traceEvents\": []}", std::nullopt},
      {"{\"a\":1,\"schema\":\"arcalloc.decode/1\"}", std::nullopt},
      {"{\"schema\":\"arcalloc.decode/1", std::nullopt},
      {"", std::nullopt}};
  for (const auto& [text, expected] : cases) {
    write_file(folder.file("j"), text);
    EXPECT_EQ(schema_of(folder.file("j")), expected) << text;
  }
  EXPECT_EQ(schema_of(folder.file("none")), std::nullopt);
  EXPECT_EQ(schema_of(folder.path()), std::nullopt);
}

}  // namespace
}  // namespace arcalloc::cli
