// SPDX-License-Identifier: Apache-2.0
// Runs scenarios over the cuda backend and the fake driver: `cuda_scenarios FILE...`. Exit status 1 where one fails.
#include <cstdio>

#include "trace/scenario_run.hpp"
#include "trace/scenario_text.hpp"

int main(int count, char** words) {
  int failed = count > 1 ? 0 : 1;
  for (int i = 1; i < count; ++i) {
    try {
      const arcalloc::trace::scenario_result found =
          arcalloc::trace::run_scenario(arcalloc::trace::read_scenario(words[i]));
      for (const auto& one : found.failed) {
        std::printf("%s:%llu: expected %s, found %s\n", words[i], static_cast<unsigned long long>(one.line),
                    one.expected.c_str(), one.found.c_str());
      }
      if (!found.held()) ++failed;
      std::printf("%s: %llu expectations, %zu failed\n", words[i],
                  static_cast<unsigned long long>(found.expectations_checked), found.failed.size());
    } catch (const arcalloc::trace::scenario_error& error) {
      std::printf("%s\n", error.message.c_str());
      ++failed;
    }
  }
  std::printf("%d scenarios, %d failed\n", count - 1, failed);
  return failed == 0 ? 0 : 1;
}
