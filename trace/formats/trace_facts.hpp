// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace arcalloc::trace {

enum class trace_format : std::uint8_t { own, csv, snapshot, rmm, profiler, lifetimes };

inline constexpr int trace_format_count = 6;

/// The identifier itself, as --from and --to take it.
[[nodiscard]] const char* trace_format_name(trace_format format) noexcept;

/// How a trace is to be read.
struct read_options {
  std::optional<trace_format> format;   ///< none: the content says
  std::uint64_t unit_bytes = 1;         ///< lifetimes: what one unit of size is
  std::optional<std::uint32_t> device;  ///< none: all of them
  bool from_empty = false;              ///< what was there before the recording is skipped and counted
};

/// What a reader found besides events. Whatever was skipped or guessed is counted here.
struct trace_facts {
  trace_format format = trace_format::own;
  std::uint64_t blocks_before = 0;      ///< there when the recording began
  std::uint64_t bytes_before = 0;       ///< requested, of these
  std::uint64_t bytes_lumped = 0;       ///< of these, in one block per device, of which the file has only the sum
  std::uint64_t reserved_before = 0;    ///< bytes of segments there when the recording began
  std::uint64_t frees_skipped = 0;      ///< frees, and uses, of blocks never seen
  std::uint64_t frees_made_up = 0;      ///< blocks freed because their address was handed out again
  std::uint64_t null_skipped = 0;       ///< requests of zero bytes that got a null pointer, and its frees
  std::uint64_t elsewhere_skipped = 0;  ///< events of devices that were not asked for, and of the host
  std::uint64_t matched_by_size = 0;    ///< frees without an address, taken for the latest block of their size
  std::uint64_t unknown_skipped = 0;    ///< events of an action that nobody here knows
  /// Where a file that was not closed stops to be readable; all before that was read. Own format only.
  std::optional<std::uint64_t> cut_at;
};

}  // namespace arcalloc::trace
