// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "decode_result.hpp"

namespace arcalloc::cli {

/// Reads results back that the program wrote as JSON, as far as their pages show them.
///
/// A trace may be JSON too: a result is told from one by its first member, "schema", which begins with "arcalloc.".
/// Cost: the whole file in memory, of which result_bytes_max is the most. It does not judge the figures: what a leg
/// came to, and which identities held, is as the file says.

inline constexpr std::uint64_t result_bytes_max = std::uint64_t{256} << 20;

/// The schema that the file says it has, such as "arcalloc.decode/1"; nothing where it is no result.
std::optional<std::string> schema_of(const std::string& file);

/// The result of `arcalloc decode --json`. Where tokens differ, it is not in the file which. Throws command_failure
/// (bad_usage) that names the file and what is wrong with it.
decode_result read_decode_result(const std::string& file);

}  // namespace arcalloc::cli
