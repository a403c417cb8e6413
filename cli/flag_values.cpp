// SPDX-License-Identifier: Apache-2.0
#include "flag_values.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "exit_status.hpp"

namespace arcalloc::cli {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value < least || value > most) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto unit_at = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  const std::string_view unit = text.substr(unit_at);
  int shift = 0;
  if (unit == "KiB") {
    shift = 10;
  } else if (unit == "MiB") {
    shift = 20;
  } else if (unit == "GiB") {
    shift = 30;
  } else if (!unit.empty()) {
    return std::nullopt;
  }
  const auto most = std::numeric_limits<std::uint64_t>::max() >> shift;
  const auto count = parse_count(text.substr(0, unit_at), 0, most);
  if (!count) return std::nullopt;
  return *count << shift;
}

std::uint64_t require_count(const char* flag, const std::string& text, std::uint64_t least, std::uint64_t most) {
  const auto value = parse_count(text, least, most);
  if (!value) {
    throw command_failure{exit_status::bad_usage, std::string(flag) + ": \"" + text + "\" is not a whole number from " +
                                                      std::to_string(least) + " to " + std::to_string(most)};
  }
  return *value;
}

device_choice require_device(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const bool has_detail = colon != std::string::npos;
  const std::string detail = has_detail ? text.substr(colon + 1) : std::string();

  if (kind == "host") {
    if (!has_detail) return {device_kind::host, default_host_device_bytes, 0, text, false};
    const auto size = parse_size(detail);
    if (!size) {
      throw command_failure{
          exit_status::bad_usage,
          "--device: \"" + detail + "\" is not a size: a whole number, then nothing, KiB, MiB or GiB"};
    }
    if (*size < page_bytes()) {
      throw command_failure{exit_status::bad_usage, "--device: \"" + detail + "\" is less than one page (" +
                                                        std::to_string(page_bytes()) + " bytes)"};
    }
    return {device_kind::host, *size, 0, text, false};
  }
  const auto ordinal = parse_count(detail, 0, std::numeric_limits<std::int32_t>::max());
  if (kind == "cuda" && ordinal) return {device_kind::cuda, 0, static_cast<int>(*ordinal), text, false};
  if (kind == "sim" && !detail.empty()) {
    throw command_failure{exit_status::device_refused,
                          "--device " + text + ": a simulated card is of use with decode only"};
  }
  throw command_failure{exit_status::bad_usage, "--device: \"" + text + "\" is not host[:SIZE], sim:NAME or cuda:N"};
}

std::vector<std::size_t> require_choices(const char* flag, const char* kind, const std::string& text,
                                         const std::vector<const char*>& names) {
  const auto refuse = [&](const std::string& what) {
    std::string list;
    for (const char* each : names) list.append(list.empty() ? "" : ", ").append(each);
    throw command_failure{exit_status::bad_usage,
                          std::string(flag) + ": " + what + "; give any of " + list + ", separated by commas"};
  };
  std::vector<std::size_t> chosen;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string name = text.substr(start, comma - start);
    const auto found = std::find(names.begin(), names.end(), name);
    const auto at = static_cast<std::size_t>(found - names.begin());
    if (name.empty()) refuse("an empty name in \"" + text + "\"");
    if (found == names.end()) refuse(std::string("unknown ") + kind + " \"" + name + "\"");
    if (std::find(chosen.begin(), chosen.end(), at) != chosen.end()) refuse("\"" + name + "\" is named twice");
    chosen.push_back(at);
    start = comma + 1;
  }
  return chosen;
}

}  // namespace arcalloc::cli
