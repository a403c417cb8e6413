// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/pickle_memo.hpp"

#include <string>

namespace arcalloc::trace {

void pickle_memo::put_number(std::uint64_t index, std::uint8_t value, std::uint64_t number, const pickle_code& code) {
  put(index, value, code);
  numbers_[index] = number;
  if (numbers_.size() > numbers_max) code.refuse("more than " + std::to_string(numbers_max) + " numbers in the memo");
}

void pickle_memo::put_again(std::uint64_t index, std::uint8_t value, const pickle_code& code) {
  // Picklers count up. An index far beyond would make room for what is not there.
  if (index > values_.size()) code.refuse("a memo index that leaves others out");
  values_[static_cast<std::size_t>(index)] = value;
}

void pickle_memo::refuse_many(const pickle_code& code) {
  code.refuse("more than " + std::to_string(puts_max) + " values in the memo");
}

void pickle_memo::refuse_unknown(const pickle_code& code) {
  code.refuse("fetches from the memo what was not put there");
}

}  // namespace arcalloc::trace
