// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/formats/pickle_code.hpp"

namespace arcalloc::trace {

/// What a pickle's memo holds: of each value a byte that its keeper understands, and of numbers the number.
///
/// Picklers put nearly every value there, count them up, and fetch few of them; of what is fetched a snapshot needs
/// which word it is, if any. Python's pickler never puts numbers there: they are kept apart. Concurrency: one thread.
/// Cost: a byte a put. Refused by the opcode that `code` has just read: an index that leaves others out, or that
/// nothing was put at; more than a snapshot needs.
class pickle_memo {
 public:
  static constexpr std::size_t puts_max = std::size_t{1} << 27;
  static constexpr std::size_t numbers_max = std::size_t{1} << 16;

  /// Where a put without an index goes.
  [[nodiscard]] std::uint64_t next() const noexcept { return values_.size(); }
  void put(std::uint64_t index, std::uint8_t value, const pickle_code& code) {
    if (index != values_.size()) return put_again(index, value, code);
    if (index == puts_max) refuse_many(code);
    values_.push_back(value);
  }
  void put_number(std::uint64_t index, std::uint8_t value, std::uint64_t number, const pickle_code& code);
  [[nodiscard]] std::uint8_t fetch(std::uint64_t index, const pickle_code& code) const {
    if (index >= values_.size()) refuse_unknown(code);
    return values_[static_cast<std::size_t>(index)];
  }
  /// Of a value that was put with a number.
  [[nodiscard]] std::uint64_t number(std::uint64_t index) const { return numbers_.at(index); }

 private:
  void put_again(std::uint64_t index, std::uint8_t value, const pickle_code& code);
  [[noreturn]] static void refuse_many(const pickle_code& code);
  [[noreturn]] static void refuse_unknown(const pickle_code& code);

  std::vector<std::uint8_t> values_;
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
};

}  // namespace arcalloc::trace
