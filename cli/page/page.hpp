// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/decode_result.hpp"

namespace arcalloc::cli::page {

/// The result as one HTML page that stands alone: it fetches nothing and runs no script.
std::string decode_page(const decode_result& result);

}  // namespace arcalloc::cli::page
