// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace arcalloc::cli {

/// Result files: whole or not at all.

/// Throws command_failure (bad_usage) that names `flag` and `path` unless write_result_file would
/// work now. Called before the work whose result is to be kept.
void require_writable(const char* flag, const std::string& path);

/// Puts `content` at `path` under a temporary name in the same folder and then renames it, so that a
/// reader never sees half of it. What is there and is no regular file (a pipe, a terminal) is written
/// to directly. Throws command_failure (bad_usage) as above.
void write_result_file(const char* flag, const std::string& path, const std::string& content);

}  // namespace arcalloc::cli
