// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arcalloc::trace {

/// Pickles made by hand, opcode by opcode, for what no pickler would write as well as for what all do.

inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

inline std::string text(std::string_view value) {
  return std::string("\x8c") + little(value.size(), 1) + std::string(value);
}

inline std::string integer(std::uint64_t value) {
  return std::string("\x8a\x09") + little(value, 8) + std::string(1, '\0');
}

/// {key: value, ...}, the values as opcodes.
inline std::string dict(const std::vector<std::pair<std::string_view, std::string>>& items) {
  std::string ops = "}(";
  for (const auto& [key, value] : items) ops += text(key) + value;
  return ops + "u";
}

inline std::string list(const std::vector<std::string>& elements) {
  std::string ops = "](";
  for (const std::string& one : elements) ops += one;
  return ops + "e";
}

/// An entry of a device's trace.
inline std::string entry(std::string_view action, std::uint64_t address, std::uint64_t bytes,
                         std::uint64_t time_us = 1) {
  return dict({{"action", text(action)},
               {"addr", integer(address)},
               {"size", integer(bytes)},
               {"stream", "K\x05"},
               {"time_us", integer(time_us)},
               {"frames", list({dict({{"name", text("f")}, {"line", "K\x01"}})})}});
}

inline std::string block(std::uint64_t address, std::uint64_t bytes, std::uint64_t requested, std::string_view state) {
  return dict({{"address", integer(address)},
               {"size", integer(bytes)},
               {"requested_size", integer(requested)},
               {"state", text(state)},
               {"frames", "]"}});
}

inline std::string segment(std::uint64_t address, std::uint64_t bytes, const std::vector<std::string>& blocks,
                           bool is_expandable = false, unsigned device = 0) {
  return dict({{"device", "K" + little(device, 1)},
               {"address", integer(address)},
               {"total_size", integer(bytes)},
               {"stream", std::string("K\0", 2)},
               {"segment_pool_id", std::string("K\0K\0\x86", 5)},
               {"is_expandable", is_expandable ? "\x88" : "\x89"},
               {"blocks", list(blocks)},
               {"frames", "]"}});
}

inline std::string pickle(const std::string& ops) { return std::string("\x80\x04") + ops + "."; }

inline std::string snapshot(const std::vector<std::string>& segments,
                            const std::vector<std::vector<std::string>>& traces) {
  std::vector<std::string> lists;
  for (const auto& one : traces) lists.push_back(list(one));
  return pickle(dict({{"segments", list(segments)}, {"device_traces", list(lists)}, {"allocator_settings", "}"}}));
}

}  // namespace arcalloc::trace
