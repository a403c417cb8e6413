// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arcalloc::testing {

// Bytes of files of version 2 of the own format (docs/trace_format.md), put together by hand: what recordings write.

inline std::string little_endian(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

inline std::string recorded_header() {
  return std::string(
             "\x89"
             "ARCT\r\n\x1a",
             8) +
         little_endian(2, 4) + little_endian(0, 4);
}

/// By the words of the documentation, a number at a time.
inline std::uint32_t recorded_checksum(std::string_view head, std::string payload) {
  const auto step = [](std::uint64_t sum, std::string_view bytes) {
    std::uint64_t number = 0;
    for (unsigned i = 0; i < 8; ++i) number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    const std::uint64_t product = (sum ^ number) * 0x9E3779B97F4A7C15U;
    return product << 29 | product >> 35;
  };
  while (payload.size() % 8 != 0) payload += '\0';
  std::uint64_t sums[4] = {1, 2, 3, 4};
  for (std::size_t at = 0; at < payload.size(); at += 8) {
    std::uint64_t& sum = sums[at / 8 % 4];
    sum = step(sum, std::string_view(payload).substr(at, 8));
  }
  std::uint64_t all = 0;
  for (unsigned i = 0; i < 8; ++i) all |= std::uint64_t{static_cast<unsigned char>(head[i])} << (8 * i);
  for (const std::uint64_t sum : sums) all = step(all, little_endian(sum, 8));
  return static_cast<std::uint32_t>(all ^ all >> 32);
}

inline std::string recorded_chunk(char type, const std::string& payload) {
  const std::string head = little_endian(payload.size(), 4) + type + std::string(3, '\0');
  return head + little_endian(recorded_checksum(head, payload), 4) + payload;
}

/// What several hits share, and each of them. Counts and widths are as the vectors and the members say, right or wrong;
/// numbers of another width than two bytes have four.
struct stretch_of_hits {
  std::uint64_t time_ns = 0;
  std::uint64_t on = 0;
  std::uint64_t base = 0;
  std::vector<std::uint32_t> notes{};
  std::vector<std::uint32_t> sizes{};
  unsigned note_width = 4;
  unsigned size_width = 4;

  [[nodiscard]] std::string bytes() const {
    std::string made = little_endian(notes.size(), 2) + little_endian(sizes.size(), 2) + little_endian(note_width, 1) +
                       little_endian(size_width, 1) + std::string(2, '\0');
    for (const std::uint64_t shared : {time_ns, on, base}) made += little_endian(shared, 8);
    for (const std::uint32_t note : notes) made += little_endian(note, note_width == 2 ? 2 : 4);
    for (const std::uint32_t size : sizes) made += little_endian(size, size_width == 2 ? 2 : 4);
    while (made.size() % 8 != 0) made += '\0';
    return made;
  }
};

}  // namespace arcalloc::testing
