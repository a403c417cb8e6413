// SPDX-License-Identifier: Apache-2.0
#include "trace_flags.hpp"

#include "exit_status.hpp"
#include "flag_values.hpp"

namespace arcalloc::cli {

trace::trace_format require_trace_format(const char* flag, const std::string& text, int choices) {
  std::string names;
  for (int i = 0; i < choices; ++i) {
    const auto one = static_cast<trace::trace_format>(i);
    if (text == trace::trace_format_name(one)) return one;
    names.append(i == 0 ? "" : i + 1 < choices ? ", " : " or ").append(trace::trace_format_name(one));
  }
  throw command_failure{exit_status::bad_usage, std::string(flag) + ": \"" + text + "\" is not " + names};
}

std::uint64_t require_unit(const std::string& text) {
  constexpr std::uint64_t unit_bytes_max = std::uint64_t{1} << 40;
  const auto bytes = parse_size(text);
  if (!bytes || *bytes == 0 || *bytes > unit_bytes_max) {
    throw command_failure{exit_status::bad_usage, "--unit: \"" + text + "\" is not a size from 1 to 1024GiB"};
  }
  return *bytes;
}

}  // namespace arcalloc::cli
