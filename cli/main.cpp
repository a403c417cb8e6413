// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "command.hpp"
#include "exit_status.hpp"
#include "leg_worker.hpp"

namespace {

using arcalloc::cli::command;
using arcalloc::cli::command_failure;
using arcalloc::cli::exit_status;

void print_help() {
  std::string text =
      "arcalloc: measures a bounded caching allocator for device memory\n\n"
      "usage: arcalloc COMMAND [options]\n       arcalloc COMMAND --help\n\ncommands:\n";
  for (const command& one : arcalloc::cli::commands()) {
    text += "  " + std::string(one.name) + std::string(25 - 2 - std::string(one.name).size(), ' ') + one.summary + '\n';
  }
  text +=
      "\noptions:\n"
      "  -h,--help              print this\n"
      "  --version              version, commit, clean or dirty, build id, compiler, build type\n\n"
      "exit status:\n"
      "  0 done; 1 an expectation failed, an identity is violated or legs disagree on the tokens;\n"
      "  2 bad usage, setting or input;\n"
      "  3 device unavailable or not empty; 4 out of memory where it must not happen\n";
  std::fputs(text.c_str(), stdout);
}

exit_status run(std::vector<std::string> words) {
  const std::string name = words.size() > 1 ? words[1] : "";
  if (name.empty()) throw command_failure{exit_status::bad_usage, "no command given; see arcalloc --help"};
  const auto alone = [&] {
    if (words.size() > 2) throw command_failure{exit_status::bad_usage, name + " takes nothing after it"};
  };
  if (name == "--help" || name == "-h" || (name == "help" && words.size() == 2)) {
    alone();
    print_help();
    return exit_status::done;
  }
  if (name == "--version") {
    alone();
    std::fputs(arcalloc::cli::version_text().c_str(), stdout);
    return exit_status::done;
  }
  if (name == "help") {
    words = {words[0], words[2], "--help"};
  } else if (name.front() == '-') {
    throw command_failure{exit_status::bad_usage, "unknown option \"" + name + "\"; see arcalloc --help"};
  }
  const auto& table = arcalloc::cli::commands();
  const auto found = std::find_if(table.begin(), table.end(), [&](const command& one) { return words[1] == one.name; });
  if (found == table.end()) {
    throw command_failure{exit_status::bad_usage, "unknown command \"" + words[1] + "\"; see arcalloc --help"};
  }
  return found->run(words);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  try {
    if (words.size() == 2 && words[1] == arcalloc::cli::leg_worker_command) return arcalloc::cli::run_leg_worker();
    const exit_status status = run(words);
    // What stdout could not take (a full disk, a closed pipe) is not done.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw command_failure{exit_status::bad_usage, "cannot write to stdout"};
    }
    return static_cast<int>(status);
  } catch (const command_failure& failure) {
    arcalloc::cli::print_error(failure.message);
    return static_cast<int>(failure.status);
  } catch (const arcalloc::cli::interrupted& asked) {
    // Ends the way the signal would have ended it, now that no leg is running any more.
    std::signal(asked.signal_number, SIG_DFL);
    std::raise(asked.signal_number);
    return 128 + asked.signal_number;
  } catch (const std::exception& error) {
    arcalloc::cli::print_error(std::string("failed: ") + error.what());
    return static_cast<int>(exit_status::bad_usage);
  }
}
