// SPDX-License-Identifier: Apache-2.0
// Fuzzing the own format. No fuzzer guesses a checksum, so an input whose first byte is odd is the events of one chunk,
// which is put into a file around them; with an even one it is the file as it is.
#include <zlib.h>

#include <string>

#include "one_input.hpp"
#include "trace/formats/own_format.hpp"
#include "trace_judge.hpp"

namespace arcalloc::testing {

namespace {

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((value >> shift) & 0xff);
  return bytes;
}

std::string file_around(const std::string& events) {
  const std::string head =
      little_endian(static_cast<std::uint32_t>(events.size())) + trace::own::events_type + std::string(3, '\0');
  const std::string summed = head + events;
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return std::string(trace::own::magic) + little_endian(trace::own::version) + little_endian(0) + head +
         little_endian(static_cast<std::uint32_t>(sum)) + events;
}

}  // namespace

int one_input(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string rest(bytes + 1, bytes + size);
  judge_trace(bytes[0] % 2 == 1 ? file_around(rest) : rest, trace::trace_format::own);
  return 0;
}

}  // namespace arcalloc::testing
