// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/options.hpp>
#include <string>
#include <vector>

namespace arcalloc::cli {

/// One setting as the program understood it.
struct setting_view {
  std::string variable;
  std::string value;   ///< the value in force
  std::string source;  ///< "default", "environment" or "command line"
  std::string meaning;
  std::string refusal;  ///< why the value that was given is not in force; empty otherwise
};

/// The environment's settings: what they come to, one row for each, and what was wrong with them.
struct settings_view {
  options from_environment;
  std::vector<setting_view> rows;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;

  /// A flag won over `variable`.
  void override_by_flag(const std::string& variable, const std::string& value);
};

/// Reads ARC_ALLOC_* of this process. Refused values are in `errors`; the options then keep their
/// safe defaults.
settings_view read_settings();

/// Prints every warning, and every error, each on a line of stderr. Throws command_failure
/// (bad_usage) with the last error when there is any, so that nothing runs under a setting that was
/// not understood.
void require_settings(const settings_view& settings);

}  // namespace arcalloc::cli
