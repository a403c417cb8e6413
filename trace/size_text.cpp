// SPDX-License-Identifier: Apache-2.0
#include "trace/size_text.hpp"

#include <charconv>
#include <limits>

namespace arcalloc::trace {

std::optional<std::uint64_t> count_from(std::string_view text, std::uint64_t most) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t value = 0;
  // from_chars takes no blank and no plus sign, and no minus sign where the value has none.
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> size_from(std::string_view text) {
  struct unit {
    std::string_view name;
    int shift;
  };
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  for (const unit one : {unit{"KiB", 10}, unit{"MiB", 20}, unit{"GiB", 30}}) {
    if (!text.ends_with(one.name)) continue;
    const auto count = count_from(text.substr(0, text.size() - one.name.size()), largest >> one.shift);
    return count ? std::optional(*count << one.shift) : std::nullopt;
  }
  return count_from(text, largest);
}

}  // namespace arcalloc::trace
