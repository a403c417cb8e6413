// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace arcalloc::cli {

/// How figures are written for people. One function per kind of figure, so that the terminal and the
/// page never disagree. All locale-independent; what is not known is a dash.

/// 1,234,567
std::string count_text(std::uint64_t value);

/// With `digits` decimals and thousands separators: 1,234.50
std::string fixed_text(double value, int digits);
std::string fixed_text(const std::optional<double>& value, int digits);

/// Mebibytes: one decimal, or two where the second is not zero; no separators: 98.25
std::string mib_text(std::uint64_t bytes);

/// Mebibytes with a sign and separators, with one decimal below 10: +15,700 or +2.4
std::string growth_text(std::int64_t bytes);

/// The figure with a plus sign where it is above zero.
std::string signed_text(const std::string& figure);

/// A ratio or rate of small figures: more digits where they are needed to tell it from zero.
std::string rate_text(const std::optional<double>& value);

/// The bound on cached bytes and how it came about, written out:
/// "min(1024 MiB, (262.0 - 65.5) / 2) = 98.25 MiB".
std::string cap_text(const cap_arithmetic& cap);

}  // namespace arcalloc::cli
