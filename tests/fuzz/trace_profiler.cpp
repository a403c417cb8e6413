// SPDX-License-Identifier: Apache-2.0
// Fuzzing the JSON of PyTorch's profiler, packed with gzip or not; and its scanner, beside a library that many use.
#include "json_oracle.hpp"
#include "one_input.hpp"
#include "trace_judge.hpp"

namespace arcalloc::testing {

int one_input(const std::uint8_t* bytes, std::size_t size) {
  const std::string input(bytes, bytes + size);
  judge_json(input);
  judge_trace(input, trace::trace_format::profiler);
  return 0;
}

}  // namespace arcalloc::testing
