// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "decode_result.hpp"

namespace arcalloc::cli {

/// The served traffic of a leg, a line for each window of virtual time; nothing where none was served.
[[nodiscard]] std::string serving_table(const leg_result& leg);

}  // namespace arcalloc::cli
