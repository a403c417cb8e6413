// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "exit_status.hpp"

namespace arcalloc::cli {

/// One command of the program. `words` are those of the command line, the program's name first.
struct command {
  const char* name;
  const char* summary;
  exit_status (*run)(const std::vector<std::string>& words);
};

/// The commands, in the order in which --help lists them.
const std::vector<command>& commands();

exit_status run_convert(const std::vector<std::string>& words);
exit_status run_decode(const std::vector<std::string>& words);
exit_status run_doctor(const std::vector<std::string>& words);
exit_status run_replay(const std::vector<std::string>& words);
exit_status run_report(const std::vector<std::string>& words);
exit_status run_tune(const std::vector<std::string>& words);

/// The lines of --version, one item each.
std::string version_text();

/// An empty command line of `name`, with our layout of the help.
void set_layout(CLI::App& line);

/// Parses the words after the command's name. True when the command has only to print its help, which
/// is done then. Throws command_failure (bad_usage) for what cannot be parsed.
bool parse_or_help(CLI::App& line, const std::vector<std::string>& words);

}  // namespace arcalloc::cli
