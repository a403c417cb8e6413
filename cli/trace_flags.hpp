// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/options.hpp>
#include <cstdint>
#include <string>

#include "trace/formats/trace_facts.hpp"

namespace CLI {
class App;
}

namespace arcalloc::cli {

// Flags that several commands about traces have. Each throws command_failure (bad_usage) that names the flag and what
// is wrong.

/// One of the first `choices` formats, by name.
trace::trace_format require_trace_format(const char* flag, const std::string& text, int choices);

/// The value of --unit, in bytes: what one unit of size is, in lifetimes.
std::uint64_t require_unit(const std::string& text);

/// The value of --geometry.
geometry require_geometry(const std::string& text);

/// How large a simulated device is, and what it lends at least, unless --device and --granularity say otherwise.
inline constexpr std::uint64_t sim_bytes_default = std::uint64_t{80} << 30;
inline constexpr std::uint64_t granule_bytes_default = std::uint64_t{2} << 20;

/// "sim" or "sim:SIZE", in bytes. What --device takes is named where it is neither.
std::uint64_t require_sim_bytes(const std::string& text, const char* accepted = "sim or sim:SIZE (1MiB to 65536GiB)");
std::uint64_t require_sim_granule(const std::string& text);

/// --from, --unit, --trace-device and --from-empty, as they were written.
struct reading_flags {
  std::string from, unit, trace_device;
};
void add_reading_flags(CLI::App& line, reading_flags& flags, trace::read_options& read);
void read_reading_flags(const CLI::App& line, const reading_flags& flags, trace::read_options& read);

}  // namespace arcalloc::cli
