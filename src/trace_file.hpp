// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/recording.hpp>
#include <arcalloc/status.hpp>
#include <cstddef>

#include "recorder.hpp"

namespace arcalloc::detail {

/// Why a file cannot be recorded into. One line, no newline.
struct trace_file_error {
  char text[320] = {};
};

/// Makes a sink that writes the trace format of docs/trace_format.md into `path`, which is made, or emptied; where
/// another recording is writing that, into `path.2`, `path.3` and so on. Chunks are appended, and nothing is written
/// over: what was written is readable whatever becomes of the process. A child that was forked writes nothing.
/// Refused: invalid_argument where the path will not do, backend_failed where the host has no memory.
/// Concurrency: as the sink's caller, one call at a time. Cost: 65 KiB of memory; of hits that follow each other 3 to 7
/// bytes each, copied and summed, and a call of the system for 64 KiB.
[[nodiscard]] status open_trace_file(const char* path, recording_sink& out, trace_file_error& why) noexcept;

/// What takes hits as they were noted, of a sink that open_trace_file made; null for any other.
[[nodiscard]] hit_writer hit_writer_of(const recording_sink& into) noexcept;

}  // namespace arcalloc::detail
