// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace arcalloc::testing {

/// The tokens of a JSON text as the scanner of profiler traces finds them, one a line; "refused" where it refuses the
/// text. The source shows `shown` bytes at a time.
[[nodiscard]] std::string scanned(std::string_view bytes, std::size_t shown = std::size_t{1} << 16);

/// The same by a library that many use, nlohmann's. The two differ in one thing: a zero byte ends the text for the
/// library, and the scanner refuses it.
[[nodiscard]] std::string scanned_by_library(std::string_view bytes);

/// Convicts where the two do not find the same.
void judge_json(std::string_view bytes);

}  // namespace arcalloc::testing
