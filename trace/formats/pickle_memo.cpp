// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/pickle_memo.hpp"

#include <string>

#include "trace/formats/pickle_code.hpp"

namespace arcalloc::trace {

memo_use::memo_use(byte_source& from) {
  pickle_code code(from);
  std::uint64_t puts = 0;
  for (pickle_op op = code.next(); op != pickle_op::stop; op = code.next()) {
    if (op == pickle_op::memoize) {
      ++puts;
    } else if (op == pickle_op::put_1 || op == pickle_op::put_4) {
      // Picklers count up. An index far beyond would make room for what is not there.
      if (code.number() > puts) code.refuse("a memo index that leaves others out");
      if (code.number() == puts) ++puts;
    } else if (op == pickle_op::get_1 || op == pickle_op::get_4) {
      if (code.number() >= puts) code.refuse("fetches from the memo what was not put there");
      if (code.number() / 64 >= fetched_.size()) fetched_.resize(static_cast<std::size_t>(code.number() / 64) + 1);
      fetched_[static_cast<std::size_t>(code.number() / 64)] |= std::uint64_t{1} << (code.number() % 64);
    }
  }
  before_.reserve(fetched_.size());
  for (const std::uint64_t word : fetched_) {
    before_.push_back(static_cast<std::uint32_t>(count_));
    count_ += ones_in(word);
  }
}

}  // namespace arcalloc::trace
