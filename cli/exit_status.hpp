// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace arcalloc::cli {

/// How the program ends. Scripts depend on these numbers.
enum class exit_status : int {
  done = 0,
  expectation_failed = 1,  ///< of a scenario; an identity is violated, or legs disagree on the tokens
  bad_usage = 2,           ///< a flag, a setting or an input file cannot be used
  device_refused = 3,      ///< no such device here, or it is not empty
  out_of_memory = 4,       ///< a leg that must survive (`off`, `bounded`) did not
};

/// Ends a command before it has a result: main prints `message` as one line and exits with `status`.
struct command_failure {
  exit_status status = exit_status::bad_usage;
  std::string message;
};

/// Ends a command because a signal asked for it: main dies of the same signal.
struct interrupted {
  int signal_number = 0;
};

/// `text` with control characters written as escapes, so that a value with a line feed in it still
/// makes one line.
std::string one_line(std::string_view text);

/// Writes "arcalloc: TEXT" to stderr, as one line.
void print_error(std::string_view text);

}  // namespace arcalloc::cli
