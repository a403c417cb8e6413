// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "trace/formats/byte_sink.hpp"

namespace arcalloc::trace {

/// Writes plain data as a pickle of protocol 4, with opcodes that the viewers of snapshots know. A text is written once
/// and fetched from the memo from then on. Containers are begun and ended by the caller: elements and items stand
/// between `begin_elements` and `append_elements` or between `begin_items` and `set_items`. Concurrency: one thread.
/// Cost: a buffer of 64 KiB.
class pickle_writer {
 public:
  explicit pickle_writer(byte_sink& out);

  void text(std::string_view value);
  void number(std::uint64_t value);
  void flag(bool value);
  void empty_list() { put(']'); }
  void empty_dict() { put('}'); }
  void begin_elements() { put('('); }
  void append_elements() { put('e'); }
  void begin_items() { put('('); }
  void set_items() { put('u'); }
  /// The last two values become one.
  void pair() { put('\x86'); }
  /// Ends the pickle, and writes what is left.
  void finish();

 private:
  void put(char byte);
  void put_little_endian(std::uint64_t value, int bytes);

  byte_sink& out_;
  std::string buffer_;
  std::map<std::string, std::uint32_t, std::less<>> memo_;
};

}  // namespace arcalloc::trace
