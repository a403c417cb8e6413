// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "decode/session.hpp"
#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::running_program;
using test::temporary_folder;
using json = nlohmann::json;

std::string small_config() { return decode::config_names().back(); }

/// What a decode of the small configuration printed, and its JSON.
struct decoded {
  ended run;
  json result;
};

decoded decode_small(const std::vector<std::string>& flags) {
  const temporary_folder folder;
  std::vector<std::string> words{"decode", "--config", small_config(), "--json", folder.file("r.json")};
  words.insert(words.end(), flags.begin(), flags.end());
  decoded found{arcalloc(words), {}};
  if (std::filesystem::exists(folder.file("r.json"))) found.result = json::parse(content_of(folder.file("r.json")));
  return found;
}

const json& leg_in(const json& result, const std::string& name) {
  for (const json& leg : result["legs"]) {
    if (leg["leg"] == name) return leg;
  }
  throw std::runtime_error("no leg " + name);
}

/// What each leg has from the device at most, over 100 tokens: from it, sizes follow that only some survive.
json peaks_of_100_tokens() {
  const decoded found = decode_small({"--tokens", "100", "--device", "host:1GiB", "--legs", "unbounded,bounded"});
  EXPECT_EQ(found.run.exit_status, 0) << found.run.err;
  return found.result;
}

TEST(decode_command, bounded_completes_on_a_device_on_which_unbounded_runs_out) {
  const json peaks = peaks_of_100_tokens();
  const auto unbounded_peak = leg_in(peaks, "unbounded")["reserved_bytes_peak"].get<std::uint64_t>();
  const auto bounded_peak = leg_in(peaks, "bounded")["reserved_bytes_peak"].get<std::uint64_t>();
  ASSERT_GT(unbounded_peak, bounded_peak);
  const std::string device = "host:" + std::to_string((bounded_peak + unbounded_peak) / 2);
  const decoded found = decode_small({"--tokens", "100", "--device", device});
  EXPECT_EQ(found.run.exit_status, 0) << found.run.err;
  const json& unbounded = leg_in(found.result, "unbounded");
  EXPECT_EQ(unbounded["outcome"], "device_out_of_memory");
  const auto done = unbounded["tokens_done"].get<std::uint64_t>();
  EXPECT_GT(done, 0U);
  EXPECT_LT(done, 100U);
  EXPECT_GT(unbounded["memory_growth_bytes"].get<std::int64_t>(), 0);
  EXPECT_NE(found.run.out.find("device_out_of_memory at token " + std::to_string(done + 1)), std::string::npos);
  for (const char* leg : {"off", "bounded"}) EXPECT_EQ(leg_in(found.result, leg)["outcome"], "completed") << leg;
  EXPECT_EQ(found.result["tokens_equal"], true);
  EXPECT_TRUE(found.result["gain_kept"].is_null());
  EXPECT_TRUE(found.result["bound_cost_ms_per_token"].is_null());
}

TEST(decode_command, bounded_running_out_of_memory_is_exit_status_4) {
  const json peaks = peaks_of_100_tokens();
  const auto needed = leg_in(peaks, "bounded")["counters"]["requested_bytes_peak"].get<std::uint64_t>();
  const std::string device = "host:" + std::to_string(needed - 64 * 1024);
  for (const char* leg : {"bounded", "off"}) {
    const decoded found = decode_small({"--tokens", "100", "--device", device, "--legs", leg});
    EXPECT_EQ(found.run.exit_status, 4) << leg;
    EXPECT_EQ(found.result["legs"][0]["outcome"], "device_out_of_memory") << leg;
    EXPECT_EQ(found.result["exit_status"], 4);
    EXPECT_EQ(found.run.err.rfind("arcalloc: leg " + std::string(leg) + " had to survive and did not", 0), 0U);
  }
  EXPECT_EQ(decode_small({"--tokens", "100", "--device", device, "--legs", "unbounded,exact"}).run.exit_status, 0);
}

TEST(decode_command, a_device_too_small_for_the_weights_ends_before_the_first_token) {
  const decoded found = decode_small({"--tokens", "5", "--device", "host:1MiB", "--legs", "bounded"});
  EXPECT_EQ(found.run.exit_status, 4);
  EXPECT_NE(found.run.out.find("device_out_of_memory before token 1"), std::string::npos) << found.run.out;
}

TEST(decode_command, bounded_survives_a_thousand_tokens_on_262_mib) {
  const decoded found = decode_small({"--tokens", "1000", "--device", "host:262MiB", "--legs", "bounded"});
  EXPECT_EQ(found.run.exit_status, 0) << found.run.err;
  const json& leg = leg_in(found.result, "bounded");
  EXPECT_EQ(leg["outcome"], "completed");
  EXPECT_EQ(leg["tokens_done"], 1000);
  EXPECT_LT(leg["cached_bytes_max"].get<std::uint64_t>(), 262U << 20);
  EXPECT_LE(leg["cached_bytes_peak"].get<std::uint64_t>(), 103022592U);
  EXPECT_LE(leg["reserved_bytes_peak"].get<std::uint64_t>(), 262U << 20);
}

TEST(decode_command, figures_of_the_legs_add_up) {
  const decoded found = decode_small({"--tokens", "30", "--device", "host:512MiB", "--rounds", "2"});
  ASSERT_EQ(found.run.exit_status, 0) << found.run.err;
  EXPECT_EQ(found.run.err, "");
  const json& off = leg_in(found.result, "off");
  EXPECT_DOUBLE_EQ(off["driver_allocs_per_step"].get<double>(), off["requests_per_step"].get<double>());
  EXPECT_EQ(off["hit_rate"], 0);
  EXPECT_EQ(off["bypassed"], off["counters"]["requests"]);
  EXPECT_EQ(leg_in(found.result, "unbounded")["driver_frees_per_step"], 0);
  for (const json& leg : found.result["legs"]) {
    const double allocs = leg["driver_allocs_per_step"].get<double>();
    const double missed = (1 - leg["hit_rate"].get<double>()) * leg["requests_per_step"].get<double>();
    EXPECT_NEAR(allocs, missed, 1e-6) << leg["leg"];
    EXPECT_EQ(leg["memory_deciles_bytes"].size(), 11U);
    EXPECT_EQ(leg["memory_deciles_bytes"][0], 0);
    EXPECT_EQ(leg["memory_growth_bytes"], leg["memory_deciles_bytes"][10]);
    EXPECT_TRUE(leg["memory_slope_bytes_per_s"].is_null());
    EXPECT_EQ(leg["text"], off["text"]);
    EXPECT_EQ(leg["counters"]["steps"], 30);
    EXPECT_EQ(leg["rounds"].size(), 2U);
    EXPECT_EQ(leg["accounting"], "identities hold");
  }
  EXPECT_EQ(found.result["bounded_over_unbounded"]["rounds"].size(), 2U);
  EXPECT_EQ(found.result["provenance"]["free_bytes_at_start"], 512U << 20);
}

TEST(decode_command, writes_a_page_with_every_leg_that_fetches_nothing) {
  const temporary_folder folder;
  const ended run = arcalloc({"decode", "--config", small_config(), "--tokens", "10", "--device", "host:512MiB",
                              "--report", folder.file("r.html"), "--legs", "bounded,off"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const std::string page = content_of(folder.file("r.html"));
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  EXPECT_NE(page.find("c-bounded"), std::string::npos);
  EXPECT_NE(page.find("c-off"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

TEST(decode_command, every_leg_writes_the_text_of_the_real_model_to_the_letter) {
  const auto shared = test::shared_folder();
  if (!shared) GTEST_SKIP() << "no model: set ARCALLOC_SHARED to a folder with data/model/stories260K.bin";
  const temporary_folder folder;
  const std::string model = *shared + "/data/model/";
  const ended run = arcalloc({"decode", "--model", model + "stories260K.bin", "--tokenizer", model + "tok512.bin",
                              "--tokens", "256", "--device", "host:512MiB", "--json", folder.file("r.json")});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  std::string golden = content_of(model + "greedy256.txt");
  while (!golden.empty() && golden.back() == '\n') golden.pop_back();
  ASSERT_GT(golden.size(), 100U);
  EXPECT_EQ(run.out.rfind("text\n" + golden, 0), 0U) << run.out;
  const json result = json::parse(content_of(folder.file("r.json")));
  ASSERT_EQ(result["legs"].size(), 4U);
  for (const json& leg : result["legs"]) {
    std::string text = leg["text"];
    while (!text.empty() && text.back() == '\n') text.pop_back();
    EXPECT_EQ(text, golden) << leg["leg"];
  }
  EXPECT_EQ(result["tokens_equal"], true);
}

TEST(decode_command, with_capture_every_leg_replays_the_text_of_the_real_model_to_the_letter) {
  const auto shared = test::shared_folder();
  if (!shared) GTEST_SKIP() << "no model: set ARCALLOC_SHARED to a folder with data/model/stories260K.bin";
  const temporary_folder folder;
  const std::string model = *shared + "/data/model/";
  const ended run = arcalloc({"decode", "--model", model + "stories260K.bin", "--tokenizer", model + "tok512.bin",
                              "--tokens", "256", "--device", "host:512MiB", "--kv", "preallocated", "--capture",
                              "--json", folder.file("r.json"), "--report", folder.file("r.html")});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  std::string golden = content_of(model + "greedy256.txt");
  while (!golden.empty() && golden.back() == '\n') golden.pop_back();
  ASSERT_GT(golden.size(), 100U);
  EXPECT_EQ(run.out.rfind("text\n" + golden, 0), 0U) << run.out;
  const json result = json::parse(content_of(folder.file("r.json")));
  EXPECT_EQ(result["tokens_equal"], true);
  EXPECT_EQ(result["input"]["capture"], true);
  ASSERT_EQ(result["legs"].size(), 4U);
  for (const json& leg : result["legs"]) {
    const json& capture = leg["capture"];
    EXPECT_EQ(capture["outcome"], "ok") << leg["leg"];
    EXPECT_EQ(capture["replays"], 256 - decode::warm_up_steps) << leg["leg"];
    EXPECT_EQ(capture["requests_in_replays"], 0) << leg["leg"];
    EXPECT_EQ(capture["driver_calls_in_replays"], 0) << leg["leg"];
    EXPECT_GT(capture["pinned_bytes"], 0) << leg["leg"];
  }
  EXPECT_EQ(leg_in(result, "bounded")["capture_misses"], 0);
  EXPECT_EQ(leg_in(result, "bounded")["capture"]["profile"]["verify"], "ok");
  EXPECT_NE(run.out.find("capture misses of bounded: none\n"), std::string::npos) << run.out;
  EXPECT_NE(content_of(folder.file("r.html")).find("<h2>Capture and replay</h2>"), std::string::npos);
}

TEST(decode_command, a_profile_recorded_in_one_run_covers_the_next_and_without_it_the_misses_are_named) {
  const temporary_folder folder;
  const std::vector<std::string> flags{"--kv",   "preallocated", "--capture", "--tokens",   "5",
                                       "--legs", "bounded",      "--device",  "host:512MiB"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = flags;
    words.insert(words.end(), more.begin(), more.end());
    return decode_small(words);
  };
  const std::string file = folder.file("p.json");
  const decoded recorded = with({"--record-profile", file});
  ASSERT_EQ(recorded.run.exit_status, 0) << recorded.run.err;
  EXPECT_EQ(json::parse(content_of(file))["schema"], "arcalloc.profile/1");
  const decoded covered = with({"--profile", file});
  ASSERT_EQ(covered.run.exit_status, 0) << covered.run.err;
  EXPECT_EQ(covered.result["legs"][0]["capture"]["misses"].size(), 0U);
  EXPECT_EQ(covered.result["legs"][0]["capture"]["replays"], 5);
  EXPECT_EQ(covered.result["legs"][0]["capture"]["profile"]["verify"], "ok");
  const decoded cold = with({"--no-prewarm"});
  ASSERT_EQ(cold.run.exit_status, 0) << cold.run.err;
  const json& misses = cold.result["legs"][0]["capture"]["misses"];
  ASSERT_GT(misses.size(), 0U);
  // Keys and values as attention sees them: 8 heads, 4096 positions, 32 numbers.
  EXPECT_NE(cold.run.out.find("capture misses of bounded: 4,194,304 bytes x 2"), std::string::npos) << cold.run.out;
  for (const decoded* each : {&covered, &cold}) {
    EXPECT_EQ(each->result["legs"][0]["text"], recorded.result["legs"][0]["text"]);
  }
}

/// Refused with status 2 and one line that has `named` in it, before anything runs.
void expect_decode_refused(const std::vector<std::string>& flags, const std::string& named) {
  std::vector<std::string> words{"decode"};
  words.insert(words.end(), flags.begin(), flags.end());
  test::expect_refused(words, named);
}

TEST(decode_command, refuses_flags_that_make_no_sense_by_name) {
  for (const char* flag : {"--tokens", "--context", "--cap", "--exact-cap", "--rounds"}) {
    for (const char* value : {"", "-1", "1e3", "01", "4Gi", " 1", "18446744073709551616"}) {
      expect_decode_refused({std::string(flag) + "=" + value}, flag);
    }
    expect_decode_refused({flag}, flag);
    expect_decode_refused({flag, "1", flag, "2"}, flag);
  }
  expect_decode_refused({"--tokens", "0"}, "--tokens");
  expect_decode_refused({"--rounds", "0"}, "--rounds");
  expect_decode_refused({"--legs", "off,none"}, "--legs");
  expect_decode_refused({"--legs="}, "--legs");
  expect_decode_refused({"--legs", "off,off"}, "--legs");
  expect_decode_refused({"--kv", "paged"}, "--kv");
  expect_decode_refused({"--device", "host:1e9"}, "--device");
  expect_decode_refused({"--frobnicate"}, "--frobnicate");
  expect_decode_refused({"stray"}, "stray");
}

TEST(decode_command, refuses_capture_flags_that_make_no_sense_by_name) {
  const std::vector<std::string> capture{"--capture", "--kv", "preallocated", "--tokens", "4"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = capture;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  expect_decode_refused({"--capture"}, "--capture: needs --kv preallocated");
  expect_decode_refused({"--capture", "--kv", "concat"}, "--capture: needs --kv preallocated");
  expect_decode_refused({"--capture", "--kv", "preallocated", "--tokens", "1"}, "--capture: needs 2 tokens");
  expect_decode_refused({"--no-prewarm"}, "--no-prewarm: of use only with --capture");
  expect_decode_refused({"--profile", "p"}, "--profile: of use only with --capture");
  expect_decode_refused({"--record-profile", "p"}, "--record-profile: of use only with --capture");
  expect_decode_refused(with({"--record-profile", "p", "--profile", "q"}), "--record-profile and --profile");
  expect_decode_refused(with({"--record-profile", "p", "--no-prewarm"}), "--record-profile and --no-prewarm");
  expect_decode_refused(with({"--record-profile", "p", "--legs", "off"}), "--record-profile: is about the leg bounded");
  expect_decode_refused(with({"--profile", "p", "--legs", "off"}), "--profile: is about the leg bounded");
  expect_decode_refused(with({"--profile", ""}), "--profile: the name is empty");
  expect_decode_refused(with({"--record-profile", ""}), "--record-profile: the name is empty");
  expect_decode_refused(with({"--record-profile", "/tmp/same", "--json", "/tmp/same"}),
                        "--record-profile: names a result");
  expect_decode_refused(with({"--record-profile", "/nonexistent/p"}), "--record-profile: cannot write /nonexistent/p");
  expect_decode_refused(with({"--profile", "/nonexistent/p"}), "--profile: /nonexistent/p");
}

TEST(decode_command, refuses_inputs_that_cannot_be_used_by_name) {
  expect_decode_refused({"--config", "gpt-9"}, "gpt-9");
  expect_decode_refused({"--config="}, "--config");
  expect_decode_refused({"--model", "/nonexistent/m.bin"}, "--tokenizer");
  expect_decode_refused({"--tokenizer", "/nonexistent/t.bin"}, "--model");
  expect_decode_refused({"--model", "m", "--tokenizer", "t", "--config", small_config()}, "--config");
  expect_decode_refused({"--model", "/nonexistent/m.bin", "--tokenizer", "/nonexistent/t.bin"}, "/nonexistent/");
  expect_decode_refused({"--model", "/", "--tokenizer", "/"}, "/");
  expect_decode_refused({"--config", small_config(), "--tokens", "10000000"}, "10000000");
}

TEST(decode_command, refuses_results_that_cannot_be_written_before_it_runs) {
  expect_decode_refused({"--json", "/nonexistent/r.json"}, "--json: cannot write /nonexistent/r.json");
  expect_decode_refused({"--report", "/nonexistent/r.html"}, "--report: cannot write /nonexistent/r.html");
  expect_decode_refused({"--report", "/"}, "--report");
  expect_decode_refused({"--json="}, "--json");
  expect_decode_refused({"--json", "/tmp/same", "--report", "/tmp/same"}, "--report and --json");
}

bool is_gone(pid_t process) {
  const std::string stat = content_of("/proc/" + std::to_string(process) + "/stat");
  const std::size_t end = stat.rfind(')');
  // A zombie is gone too: it only waits to be reaped.
  return end == std::string::npos || stat[end + 2] == 'Z';
}

std::vector<std::string> long_decode(const std::string& leg) {
  return {"decode", "--config", small_config(), "--tokens", "4000", "--legs", leg, "--device", "host:512MiB"};
}

TEST(decode_command, an_interrupted_run_leaves_no_leg_behind) {
  for (const int number : {SIGINT, SIGTERM}) {
    running_program program(long_decode("bounded"), {});
    const auto leg = program.wait_for_leg();
    ASSERT_TRUE(leg);
    ::kill(program.id(), number);
    const ended run = program.wait();
    EXPECT_EQ(run.signal_number, number);
    EXPECT_TRUE(is_gone(*leg));
  }
}

TEST(decode_command, a_leg_ends_with_its_parent_however_that_ends) {
  running_program program(long_decode("bounded"), {});
  const auto leg = program.wait_for_leg();
  ASSERT_TRUE(leg);
  ::kill(program.id(), SIGKILL);
  EXPECT_EQ(program.wait().signal_number, SIGKILL);
  while (!is_gone(*leg)) ::sched_yield();
}

TEST(decode_command, a_leg_that_is_killed_is_reported_as_such) {
  running_program program(long_decode("exact"), {});
  const auto leg = program.wait_for_leg();
  ASSERT_TRUE(leg);
  ::kill(*leg, SIGKILL);
  const ended run = program.wait();
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_NE(run.out.find("backend_failed"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("killed by signal 9"), std::string::npos) << run.out;
}

TEST(decode_command, shows_progress_on_a_terminal_only) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) GTEST_SKIP() << "this system has no pseudo-terminals (/dev/ptmx)";
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  const std::string name = ::ptsname(terminal);
  running_program program(
      {"decode", "--config", small_config(), "--tokens", "20", "--legs", "bounded", "--device", "host:512MiB"}, {},
      name);
  const ended run = program.wait();
  EXPECT_EQ(run.exit_status, 0);
  char shown[4096] = {};
  const ssize_t length = ::read(terminal, shown, sizeof shown - 1);
  ::close(terminal);
  ASSERT_GT(length, 0);
  EXPECT_NE(std::string(shown).find("[1/1] bounded"), std::string::npos);
}

}  // namespace
}  // namespace arcalloc::cli
