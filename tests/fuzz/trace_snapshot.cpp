// SPDX-License-Identifier: Apache-2.0
// Fuzzing PyTorch's memory snapshots: pickles.
#include "one_input.hpp"
#include "trace_judge.hpp"

namespace arcalloc::testing {

int one_input(const std::uint8_t* bytes, std::size_t size) {
  const std::string input(bytes, bytes + size);
  judge_trace(input, trace::trace_format::snapshot);
  return 0;
}

}  // namespace arcalloc::testing
