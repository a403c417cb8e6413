// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "decode_result.hpp"

namespace arcalloc::cli {

/// The result as JSON, schema "arcalloc.decode/1". What was not measured is null; text that is not
/// UTF-8 has its faulty bytes replaced.
std::string decode_json(const decode_result& result);

}  // namespace arcalloc::cli
