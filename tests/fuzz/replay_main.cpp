// SPDX-License-Identifier: Apache-2.0
// Plays inputs again: `replay_SUBJECT PATH...`, each a file, or a directory whose files are played in the order of
// their names. Every input is named before it is played, so that the last name of a failed run is its input. Exit
// status: 0 when all were played, 1 when there was none to play or one cannot be read, and an abort at the first that
// is convicted. It needs neither clang nor libFuzzer, and tries nothing new.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "one_input.hpp"

namespace {

std::vector<std::filesystem::path> inputs_in(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool play(const std::filesystem::path& file) {
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) {
    std::fprintf(stderr, "cannot be read: %s\n", file.c_str());
    return false;
  }
  // A copy of exactly its size, so that the address sanitizer sees a read beyond it.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  arcalloc::testing::one_input(exact.data(), exact.size());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  std::size_t played = 0;
  for (int i = 1; i < count; ++i) {
    const auto inputs = inputs_in(arguments[i]);
    if (inputs.empty()) {
      std::fprintf(stderr, "no input in %s\n", arguments[i]);
      return 1;
    }
    for (const auto& file : inputs) {
      if (!play(file)) return 1;
      ++played;
    }
  }
  if (played == 0)
    std::fprintf(stderr, "usage: %s FILE-OR-DIRECTORY...\n", count > 0 ? arguments[0] : "replay");
  else
    std::printf("%zu inputs played\n", played);
  return played == 0 ? 1 : 0;
}
