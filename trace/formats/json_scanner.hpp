// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/formats/byte_source.hpp"

namespace arcalloc::trace {

enum class json_token : std::uint8_t {
  object_begin,
  object_end,
  array_begin,
  array_end,
  key,
  text,
  number,
  literal,  ///< true, false or null
  end,      ///< of the whole
};

/// Goes through the tokens of one JSON text (RFC 8259), front to back, and builds nothing.
///
/// Strict: bytes are UTF-8 (a mark of that may stand in front), escapes name characters, no number is beyond what a
/// double holds, nothing follows the one value. Refused by the byte, counted from 1: whatever else there is; nesting
/// beyond depth_max; bytes without the end of a token beyond value_bytes_max.
///
/// Called by readers of JSON. Concurrency: one thread. Cost: every byte is looked at once, eight at a time inside of
/// texts; memory for the longest number, and none for texts: what is longer than text_bytes_max is checked and not
/// kept.
class json_scanner {
 public:
  static constexpr std::size_t depth_max = 64;
  /// Names of kernels are long, but not that long.
  static constexpr std::uint64_t value_bytes_max = std::uint64_t{4} << 20;
  static constexpr std::size_t text_bytes_max = 64;

  explicit json_scanner(byte_source& from);

  /// The next token. Behind the end there is the end again.
  json_token next();
  /// How many objects and arrays are open: one that the last token begins is, one that it ends is not.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  /// Of a key or a text, until the next call, escapes resolved: empty where it is longer than text_bytes_max.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// Of a number, until the next call, as it is written.
  [[nodiscard]] std::string_view number() const noexcept { return text_; }

  /// Behind the last token.
  [[noreturn]] void refuse(const std::string& what) const { from_.refuse_at(offset(), what); }

 private:
  /// What may stand next.
  enum class place : std::uint8_t { value, first_element, first_key, colon, separator, nothing };

  [[nodiscard]] std::uint64_t offset() const noexcept {
    return from_.offset() + static_cast<std::uint64_t>(at_ - begin_);
  }
  [[nodiscard]] bool in_array() const noexcept { return ((arrays_ >> (depth_ - 1)) & 1) != 0; }
  /// Whether there is another byte; has the source show it.
  [[nodiscard]] bool any() { return at_ != end_ || refill(); }
  bool refill();
  bool is_next(char what) {
    if (!any() || *at_ != what) return false;
    ++at_;
    return true;
  }
  void pass_blanks() {
    while (any() && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  json_token begin_value(const char* expected);
  json_token next_element();
  json_token next_member();
  json_token next_key(const char* expected);
  json_token open(bool is_array);
  json_token close();
  json_token ended(json_token what);
  void pass_literal(std::string_view literal);

  void scan_text();
  void scan_text_slowly();
  void take_beyond_ascii();
  void take_escape();
  [[nodiscard]] unsigned four_digits();
  void keep(unsigned char one);
  void keep_code_point(unsigned code_point);

  void scan_number();
  void scan_number_slowly();

  /// The byte at hand, which may be the end, is not what was expected.
  [[noreturn]] void refuse_byte(const std::string& expected);
  [[noreturn]] void refuse_surrogate();
  [[noreturn]] void refuse_at_place(const std::string& expected);

  byte_source& from_;
  const char* begin_ = nullptr;  ///< of what the source shows; it has passed over nothing of that yet
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* token_at_ = nullptr;  ///< the end of the last token, if it is shown
  std::uint64_t token_ended_ = 0;   ///< of the last token that is not
  place place_ = place::value;
  std::size_t depth_ = 0;
  std::uint64_t arrays_ = 0;  ///< bit d: what is open at depth d + 1 is an array
  std::string_view text_;
  std::string kept_;  ///< of a text that does not stand there as it is meant, or of a number that is not shown whole
  bool is_kept_ = false;
};

}  // namespace arcalloc::trace
