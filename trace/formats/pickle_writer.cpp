// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/pickle_writer.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

}  // namespace

pickle_writer::pickle_writer(byte_sink& out) : out_(out) { buffer_.append("\x80\x04"); }

void pickle_writer::text(std::string_view value) {
  const auto known = memo_.find(value);
  if (known != memo_.end()) {
    const bool is_short = known->second < 256;
    put(is_short ? 'h' : 'j');
    put_little_endian(known->second, is_short ? 1 : 4);
    return;
  }
  const bool is_short = value.size() < 256;
  put(is_short ? '\x8c' : 'X');
  put_little_endian(value.size(), is_short ? 1 : 4);
  buffer_.append(value);
  const auto index = static_cast<std::uint32_t>(memo_.size());
  put(index < 256 ? 'q' : 'r');
  put_little_endian(index, index < 256 ? 1 : 4);
  memo_.emplace(value, index);
}

void pickle_writer::number(std::uint64_t value) {
  if (value < 256) {
    put('K');
    return put_little_endian(value, 1);
  }
  if (value < 65536) {
    put('M');
    return put_little_endian(value, 2);
  }
  if (value < 0x80000000U) {
    put('J');
    return put_little_endian(value, 4);
  }
  // Two's complement of as few bytes as leave the sign bit free.
  int bytes = 5;
  while (bytes < 8 && value >> (8 * bytes - 1) != 0) ++bytes;
  const bool needs_ninth = value >> 63 != 0;
  put('\x8a');
  put(static_cast<char>(needs_ninth ? 9 : bytes));
  put_little_endian(value, bytes);
  if (needs_ninth) put('\0');
}

void pickle_writer::flag(bool value) { put(value ? '\x88' : '\x89'); }

void pickle_writer::finish() {
  put('.');
  out_.write(buffer_);
  buffer_.clear();
}

void pickle_writer::put(char byte) {
  if (buffer_.size() >= buffer_bytes) {
    out_.write(buffer_);
    buffer_.clear();
  }
  buffer_ += byte;
}

void pickle_writer::put_little_endian(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) buffer_ += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace arcalloc::trace
