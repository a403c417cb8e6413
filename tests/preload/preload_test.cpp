// SPDX-License-Identifier: Apache-2.0
// Programs as they are, with the preload library before the fake driver and without it: what they come to is the same.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace arcalloc::preload {
namespace {

/// What a run came to: what it printed, and what the fake driver says of it.
struct ended {
  int exit_status = -1;
  std::string out;
  std::string err;
  std::map<std::string, std::uint64_t> driver;
  std::vector<std::string> convicted;

  [[nodiscard]] std::uint64_t figure(const std::string& name) const {
    const auto found = driver.find(name);
    EXPECT_NE(found, driver.end()) << name << " is not said: " << err;
    return found == driver.end() ? 0 : found->second;
  }
  [[nodiscard]] std::uint64_t memory_calls() const { return figure("allocs") + figure("frees"); }
};

std::string read_all(std::FILE* from) {
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), from)) != 0;) text.append(part.data(), got);
  return text;
}

ended run(const std::string& command, const std::string& variables) {
  const std::string err_file = ::testing::TempDir() + "preload_" + std::to_string(::getpid()) + ".err";
  const std::string line = "env -u LD_PRELOAD LD_LIBRARY_PATH='" ARCALLOC_FAKE_CUDA_FOLDER "' " + variables + " " +
                           command + " 2>'" + err_file + "'";
  ended result;
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return result;
  result.out = read_all(pipe);
  const int how = ::pclose(pipe);
  if (WIFEXITED(how)) result.exit_status = WEXITSTATUS(how);
  if (std::FILE* const file = std::fopen(err_file.c_str(), "r"); file != nullptr) {
    result.err = read_all(file);
    std::fclose(file);
    std::filesystem::remove(err_file);
  }
  std::istringstream lines(result.err);
  for (std::string one; std::getline(lines, one);) {
    if (one.rfind("convicted: ", 0) == 0) result.convicted.push_back(one);
    std::istringstream words(one);
    std::string head;
    std::string name;
    std::uint64_t value = 0;
    if (words >> head >> name >> value && head == "driver:") result.driver[name] = value;
  }
  return result;
}

std::string program(const std::string& how) {
  return std::string("'") + (how == "linked" ? ARCALLOC_LINKED_PROGRAM : ARCALLOC_DRIVER_PROGRAM) + "' " + how + " ";
}
ended without(const std::string& how, const std::string& what) { return run(program(how) + what, ""); }
ended with(const std::string& how, const std::string& what, const std::string& variables = "") {
  return run(program(how) + what, "LD_PRELOAD='" ARCALLOC_PRELOAD "' " + variables);
}

class preload : public ::testing::TestWithParam<const char*> {
 protected:
  /// The same results, in the same words; and the second run was one of ours.
  static std::pair<ended, ended> compared(const std::string& what, const std::string& variables = "") {
    std::pair<ended, ended> both{without(GetParam(), what), with(GetParam(), what, variables)};
    EXPECT_EQ(both.first.exit_status, 0) << both.first.out << both.first.err;
    EXPECT_EQ(both.second.exit_status, 0) << both.second.out << both.second.err;
    EXPECT_EQ(both.second.out, both.first.out);
    EXPECT_NE(both.first.out, "");
    // What a program does wrong by itself, the driver may hear less of, and never more.
    EXPECT_LE(both.second.convicted.size(), both.first.convicted.size());
    for (const std::string& one : both.second.convicted) std::printf("%s\n", one.c_str());
    return both;
  }
  static void expect_a_hundredth(const std::pair<ended, ended>& both) {
    std::printf("driver calls for memory: %llu, under the preload library %llu\n",
                static_cast<unsigned long long>(both.first.memory_calls()),
                static_cast<unsigned long long>(both.second.memory_calls()));
    EXPECT_LE(both.second.memory_calls() * 100, both.first.memory_calls());
  }
};

TEST_P(preload, makes_a_hundredth_of_the_calls_for_growing_buffers) { expect_a_hundredth(compared("grow")); }

TEST_P(preload, replays_a_real_decoder_with_a_hundredth_of_the_calls_and_within_its_bounds) {
  const char* const shared = std::getenv("ARCALLOC_SHARED");
  const std::filesystem::path data = shared != nullptr ? shared : ARCALLOC_SOURCE_DIRECTORY "/../shared";
  const std::filesystem::path trace = data / "data/traces/stories260K_decode_libtorch.csv";
  if (!std::filesystem::exists(trace)) GTEST_SKIP() << "no " << trace;
  const auto both = compared("replay '" + trace.string() + "'", "ARC_ALLOC_CACHE_MAX_MB=8");
  expect_a_hundredth(both);
  const std::uint64_t live = both.second.figure("live_bytes_peak");
  std::printf("bytes from the driver at most: %llu, of %llu that were live\n",
              static_cast<unsigned long long>(both.second.figure("lent_bytes_peak")),
              static_cast<unsigned long long>(live));
  EXPECT_LE(both.second.figure("lent_bytes"), std::uint64_t{8} << 20) << "all is idle at the end: the cached max";
}

TEST_P(preload, keeps_what_is_reserved_below_a_capacity) {
  const auto both = compared("grow", "ARC_ALLOC_CAPACITY_MB=6");
  EXPECT_LE(both.second.figure("lent_bytes_peak"), std::uint64_t{6} << 20);
}

#ifdef ARCALLOC_PROGRAM
TEST_P(preload, records_a_program_that_knows_nothing_of_it_and_the_trace_is_played_again) {
  const std::string trace = ::testing::TempDir() + "preload_" + std::to_string(::getpid()) + ".arct";
  const auto both = compared("grow", "ARC_ALLOC_CACHE_TRACE='" + trace + "'");
  const ended played = run("'" ARCALLOC_PROGRAM "' replay '" + trace + "'", "");
  std::filesystem::remove(trace);
  EXPECT_EQ(played.exit_status, 0) << played.err;
  EXPECT_NE(played.out.find(": own, "), std::string::npos) << played.out;
  EXPECT_NE(played.out.find("\nbounded  completed "), std::string::npos) << played.out;
  // Each of the program's calls is an event, and there are the segments and the recording's own besides.
  const std::size_t at = played.out.find(": own, ") + 7;
  std::string events;
  for (const char c : played.out.substr(at, played.out.find(' ', at) - at)) {
    if (c != ',') events += c;
  }
  EXPECT_GE(std::stoull(events), both.first.memory_calls());
}

TEST_P(preload, runs_on_where_the_trace_cannot_be_written) {
  const auto both = compared("grow", "ARC_ALLOC_CACHE_TRACE=/nowhere/run.arct");
  EXPECT_NE(both.second.err.find("/nowhere/run.arct"), std::string::npos) << both.second.err;
}
#endif

TEST_P(preload, waits_for_other_streams_where_a_free_does) {
  const auto both = compared("second_stream");
  EXPECT_EQ(both.second.out, "41\n42\n43\n");
}

TEST_P(preload, takes_memory_in_the_order_of_streams_too) {
  const auto both = compared("async");
  EXPECT_GE(both.first.figure("async"), 400U);
  EXPECT_EQ(both.second.figure("async"), 0U);
  EXPECT_LE(both.second.memory_calls(), 4U);
}

TEST_P(preload, answers_mistakes_as_the_driver_does) { (void)compared("mistakes"); }

TEST_P(preload, leaves_captures_to_the_driver) { (void)compared("capture"); }

TEST_P(preload, forgets_what_was_in_a_context_that_is_gone) { (void)compared("contexts"); }

TEST_P(preload, serves_several_threads) { (void)compared("threads"); }

TEST_P(preload, that_is_set_up_wrongly_leaves_the_program_to_the_driver) {
  const ended plain = without(GetParam(), "grow");
  const ended ours = with(GetParam(), "grow", "ARC_ALLOC_CACHE_MAX_MB=4Gi");
  EXPECT_EQ(ours.out, plain.out);
  EXPECT_EQ(ours.memory_calls(), plain.memory_calls());
  EXPECT_NE(ours.err.find("ARC_ALLOC_CACHE_MAX_MB"), std::string::npos) << ours.err;
  EXPECT_NE(ours.err.find("memory is the driver's alone"), std::string::npos) << ours.err;
}

TEST_P(preload, that_is_switched_off_is_as_if_it_were_not_there) {
  const ended ours = with(GetParam(), "grow", "ARC_ALLOC_CACHE=0");
  EXPECT_EQ(ours.memory_calls(), without(GetParam(), "grow").memory_calls());
}

TEST_P(preload, reports_at_the_end_where_it_is_asked_to) {
  const ended ours = with(GetParam(), "grow", "ARC_ALLOC_CACHE_STATS=1");
  EXPECT_NE(ours.err.find("arcalloc: preload: device 0: requests 3600, hits 3"), std::string::npos) << ours.err;
}

INSTANTIATE_TEST_SUITE_P(found, preload, ::testing::Values("linked", "dlsym", "asked"),
                         [](const auto& how) { return std::string(how.param); });

TEST(preload_of_others, leaves_a_program_without_a_driver_alone) {
  for (const char* variables : {"", "LD_PRELOAD='" ARCALLOC_PRELOAD "'"}) {
    const ended found = run(program("dlsym") + "without", variables);
    EXPECT_EQ(found.out, "1\n") << variables << found.err;
  }
}

TEST(preload_of_others, keeps_what_is_next_for_whoever_asks) {
  const std::string command = "LD_PRELOAD='" ARCALLOC_PRELOAD ":" ARCALLOC_NEXT_CALLER "'";
  const ended found = run("'" ARCALLOC_NEXT_PROGRAM "'", command);
  EXPECT_EQ(found.out, "the next\n") << found.err;
}

}  // namespace
}  // namespace arcalloc::preload
