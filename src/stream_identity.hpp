// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>

// Which stream is meant: its identity, not the number that the driver gives it. The number of a stream
// that has ended may come back for another one, and per_thread_stream is another stream on each thread.
// The allocator's doors turn what a caller says into an identity; below them there are identities only.
// No state but a thread-local number; any thread.

namespace arcalloc::detail {

inline constexpr std::uint64_t own_stream_bit = std::uint64_t{1} << 63;
inline constexpr std::uint64_t former_stream_bits = std::uint64_t{3} << 62;

/// What the caller's `said` means.
[[nodiscard]] inline stream identity_of(stream said) noexcept {
  return said == per_thread_stream ? this_thread_stream() : said;
}

/// The identity that memory of ended streams goes under. Number 0 is for all whose work has finished.
[[nodiscard]] constexpr stream former_stream(std::uint64_t number) noexcept {
  return stream{former_stream_bits | number};
}
[[nodiscard]] constexpr bool is_former(stream on) noexcept {
  return (static_cast<std::uint64_t>(on) & former_stream_bits) == former_stream_bits && on != per_thread_stream;
}

/// this_thread_stream(), or default_stream where this thread never asked for one.
[[nodiscard]] stream known_thread_stream() noexcept;

}  // namespace arcalloc::detail
