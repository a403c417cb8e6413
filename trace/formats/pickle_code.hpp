// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "trace/formats/byte_source.hpp"

namespace arcalloc::trace {

/// The opcodes of Python's pickle that make plain data, protocols 2 to 4. All others are refused: what could import
/// a name or call it by its name, the rest by its number.
enum class pickle_op : std::uint8_t {
  mark = '(',
  stop = '.',
  put_1 = 'q',
  put_4 = 'r',
  memoize = 0x94,
  get_1 = 'h',
  get_4 = 'j',
  none = 'N',
  is_true = 0x88,
  is_false = 0x89,
  int_4 = 'J',
  int_1 = 'K',
  int_2 = 'M',
  long_1 = 0x8a,
  long_4 = 0x8b,
  real = 'G',
  text_1 = 0x8c,
  text_4 = 'X',
  empty_tuple = ')',
  tuple = 't',
  tuple_1 = 0x85,
  tuple_2 = 0x86,
  tuple_3 = 0x87,
  empty_list = ']',
  list = 'l',
  append = 'a',
  appends = 'e',
  empty_dict = '}',
  dict = 'd',
  set_item = 's',
  set_items = 'u',
  protocol = 0x80,
  frame = 0x95,
};

/// Goes through the opcodes of a pickle, and takes their arguments apart. It builds nothing. Concurrency: one thread.
/// Refuses by the byte: a file that ends early or goes on behind its end, another protocol, another opcode.
class pickle_code {
 public:
  /// No text of a snapshot that matters is longer.
  static constexpr std::size_t text_bytes_max = 64;

  /// From the beginning, whose protocol is looked at.
  explicit pickle_code(byte_source& from);

  /// The next opcode that is neither a protocol nor a frame. At stop the file has ended.
  pickle_op next() {
    for (;;) {
      if (end_ - at_ < reload_bytes) reload();
      op_ = at_;
      if (at_ == end_) refuse_end();
      const auto code = static_cast<unsigned char>(*at_++);
      const unsigned char follows = arguments[code];
      // Most opcodes have one of these, and the file does not end there.
      if (follows <= 4 && end_ - at_ >= 4) {
        take_little_endian(follows);
        return static_cast<pickle_op>(code);
      }
      if (take_argument(static_cast<pickle_op>(code))) return static_cast<pickle_op>(code);
    }
  }
  /// Passes over gets that follow each other and an appends behind them, of indices below `end`: stacks of frames,
  /// which are most of a snapshot. Where there is something else, or less is shown, nothing is passed over.
  void pass_over_gets(std::uint64_t end) noexcept {
    static_assert((static_cast<unsigned>(pickle_op::get_1) | 2U) == static_cast<unsigned>(pickle_op::get_4));
    const char* at = at_;
    while (end_ - at >= 8 && (static_cast<unsigned>(*at) | 2U) == static_cast<unsigned>(pickle_op::get_4)) {
      // Which of the two it is cannot be foreseen: no branch on it.
      const std::uint32_t is_long = static_cast<std::uint32_t>(*at) >> 1 & 1U;
      if ((little_endian(at + 1) & ((0U - is_long) | 0xffU)) >= end) return;
      at += 2 + 3 * is_long;
    }
    if (at != end_ && *at == static_cast<char>(pickle_op::appends)) at_ = at;
  }
  /// Where it begins.
  [[nodiscard]] std::uint64_t offset() const noexcept {
    return from_.offset() + static_cast<std::uint64_t>(op_ - begin_);
  }

  /// The argument of an integer, if it is from 0 up to 2^64 - 1; of a put or a get its index.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] bool is_number() const noexcept { return is_number_; }
  /// The argument of a text, until the next call; empty where it is longer than text_bytes_max.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  [[noreturn]] void refuse(const std::string& what) const { from_.refuse_at(offset(), what); }

 private:
  /// So many bytes that no argument that is looked at goes beyond them.
  static constexpr std::ptrdiff_t reload_bytes = 128;
  /// By opcode: how many bytes of a plain number follow; 255 where it is not as simple.
  static constexpr std::array<unsigned char, 256> arguments = [] {
    using op = pickle_op;
    std::array<unsigned char, 256> follows{};
    follows.fill(255);
    for (const op one : {op::mark, op::memoize, op::none, op::is_true, op::is_false, op::empty_tuple, op::tuple,
                         op::tuple_1, op::tuple_2, op::tuple_3, op::list, op::empty_list, op::empty_dict, op::dict,
                         op::append, op::appends, op::set_item, op::set_items}) {
      follows[static_cast<unsigned char>(one)] = 0;
    }
    for (const op one : {op::put_1, op::get_1, op::int_1}) follows[static_cast<unsigned char>(one)] = 1;
    follows[static_cast<unsigned char>(op::int_2)] = 2;
    for (const op one : {op::put_4, op::get_4}) follows[static_cast<unsigned char>(one)] = 4;
    return follows;
  }();

  static std::uint32_t little_endian(const char* at) noexcept {
    unsigned char raw[4];
    std::memcpy(raw, at, sizeof raw);
    return static_cast<std::uint32_t>(raw[0]) | static_cast<std::uint32_t>(raw[1]) << 8 |
           static_cast<std::uint32_t>(raw[2]) << 16 | static_cast<std::uint32_t>(raw[3]) << 24;
  }
  void take_little_endian(unsigned bytes) noexcept {
    number_ = little_endian(at_) & ((std::uint64_t{1} << (8 * bytes)) - 1);
    is_number_ = true;
    at_ += bytes;
  }
  void reload();
  /// `bytes` of an argument, passed over.
  std::string_view argument(std::size_t bytes);
  void pass_over(std::uint64_t bytes);
  void take_integer(std::string_view little_endian);
  void take_long(std::uint64_t bytes);
  void take_text(std::uint64_t bytes);
  /// False where there was nothing in it for the caller.
  bool take_argument(pickle_op op);
  void take_protocol();
  [[noreturn]] void refuse_end() const;
  [[noreturn]] void refuse_op(unsigned code) const;

  byte_source& from_;
  const char* begin_ = nullptr;  ///< of what the source shows; it has passed over nothing of that yet
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* op_ = nullptr;
  std::uint64_t number_ = 0;
  bool is_number_ = false;
  std::string_view text_;
};

}  // namespace arcalloc::trace
