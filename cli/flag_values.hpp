// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arcalloc::cli {

/// A whole number in [least, most]: decimal digits without a leading zero and nothing around them.
std::optional<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most);

/// A size as the scenario language writes it: a whole number, then nothing, `KiB`, `MiB` or `GiB`.
/// Refuses what does not fit in 64 bits. Bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);

enum class device_kind { host, sim, cuda };

/// What --device names. `size_bytes` is 0 for CUDA, which knows it itself; the ordinal is for CUDA only.
struct device_choice {
  device_kind kind = device_kind::host;
  std::uint64_t size_bytes = 0;
  int ordinal = 0;
  std::string text;
  bool is_stream_ordered = false;  ///< of cards: memory comes from stream-ordered driver calls
};

inline constexpr std::uint64_t default_host_device_bytes = std::uint64_t{3} << 30;

/// Parses --device. Throws command_failure: bad_usage when the text names no device, device_refused
/// when it names a simulated card, sim:NAME, which is for those who ask for it before.
device_choice require_device(const std::string& text);

/// Parses the value of `flag`, or throws command_failure (bad_usage) that names the flag, the value
/// and the range.
std::uint64_t require_count(const char* flag, const std::string& text, std::uint64_t least, std::uint64_t most);

/// Parses a list for `flag`: some of `names`, separated by commas, none twice, at least one; what they are is `kind`.
/// Which of the names, in the order of the text. Throws command_failure (bad_usage) that names the flag and what is
/// wrong.
std::vector<std::size_t> require_choices(const char* flag, const char* kind, const std::string& text,
                                         const std::vector<const char*>& names);

}  // namespace arcalloc::cli
