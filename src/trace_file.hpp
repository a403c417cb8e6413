// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/recording.hpp>
#include <arcalloc/status.hpp>
#include <cstddef>

namespace arcalloc::detail {

/// Why a file cannot be recorded into. One line, no newline.
struct trace_file_error {
  char text[320] = {};
};

/// Makes a sink that writes the trace format of docs/trace_format.md into `path`, which is made, or emptied; where
/// another recording is writing that, into `path.2`, `path.3` and so on. Chunks are appended, and nothing is written
/// over: what was written is readable whatever becomes of the process. A child that was forked writes nothing.
/// Refused: invalid_argument where the path will not do, backend_failed where the host has no memory.
/// Concurrency: as the sink's caller, one call at a time. Cost: a chunk of 32 KiB of memory, about 9 bytes an event.
[[nodiscard]] status open_trace_file(const char* path, recording_sink& out, trace_file_error& why) noexcept;

}  // namespace arcalloc::detail
