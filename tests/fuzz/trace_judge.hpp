// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/formats/trace_facts.hpp"

namespace arcalloc::testing {

/// Reads bytes as a trace of one format, and convicts what no bytes may bring about. Refused, they are refused with one
/// line that names the file. Read, what the sink is told is consistent (an allocate of what is not live, a free of what
/// is, with its bytes), a second reading tells the same, and written in every format that can hold it, it reads the
/// same.
void judge_trace(std::string_view bytes, trace::trace_format format);

}  // namespace arcalloc::testing
