// SPDX-License-Identifier: Apache-2.0
// Fuzzing the own format. No fuzzer guesses a checksum, so an input whose first byte is odd is the events of one chunk,
// which is put into a file around them; with an H, the hits of one; with any other it is the file as it is.
#include <zlib.h>

#include <string>

#include "one_input.hpp"
#include "recorded_bytes.hpp"
#include "trace/formats/own_format.hpp"
#include "trace_judge.hpp"

namespace arcalloc::testing {

namespace {

std::string file_around(const std::string& events) {
  const std::string head = little_endian(events.size(), 4) + trace::own::events_type + std::string(3, '\0');
  const std::string summed = head + events;
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return std::string(trace::own::magic) + little_endian(trace::own::version, 4) + little_endian(0, 4) + head +
         little_endian(sum, 4) + events;
}

}  // namespace

int one_input(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string rest(bytes + 1, bytes + size);
  const bool hits = bytes[0] == static_cast<unsigned char>(trace::own::hits_type);
  judge_trace(hits                ? recorded_header() + recorded_chunk(trace::own::hits_type, rest)
              : bytes[0] % 2 == 1 ? file_around(rest)
                                  : rest,
              trace::trace_format::own);
  return 0;
}

}  // namespace arcalloc::testing
