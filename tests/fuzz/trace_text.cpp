// SPDX-License-Identifier: Apache-2.0
// Fuzzing the traces that are text: the first byte says which, the rest are the rows below its columns.
#include <string>

#include "one_input.hpp"
#include "trace/formats/csv_columns.hpp"
#include "trace_judge.hpp"

namespace arcalloc::testing {

int one_input(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string rows(bytes + 1, bytes + size);
  const auto judge = [&](std::string_view columns, trace::trace_format format) {
    judge_trace(std::string(columns).append("\n").append(rows), format);
  };
  switch (bytes[0] % 4) {
    case 0:
      judge(trace::csv_columns, trace::trace_format::csv);
      break;
    case 1:
      judge(trace::lifetimes_columns, trace::trace_format::lifetimes);
      break;
    case 2:
      judge(trace::rmm_columns, trace::trace_format::rmm);
      break;
    default:
      judge_trace(rows, trace::trace_format::csv);
      break;
  }
  return 0;
}

}  // namespace arcalloc::testing
