// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/recording.hpp>
#include <cstddef>
#include <cstdint>

#include "recorder.hpp"

namespace arcalloc::detail {

// What a trace file's chunks hold, as docs/trace_format.md has it byte by byte: for a writer that has the room.

inline constexpr std::size_t event_bytes_max = 2 + 6 * 10;
inline constexpr std::size_t stretch_header_bytes = 32;
/// A stretch ends where the clock is due.
inline constexpr std::size_t stretch_bytes_max = stretch_header_bytes + std::size_t{8} * hit_page::notes_per_time;

/// Of the first eight bytes of a chunk and its payload. Four sums of every fourth number each, since four steps go on
/// at once: a CRC costs several times as much, and its tables are seldom in the cache when a chunk ends.
[[nodiscard]] std::uint32_t checksum_of(const unsigned char* head, const unsigned char* payload,
                                        std::size_t bytes) noexcept;

/// What the numbers of a chunk are differences to; all zero where one begins.
struct chunk_state {
  std::uint64_t time_ns = 0;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t stream = 0;
  bool ids_are_addresses = false;
};

/// Writes events and numbers into a chunk. A local object: were its place a member of the file, every byte that is
/// written might change it, for all that the compiler knows.
class cursor {
 public:
  cursor(unsigned char* at, const chunk_state& last) noexcept : at_(at), last_(last) {}

  [[nodiscard]] unsigned char* at() const noexcept { return at_; }
  [[nodiscard]] const chunk_state& last() const noexcept { return last_; }
  void put_byte(unsigned value) noexcept { *at_++ = static_cast<unsigned char>(value); }
  void put_number(std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) put_byte(static_cast<unsigned>(value & 0x7f) | 0x80);
    put_byte(static_cast<unsigned>(value));
  }
  /// `now_ns`: since the recording began.
  void put(const recorded_event& what, std::uint64_t now_ns) noexcept;

 private:
  void put_difference(std::uint64_t value, std::uint64_t& before) noexcept;
  void put_rare_fields(const recorded_event& what) noexcept;

  unsigned char* at_;
  chunk_state last_;
};

/// Writes hits as one stretch, and returns where it ends. Numbers that fit 16 bits take no more. Requires: some.
[[nodiscard]] unsigned char* put_stretch(unsigned char* at, const noted_hits& hits, std::uint64_t now_ns) noexcept;

}  // namespace arcalloc::detail
