// SPDX-License-Identifier: Apache-2.0
#include "run_seed.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <arcalloc/version.hpp>

#include <csignal>
#include <cstdlib>
#include <string>

#include "drawing.hpp"
#include "reproduction.hpp"

namespace arcalloc::testing {

namespace {

std::string again(std::uint64_t seed, std::uint64_t steps) {
  return std::string("again: ARCALLOC_SIMULATION_SEED=")
      .append(std::to_string(seed))
      .append(" ARCALLOC_SIMULATION_STEPS=")
      .append(std::to_string(steps))
      .append(" simulation_tests --gtest_filter=simulation.the_seed_of_the_environment\n");
}

/// What a crash says last. Written before the run, since a handler may not make text.
class last_words {
 public:
  explicit last_words(const std::string& text) {
    text_ = text;
    std::signal(SIGABRT, say);
    std::signal(SIGSEGV, say);
  }
  ~last_words() {
    std::signal(SIGABRT, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
  }
  last_words(const last_words&) = delete;
  last_words& operator=(const last_words&) = delete;

 private:
  static void say(int which) {
    const ssize_t written = ::write(STDERR_FILENO, text_.data(), text_.size());
    std::signal(which, SIG_DFL);
    if (written >= 0) std::raise(which);
  }
  static inline std::string text_;
};

std::string told_of(const plan& drawn, std::uint64_t seed, std::uint64_t steps) {
  return again(seed, steps).append(write_reproduction(drawn, std::string("seed_").append(std::to_string(seed))));
}

}  // namespace

void run_seed(std::uint64_t seed, std::uint64_t steps) {
  const plan drawn = draw_plan(seed, steps);
  const last_words crash(again(seed, steps));
  const simulation_result first = run_plan(drawn);
  ASSERT_TRUE(first.violation.empty()) << "after " << first.played << " operations: " << first.violation << "\n"
                                       << told_of(drawn, seed, steps);
  const simulation_result second = run_plan(drawn);
  ASSERT_EQ(first.history_hash, second.history_hash) << "seed " << seed << " is not one run\n" << again(seed, steps);
}

void run_seed_apart(std::uint64_t seed, std::uint64_t steps) {
  const plan drawn = draw_plan(seed, steps);
  const std::string violation = judge_apart(drawn);
  ASSERT_TRUE(violation.empty()) << violation << "\n" << told_of(drawn, seed, steps);
  run_seed(seed, steps);
}

std::uint64_t first_seed() {
  const std::string commit = built_as().commit;
  return commit.size() < 8 ? 1 : std::strtoull(commit.substr(0, 8).c_str(), nullptr, 16) % 1000000007U;
}

}  // namespace arcalloc::testing
