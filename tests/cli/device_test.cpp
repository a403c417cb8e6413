// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "decode/session.hpp"
#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::environment;
using test::temporary_folder;

std::vector<std::string> short_decode() {
  return {"decode",   "--config",   decode::config_names().back(), "--tokens", "2", "--legs", "bounded",
          "--device", "host:256MiB"};
}

std::string lock_in(const temporary_folder& folder) {
  return folder.file("arcalloc-host-" + std::to_string(::getuid()) + ".lock");
}

TEST(device, that_another_decode_holds_is_refused_with_its_process_id) {
  const temporary_folder folder;
  const int file = ::open(lock_in(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
  ASSERT_EQ(::write(file, "4711\n", 5), 5);
  const ended refused = arcalloc(short_decode(), {{"XDG_RUNTIME_DIR", folder.path()}});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("process 4711"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find(lock_in(folder)), std::string::npos) << refused.err;
  ::close(file);
  const ended taken = arcalloc(short_decode(), {{"XDG_RUNTIME_DIR", folder.path()}});
  EXPECT_EQ(taken.exit_status, 0) << taken.err;
}

TEST(device, whose_lock_file_is_a_link_is_refused) {
  const temporary_folder folder;
  ASSERT_EQ(::symlink("/dev/null", lock_in(folder).c_str()), 0);
  const ended refused = arcalloc(short_decode(), {{"XDG_RUNTIME_DIR", folder.path()}});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_NE(refused.err.find(lock_in(folder)), std::string::npos) << refused.err;
}

TEST(device, larger_than_the_available_memory_is_refused_with_both_figures) {
  const ended refused = arcalloc({"decode", "--device", "host:1000000GiB"});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("MiB of memory available"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("1024000000.0 MiB"), std::string::npos) << refused.err;
}

TEST(device, that_is_simulated_is_for_decode_only) {
  const ended refused = arcalloc({"doctor", "--device", "sim:h200"});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.err, "arcalloc: --device sim:h200: a simulated card is of use with decode only\n");
}

TEST(device, of_cuda_that_is_not_there_is_refused_with_what_is_missing) {
  for (const char* command : {"decode", "doctor"}) {
    // A number that no machine has: where there is a driver, the device is what is missing.
    const ended refused = arcalloc({command, "--device", "cuda:99999"});
    EXPECT_EQ(refused.exit_status, 3) << command;
    EXPECT_EQ(refused.out, "") << command;
    EXPECT_EQ(refused.err.rfind("arcalloc: --device cuda:99999: ", 0), 0U) << refused.err;
    EXPECT_EQ(refused.err.find("not available in this version"), std::string::npos) << refused.err;
  }
}

environment fake_card(const temporary_folder& folder, const char* others_mb = "0") {
  return {{"LD_LIBRARY_PATH", ARCALLOC_FAKE_CUDA_FOLDER},
          {"FAKE_CUDA_SHARED", folder.file("card")},
          {"FAKE_CUDA_OTHERS_MB", others_mb},
          {"XDG_RUNTIME_DIR", folder.path()}};
}

TEST(device, of_cuda_is_looked_at) {
  const temporary_folder folder;
  const ended seen = arcalloc({"doctor", "--device", "cuda:0"}, fake_card(folder, "24314"));
  EXPECT_EQ(seen.exit_status, 0) << seen.err;
  for (const char* part :
       {"CUDA 13.0, simulated device 0", "512 bytes", "262.0 MiB", "min(1024 MiB, (262.0 - 65.5) / 2) = 98.25 MiB"}) {
    EXPECT_NE(seen.out.find(part), std::string::npos) << part << '\n' << seen.out;
  }
  const ended none = arcalloc({"doctor", "--device", "cuda:1"}, fake_card(folder));
  EXPECT_EQ(none.exit_status, 3);
  EXPECT_EQ(none.err,
            "arcalloc: --device cuda:1: there is no device 1: the driver (CUDA 13.0) sees 1, numbered from 0\n");
}

/// The result of a run on the fake card, which ended well.
nlohmann::json decoded_on_card(std::vector<std::string> words) {
  const temporary_folder folder;
  words.insert(words.begin(), {"decode", "--device", "cuda:0", "--config", decode::config_names().back()});
  words.insert(words.end(), {"--json", folder.file("result.json")});
  const ended run = arcalloc(words, fake_card(folder));
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_NE(run.out.find("memory traffic only: nothing was computed, and each token is its position"),
            std::string::npos)
      << run.out;
  return nlohmann::json::parse(content_of(folder.file("result.json")));
}

TEST(device, of_cuda_decodes_in_memory_traffic) {
  const nlohmann::json result = decoded_on_card({"--tokens", "12", "--context", "3"});
  EXPECT_EQ(result["input"]["work"], "memory traffic");
  EXPECT_EQ(result["input"]["stream_ordered"], false);
  EXPECT_EQ(result["input"]["sim"], nullptr);
  EXPECT_EQ(result["provenance"]["driver"], "CUDA 13.0, simulated device 0");
  EXPECT_EQ(result["provenance"]["free_bytes_at_start"], std::uint64_t{24} << 30);
  EXPECT_EQ(result["tokens_equal"], true);
  ASSERT_EQ(result["legs"].size(), 4U);
  for (const nlohmann::json& leg : result["legs"]) {
    EXPECT_EQ(leg["outcome"], "completed") << leg["leg"];
    EXPECT_EQ(leg["text"], "3 4 5 6 7 8 9 10 11 12 13 14") << leg["leg"];
    EXPECT_FALSE(leg["memory_growth_bytes"].is_null()) << leg["leg"];
  }
  // The card's own figure follows the leg that leaks, from outside of its process.
  const nlohmann::json& unbounded = result["legs"][1];
  ASSERT_EQ(unbounded["leg"], "unbounded");
  EXPECT_GT(unbounded["memory_growth_bytes"], 0);
}

TEST(device, of_cuda_captures_and_replays_its_graphs) {
  const nlohmann::json result = decoded_on_card({"--tokens", "8", "--kv", "preallocated", "--capture"});
  for (const nlohmann::json& leg : result["legs"]) {
    EXPECT_EQ(leg["text"], "0 1 2 3 4 5 6 7") << leg["leg"];
    EXPECT_EQ(leg["capture"]["replays"], 5) << leg["leg"];
    EXPECT_EQ(leg["capture"]["requests_in_replays"], 0) << leg["leg"];
  }
}

TEST(device, of_cuda_lends_from_a_pool_of_its_own_too) {
  const nlohmann::json result = decoded_on_card({"--tokens", "6", "--alloc", "async", "--legs", "off,bounded"});
  EXPECT_EQ(result["input"]["stream_ordered"], true);
  for (const nlohmann::json& leg : result["legs"]) EXPECT_EQ(leg["text"], "0 1 2 3 4 5") << leg["leg"];
  const ended refused = arcalloc({"decode", "--alloc", "async"});
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_EQ(refused.err, "arcalloc: --alloc: of use only with a simulated or a CUDA device\n");
}

TEST(device, of_cuda_plays_a_trace_whose_blocks_hold_what_was_written_there) {
  const temporary_folder folder;
  std::string trace = "t_us,op,id,size,stream\n";
  for (int i = 0; i < 60; ++i) {
    const std::string id = std::to_string(i);
    const std::string rest = id + "," + std::to_string(1000 + 5000 * (i % 7)) + "," + std::to_string(i % 3) + "\n";
    trace += ",a," + rest;
    if (i % 2 == 1) trace += ",f," + rest;
  }
  test::write_file(folder.file("t.csv"), trace);
  const std::vector<std::string> words{"replay",   folder.file("t.csv"), "--device", "cuda:0",
                                       "--policy", "off,bounded",        "--json",   folder.file("r.json")};
  const ended run = arcalloc(words, fake_card(folder));
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const nlohmann::json found = nlohmann::json::parse(content_of(folder.file("r.json")));
  EXPECT_EQ(found["provenance"]["driver"], "CUDA 13.0, simulated device 0");
  EXPECT_EQ(found["device_bytes"], nullptr);
  EXPECT_EQ(found["policies"][0]["counters"]["driver_allocs"], 60);
  EXPECT_LE(found["policies"][1]["counters"]["driver_allocs"], 6);
  for (const nlohmann::json& policy : found["policies"]) EXPECT_TRUE(policy["convictions"].empty()) << policy;
  const ended refused = arcalloc(words, fake_card(folder, "2048"));
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.err, "arcalloc: --device cuda:0: not empty: 2048.0 MiB are in use\n");
}

TEST(device, of_cuda_that_is_in_use_is_refused) {
  const temporary_folder folder;
  const ended refused = arcalloc({"decode", "--device", "cuda:0"}, fake_card(folder, "2048"));
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.err, "arcalloc: --device cuda:0: not empty: 2048.0 MiB are in use\n");
}

TEST(device, of_cuda_has_no_arithmetic_for_a_model) {
  const temporary_folder folder;
  const ended refused =
      arcalloc({"decode", "--device", "cuda:0", "--model", "m", "--tokenizer", "t"}, fake_card(folder));
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_NE(refused.err.find("nothing is computed"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace arcalloc::cli
