// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/json_scanner.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>

namespace arcalloc::trace {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
/// No number of fewer characters, and without an exponent, is beyond a double.
constexpr std::size_t plain_number_bytes = 300;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The same byte eight times.
constexpr std::uint64_t eight(std::uint64_t byte) { return byte * 0x0101010101010101U; }

/// Marks by their high bits which of eight bytes end what is plain in a text: quotes, backslashes, controls, bytes
/// beyond ASCII. The lowest mark is right; those above it may not be.
constexpr std::uint64_t special_of(std::uint64_t bytes) {
  const std::uint64_t quotes = bytes ^ eight('"');
  const std::uint64_t backslashes = bytes ^ eight('\\');
  // A byte that is 0 borrows in x - 1, and one below 0x20 in x - 0x20.
  return (bytes | (bytes - eight(0x20)) | (quotes - eight(1)) | (backslashes - eight(1))) & eight(0x80);
}

/// The first byte of a text, from `at` on, that is not plain; `end` where all are.
const char* end_of_plain(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    std::uint64_t bytes = 0;
    for (int i = 0; i < 8; ++i) bytes |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    const std::uint64_t special = special_of(bytes);
    if (special != 0) return at + std::countr_zero(special) / 8;
  }
  while (at != end && *at >= ' ' && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) < 0x80) ++at;
  return at;
}

/// Where a number that begins at `at` ends; null where it does not end before `end`, has an exponent or is none.
const char* end_of_plain_number(const char* at, const char* end) {
  const auto pass_digits = [&] {
    const char* const begin = at;
    while (at != end && is_digit(*at)) ++at;
    return at != begin;
  };
  if (at != end && *at == '-') ++at;
  if (at != end && *at == '0') {
    ++at;
  } else if (!pass_digits()) {
    return nullptr;
  }
  if (at != end && *at == '.') {
    ++at;
    if (!pass_digits()) return nullptr;
  }
  return at == end || *at == 'e' || *at == 'E' ? nullptr : at;
}

}  // namespace

json_scanner::json_scanner(byte_source& from) : from_(from) {
  from_.rewind();
  if (from_.ahead_of(3).starts_with("\xef\xbb\xbf")) from_.skip(3);
}

bool json_scanner::refill() {
  if (token_at_ != nullptr) token_ended_ = from_.offset() + static_cast<std::uint64_t>(token_at_ - begin_);
  from_.skip(static_cast<std::size_t>(at_ - begin_));
  token_at_ = nullptr;
  if (from_.offset() > token_ended_ + value_bytes_max) {
    from_.refuse("a single value of more than " + std::to_string(value_bytes_max >> 20) + " MiB");
  }
  const std::string_view shown = from_.ahead().substr(0, chunk_bytes);
  begin_ = at_ = shown.data();
  end_ = begin_ + shown.size();
  return !shown.empty();
}

json_token json_scanner::next() {
  pass_blanks();
  switch (place_) {
    case place::colon:
      if (!is_next(':')) refuse_byte("':' behind a key");
      pass_blanks();
      return begin_value("a value behind ':'");
    case place::first_element:
      if (is_next(']')) return close();
      return begin_value("a value or ']'");
    case place::first_key:
      if (is_next('}')) return close();
      return next_key("a key or '}'");
    case place::separator:
      return in_array() ? next_element() : next_member();
    case place::nothing:
      if (any()) refuse_byte("nothing behind the value");
      return json_token::end;
    case place::value:
      break;
  }
  return begin_value("a value");
}

json_token json_scanner::next_element() {
  if (is_next(']')) return close();
  if (!is_next(',')) refuse_byte("',' or ']'");
  pass_blanks();
  return begin_value("a value behind ','");
}

json_token json_scanner::next_member() {
  if (is_next('}')) return close();
  if (!is_next(',')) refuse_byte("',' or '}'");
  pass_blanks();
  return next_key("a key behind ','");
}

json_token json_scanner::begin_value(const char* expected) {
  const char first = any() ? *at_ : '\0';
  switch (first) {
    case '"':
      ++at_;
      scan_text();
      return ended(json_token::text);
    case '{':
    case '[':
      ++at_;
      return open(first == '[');
    case 't':
      pass_literal("true");
      return ended(json_token::literal);
    case 'f':
      pass_literal("false");
      return ended(json_token::literal);
    case 'n':
      pass_literal("null");
      return ended(json_token::literal);
    default:
      if (first != '-' && !is_digit(first)) refuse_byte(expected);
      scan_number();
      return ended(json_token::number);
  }
}

json_token json_scanner::open(bool is_array) {
  if (depth_ == depth_max) refuse("nested more than " + std::to_string(depth_max) + " deep");
  const std::uint64_t bit = std::uint64_t{1} << depth_++;
  arrays_ = is_array ? arrays_ | bit : arrays_ & ~bit;
  place_ = is_array ? place::first_element : place::first_key;
  token_at_ = at_;
  return is_array ? json_token::array_begin : json_token::object_begin;
}

json_token json_scanner::close() {
  const json_token what = in_array() ? json_token::array_end : json_token::object_end;
  --depth_;
  return ended(what);
}

json_token json_scanner::ended(json_token what) {
  place_ = depth_ == 0 ? place::nothing : place::separator;
  token_at_ = at_;
  return what;
}

json_token json_scanner::next_key(const char* expected) {
  if (!is_next('"')) refuse_byte(expected);
  scan_text();
  place_ = place::colon;
  token_at_ = at_;
  return json_token::key;
}

void json_scanner::pass_literal(std::string_view literal) {
  for (const char c : literal) {
    if (!is_next(c)) refuse_byte("true, false or null");
  }
}

void json_scanner::scan_text() {
  const char* const stop = end_of_plain(at_, end_);
  if (stop == end_ || *stop != '"') return scan_text_slowly();
  const auto size = static_cast<std::size_t>(stop - at_);
  text_ = size <= text_bytes_max ? std::string_view(at_, size) : std::string_view();
  at_ = stop + 1;
}

void json_scanner::scan_text_slowly() {
  kept_.clear();
  is_kept_ = true;
  for (;;) {
    if (!any()) refuse_byte("'\"' at the end of a text");
    const auto next = static_cast<unsigned char>(*at_);
    if (next < 0x20) refuse_byte("an escape for a control character");
    if (next >= 0x80) {
      take_beyond_ascii();
      continue;
    }
    ++at_;
    if (next == '"') break;
    if (next == '\\') {
      take_escape();
    } else {
      keep(next);
    }
  }
  text_ = is_kept_ ? std::string_view(kept_) : std::string_view();
}

void json_scanner::keep(unsigned char one) {
  if (kept_.size() == text_bytes_max) is_kept_ = false;
  if (is_kept_) kept_ += static_cast<char>(one);
}

void json_scanner::take_beyond_ascii() {
  constexpr const char* expected = "UTF-8";
  const auto first = static_cast<unsigned char>(*at_);
  // The second byte's range keeps out what is written longer than it need be, surrogates, and what is beyond 0x10ffff.
  if (first < 0xc2 || first > 0xf4) refuse_byte(expected);
  const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  keep(first);
  ++at_;
  for (int i = 0; i < more; ++i) {
    const auto next = static_cast<unsigned char>(any() ? *at_ : '\0');
    if (next < least || next > most) refuse_byte(expected);
    keep(next);
    ++at_;
    least = 0x80;
    most = 0xbf;
  }
}

void json_scanner::take_escape() {
  constexpr std::string_view names = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  constexpr const char* expected = "an escape: one of \"\\/bfnrtu";
  if (!any()) refuse_byte(expected);
  const char name = *at_;
  const std::size_t found = names.find(name);
  if (name != 'u' && found == std::string_view::npos) refuse_byte(expected);
  ++at_;
  if (name != 'u') return keep(static_cast<unsigned char>(meanings[found]));
  unsigned code_point = four_digits();
  if (code_point >= 0xdc00 && code_point < 0xe000) refuse_surrogate();
  if (code_point >= 0xd800 && code_point < 0xdc00) {
    if (!is_next('\\') || !is_next('u')) refuse_byte("the other half of a surrogate");
    const unsigned low = four_digits();
    if (low < 0xdc00 || low >= 0xe000) refuse_surrogate();
    code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
  }
  keep_code_point(code_point);
}

unsigned json_scanner::four_digits() {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) {
    const char digit = any() ? *at_ : '\0';
    const char lower = static_cast<char>(digit | 0x20);
    if (!is_digit(digit) && (lower < 'a' || lower > 'f')) refuse_byte("four hexadecimal digits");
    value = value << 4 | static_cast<unsigned>(is_digit(digit) ? digit - '0' : lower - 'a' + 10);
    ++at_;
  }
  return value;
}

void json_scanner::keep_code_point(unsigned code_point) {
  const auto keep_six_bits = [&](int shift) { keep(static_cast<unsigned char>(0x80 | (code_point >> shift & 0x3f))); };
  if (code_point < 0x80) return keep(static_cast<unsigned char>(code_point));
  if (code_point < 0x800) {
    keep(static_cast<unsigned char>(0xc0 | code_point >> 6));
  } else {
    if (code_point < 0x10000) {
      keep(static_cast<unsigned char>(0xe0 | code_point >> 12));
    } else {
      keep(static_cast<unsigned char>(0xf0 | code_point >> 18));
      keep_six_bits(12);
    }
    keep_six_bits(6);
  }
  keep_six_bits(0);
}

void json_scanner::scan_number() {
  const char* const stop = end_of_plain_number(at_, end_);
  if (stop == nullptr || static_cast<std::size_t>(stop - at_) > plain_number_bytes) return scan_number_slowly();
  text_ = {at_, static_cast<std::size_t>(stop - at_)};
  at_ = stop;
}

void json_scanner::scan_number_slowly() {
  kept_.clear();
  const auto take = [&](char one) {
    if (!is_next(one)) return false;
    kept_ += one;
    return true;
  };
  const auto take_digits = [&] {
    if (!any() || !is_digit(*at_)) refuse_byte("a digit");
    while (any() && is_digit(*at_)) kept_ += *at_++;
  };
  take('-');
  if (!take('0')) take_digits();
  if (take('.')) take_digits();
  const bool has_exponent = take('e') || take('E');
  if (has_exponent) {
    if (!take('+')) take('-');
    take_digits();
  }
  if ((has_exponent || kept_.size() > plain_number_bytes) && std::isinf(std::strtod(kept_.c_str(), nullptr))) {
    refuse_at_place("a number that a double can hold, found a larger one");
  }
  text_ = kept_;
}

void json_scanner::refuse_surrogate() { refuse_at_place("the two halves of a surrogate, found one"); }

void json_scanner::refuse_at_place(const std::string& expected) {
  from_.refuse_at(offset(), std::string("not JSON: expected ").append(expected));
}

void json_scanner::refuse_byte(const std::string& expected) {
  std::string found = "the end";
  if (any()) {
    constexpr char digits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(*at_);
    found = byte > ' ' && byte < 0x7f ? std::string("'").append(1, *at_).append("'")
                                      : std::string("byte 0x").append({digits[byte >> 4], digits[byte & 15]});
  }
  from_.refuse_at(offset() + 1, "not JSON: expected " + expected + ", found " + found);
}

}  // namespace arcalloc::trace
