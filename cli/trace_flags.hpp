// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "trace/formats/trace_facts.hpp"

namespace arcalloc::cli {

// Flags that every command about traces has. Each throws command_failure (bad_usage) that names the flag and what is
// wrong.

/// One of the first `choices` formats, by name.
trace::trace_format require_trace_format(const char* flag, const std::string& text, int choices);

/// The value of --unit, in bytes: what one unit of size is, in lifetimes.
std::uint64_t require_unit(const std::string& text);

}  // namespace arcalloc::cli
