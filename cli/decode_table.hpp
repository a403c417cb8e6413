// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "decode_result.hpp"

namespace arcalloc::cli {

/// What `arcalloc decode` prints on stdout: the text, the tables, the comparison, the provenance.
std::string decode_table(const decode_result& result);

}  // namespace arcalloc::cli
