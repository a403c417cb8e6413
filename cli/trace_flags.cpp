// SPDX-License-Identifier: Apache-2.0
#include "trace_flags.hpp"

#include <CLI/CLI.hpp>
#include <bit>

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

geometry require_geometry(const std::string& text) {
  for (const geometry one : {geometry::classes_1, geometry::classes_2, geometry::classes_4, geometry::classes_8,
                             geometry::classes_16, geometry::exact}) {
    if (text == geometry_name(one)) return one;
  }
  throw command_failure{exit_status::bad_usage, "--geometry: \"" + text + "\" is not 1, 2, 4, 8, 16 or exact"};
}

std::uint64_t require_sim_bytes(const std::string& text, const char* accepted) {
  constexpr std::uint64_t least = std::uint64_t{1} << 20;
  constexpr std::uint64_t most = std::uint64_t{1} << 46;
  const bool sized = text.starts_with("sim:");
  const auto bytes = sized ? parse_size(text.substr(4)) : std::optional(sim_bytes_default);
  if ((text != "sim" && !sized) || !bytes || *bytes < least || *bytes > most) {
    throw command_failure{exit_status::bad_usage,
                          std::string("--device: \"").append(text).append("\" is not ").append(accepted)};
  }
  return *bytes;
}

std::uint64_t require_sim_granule(const std::string& text) {
  constexpr std::uint64_t least = 512;
  constexpr std::uint64_t most = std::uint64_t{2} << 20;
  const auto bytes = parse_size(text);
  if (!bytes || *bytes < least || *bytes > most || !std::has_single_bit(*bytes)) {
    throw command_failure{exit_status::bad_usage,
                          "--granularity: \"" + text + "\" is not a power of two from 512 to 2MiB"};
  }
  return *bytes;
}

void add_reading_flags(CLI::App& line, reading_flags& flags, trace::read_options& read) {
  const auto add = [&line](const char* name, std::string& value, const char* form, const char* help) {
    line.add_option(name, value, help)->option_text(form);
  };
  add("--from", flags.from, "FORMAT", "own, csv, snapshot, rmm, profiler or lifetimes; else what the content says");
  add("--unit", flags.unit, "BYTES", "what one unit of size is, in lifetimes; 1 unless given");
  add("--trace-device", flags.trace_device, "N", "only the events of this device");
  line.add_flag("--from-empty", read.from_empty, "skip what was there before the recording");
}

void read_reading_flags(const CLI::App& line, const reading_flags& flags, trace::read_options& read) {
  if (line.count("--from") > 0) read.format = require_trace_format("--from", flags.from, trace::trace_format_count);
  if (line.count("--unit") > 0) read.unit_bytes = require_unit(flags.unit);
  if (line.count("--trace-device") == 0) return;
  read.device = static_cast<std::uint32_t>(require_count("--trace-device", flags.trace_device, 0, UINT32_MAX));
}

}  // namespace arcalloc::cli
