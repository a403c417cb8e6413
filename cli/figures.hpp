// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace arcalloc::cli {

/// The middle value, or the mean of the two in the middle; nothing of nothing.
std::optional<double> median(std::vector<double> values);

/// The median with the range around it.
struct spread {
  double median = 0;
  double least = 0;
  double most = 0;
};
std::optional<spread> spread_of(const std::vector<double>& values);

/// The resident memory of a leg's process at one moment, seen from outside.
struct memory_sample {
  double seconds = 0;  ///< since the decode steps began
  std::uint64_t tokens = 0;
  std::uint64_t resident_bytes = 0;
};

/// A leg shorter than this has no slope: a handful of samples says nothing about a trend.
inline constexpr double slope_seconds_least = 10;

/// Least-squares slope, in bytes per second, of the samples in the second half of the time; nothing
/// when the samples span less than slope_seconds_least.
std::optional<double> second_half_slope(const std::vector<memory_sample>& samples);

/// Drops the last samples while each is lower than the one before and shows all `tokens_done` tokens:
/// a leg that ended early was giving its memory back by then, which is no part of decoding.
void drop_fall_at_the_end(std::vector<memory_sample>& samples, std::uint64_t tokens_done);

inline constexpr std::size_t decile_count = 11;

/// The number of tokens done at decile `index` (0 to 10) of `tokens`.
std::uint64_t decile_tokens(std::size_t index, std::uint64_t tokens);

}  // namespace arcalloc::cli
