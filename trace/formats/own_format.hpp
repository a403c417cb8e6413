// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace arcalloc::trace::own {

/// The numbers of arcalloc's own format; docs/trace_format.md has it byte by byte.
///
/// A file is a header and chunks. A chunk stands alone: its length, its type and a checksum come before it, and no
/// number in it refers to another chunk. Nothing is ever written over, so a file that was not closed is whole up to
/// some chunk. Version 1 is small, and what is written here; version 2 is cheap to write, and what a recording writes
/// while it goes on: it has chunks of hits as well, and another checksum.

inline constexpr std::string_view magic{
    "\x89"
    "ARCT\r\n\x1a",
    8};
inline constexpr std::uint32_t version = 1;
inline constexpr std::uint32_t recorded_version = 2;
/// Magic, version, reserved: 8 + 4 + 4.
inline constexpr std::size_t header_bytes = 16;

/// Payload length, type, three bytes of zero, checksum of these eight and the payload: 4 + 1 + 3 + 4.
inline constexpr std::size_t chunk_header_bytes = 12;
inline constexpr std::uint32_t payload_bytes_max = std::uint32_t{1} << 20;
inline constexpr char events_type = 'E';
inline constexpr char hits_type = 'H';  ///< from version 2 on
inline constexpr char end_type = 'Z';
/// Types a to z hold nothing that changes what events mean: a reader that does not know one passes over it.
[[nodiscard]] constexpr bool may_be_passed_over(char type) { return type >= 'a' && type <= 'z'; }

/// The first byte of an event: its kind, and what follows it.
inline constexpr unsigned kind_bits = 0x1f;
inline constexpr unsigned has_time = 0x20;   ///< the difference to the last time, zigzag
inline constexpr unsigned has_place = 0x40;  ///< stream and device, where they are not those of the last event
inline constexpr unsigned has_marks = 0x80;  ///< a byte of the marks below

inline constexpr unsigned mark_before = 0x01;         ///< before_recording
inline constexpr unsigned mark_address = 0x02;        ///< an address of its own: the difference to the last one, zigzag
inline constexpr unsigned mark_ids_addresses = 0x04;  ///< from here on in this chunk ids are addresses
inline constexpr unsigned mark_ids_names = 0x08;      ///< from here on they are not: no address unless one follows
inline constexpr unsigned marks_known = 0x0f;

/// The most bytes that one event takes.
inline constexpr std::size_t event_bytes_max = 2 + 6 * 10;

/// Counts of notes and of allocates, widths of notes and of sizes, zero; time, stream, base: 2 + 2 + 1 + 1 + 2 + 3 * 8.
inline constexpr std::size_t stretch_header_bytes = 32;
/// A note is twice the steps from the base to its block, and one more if it is a free.
inline constexpr unsigned note_step_bits = 9;

/// Small whole numbers for small differences of either sign.
[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
[[nodiscard]] constexpr std::uint64_t from_zigzag(std::uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

/// What the numbers of a chunk are differences to; all zero where a chunk begins.
struct chunk_state {
  std::uint64_t time_ns = 0;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t stream = 0;
  std::uint32_t device = 0;
  bool ids_are_addresses = false;
};

}  // namespace arcalloc::trace::own
