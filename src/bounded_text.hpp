// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace arcalloc::detail {

/// A text written into a caller's buffer as snprintf does: piece by piece, what fits is kept with its final zero, and
/// all of it is counted. Writes nothing where `capacity` is 0. Costs a copy; keeps nothing.
class bounded_text {
 public:
  bounded_text(char* text, std::size_t capacity) noexcept : text_(text), capacity_(capacity) {
    if (capacity_ != 0) text_[0] = '\0';
  }

  void append(const char* piece) noexcept {
    const std::size_t bytes = std::strlen(piece);
    if (length_ + 1 < capacity_) {
      const std::size_t kept = std::min(bytes, capacity_ - 1 - length_);
      std::memcpy(text_ + length_, piece, kept);
      text_[length_ + kept] = '\0';
    }
    length_ += bytes;
  }

  void append(std::uint64_t number) noexcept {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(number));
    append(digits);
  }

  /// Of the whole text, without its final zero.
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

 private:
  char* text_;
  std::size_t capacity_;
  std::size_t length_ = 0;
};

}  // namespace arcalloc::detail
