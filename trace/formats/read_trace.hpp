// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/formats/byte_source.hpp"
#include "trace/formats/event.hpp"
#include "trace/formats/trace_error.hpp"
#include "trace/formats/trace_facts.hpp"

namespace arcalloc::trace {

/// The format that the first bytes speak of, whatever the file is called. Refuses what is none of them.
[[nodiscard]] trace_format format_of(byte_source& from);

/// Reads a trace of any format, and tells the sink what is in it. Events arrive as they are read, so a file may be
/// refused after some have: a sink that must have all or nothing keeps its work aside until this returns.
/// Throws trace_error. Concurrency: one thread. Cost: memory for what is live at once, not for what is long; lifetimes
/// and profiler traces are sorted, and kept whole for that.
trace_facts read_trace(byte_source& from, const read_options& options, trace_sink& sink);

/// The same over a file.
trace_facts read_trace(const std::string& path, const read_options& options, trace_sink& sink);

}  // namespace arcalloc::trace
