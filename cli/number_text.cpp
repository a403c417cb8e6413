// SPDX-License-Identifier: Apache-2.0
#include "number_text.hpp"

#include <arcalloc/counters.hpp>
#include <cmath>
#include <cstdio>

namespace arcalloc::cli {

namespace {

constexpr double mib = 1024.0 * 1024.0;

std::string plain(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// Puts a comma before every third digit of the whole part.
std::string separated(std::string text) {
  const std::size_t first = text.front() == '-' ? 1 : 0;
  std::size_t at = std::min(text.find('.'), text.size());
  while (at > first + 3) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

}  // namespace

std::string count_text(std::uint64_t value) { return separated(std::to_string(value)); }

std::string fixed_text(double value, int digits) {
  std::string text = plain(value, digits);
  // A tiny negative value rounds to "-0.0", which is no figure.
  if (text.find_first_of("123456789") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return separated(text);
}

std::string fixed_text(const std::optional<double>& value, int digits) {
  return value ? fixed_text(*value, digits) : "-";
}

std::string mib_text(std::uint64_t bytes) {
  std::string text = plain(static_cast<double>(bytes) / mib, 2);
  if (text.back() == '0') text.pop_back();
  return text;
}

std::string growth_text(std::int64_t bytes) {
  const double value = static_cast<double>(bytes) / mib;
  const std::string text = fixed_text(value, std::fabs(value) < 10 ? 1 : 0);
  return text == "0.0" ? "0" : signed_text(text);
}

std::string signed_text(const std::string& figure) {
  const bool is_positive = figure.find_first_of("123456789") != std::string::npos && figure.front() != '-';
  return is_positive ? std::string("+").append(figure) : figure;
}

std::string rate_text(const std::optional<double>& value) {
  if (!value) return "-";
  const double size = std::fabs(*value);
  if (size == 0) return "0";
  if (size < 0.1) return fixed_text(*value, 4);
  if (size < 10) return fixed_text(*value, 2);
  return fixed_text(*value, 1);
}

std::string cap_text(const cap_arithmetic& cap) {
  const std::string size = mib_text(cap.cached_bytes_max) + " MiB";
  switch (cap.cap_source) {
    case ARCALLOC_CAP_EXPLICIT:
      return size + ", set explicitly";
    case ARCALLOC_CAP_ENVIRONMENT:
      return size + ", set by ARC_ALLOC_CACHE_MAX_MB";
    case ARCALLOC_CAP_DERIVED:
      return "min(1024 MiB, (" + mib_text(cap.free_bytes) + " - " + mib_text(cap.reserve_bytes) + ") / 2) = " + size;
    case ARCALLOC_CAP_FALLBACK:
      return size + ", because the device did not say how much is free (" + status_name(cap.query) + ")";
    case ARCALLOC_CAP_UNBOUNDED:
      return "unbounded";
    default:
      return size + ", of unknown source";
  }
}

}  // namespace arcalloc::cli
