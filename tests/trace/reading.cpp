// SPDX-License-Identifier: Apache-2.0
#include "reading.hpp"

#include <zlib.h>

#include <cstdlib>
#include <filesystem>

namespace arcalloc::trace {

event event_of(event_kind kind, std::uint64_t id, std::uint64_t on) {
  event made;
  made.kind = kind;
  made.id = id;
  made.stream = on;
  return made;
}

event allocated(std::uint64_t id, std::uint64_t bytes, std::uint64_t on) {
  event made = event_of(event_kind::allocate, id, on);
  made.bytes = bytes;
  return made;
}

reading read_text(std::string_view bytes, const read_options& options) {
  reading result;
  event_list list;
  try {
    const auto from = source_of("t", bytes);
    result.facts = read_trace(*from, options, list);
  } catch (const trace_error& error) {
    result.refusal = error.message;
  }
  result.events = list.events;
  return result;
}

std::string refusal_of(std::string_view bytes, const read_options& options) {
  const reading result = read_text(bytes, options);
  EXPECT_NE(result.refusal, "") << "was read: " << lines_of(result.events);
  EXPECT_EQ(result.refusal.find('\n'), std::string::npos) << result.refusal;
  return result.refusal;
}

std::string lines_of(const std::vector<event>& events) {
  std::string text;
  for (const event& one : events) {
    text += event_kind_name(one.kind);
    if (one.before_recording) text += " before";
    text += ' ' + std::to_string(one.id) + ": " + std::to_string(one.bytes) + " bytes @" + std::to_string(one.stream);
    if (one.device != 0) text += " d" + std::to_string(one.device);
    if (one.time_ns != no_time) text += " t=" + std::to_string(one.time_ns);
    if (one.outcome != status::ok) text += std::string(" ") + status_name(one.outcome);
    text += '\n';
  }
  return text;
}

std::string gzipped(std::string_view bytes) {
  z_stream state{};
  EXPECT_EQ(::deflateInit2(&state, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(::deflateBound(&state, static_cast<uLong>(bytes.size())), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&state, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - state.avail_out);
  ::deflateEnd(&state);
  return packed;
}

std::optional<std::string> shared_file(const std::string& name) {
  const char* const given = std::getenv("ARCALLOC_SHARED");
  const std::filesystem::path root = given != nullptr ? given : ARCALLOC_SOURCE_DIRECTORY "/../shared";
  const std::filesystem::path path = root / "data" / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path.string();
}

}  // namespace arcalloc::trace
