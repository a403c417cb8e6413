// SPDX-License-Identifier: Apache-2.0
#include "figures.hpp"

#include <algorithm>
#include <cstddef>

namespace arcalloc::cli {

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

std::optional<spread> spread_of(const std::vector<double>& values) {
  const auto middle = median(values);
  if (!middle) return std::nullopt;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return spread{*middle, *least, *most};
}

std::optional<double> second_half_slope(const std::vector<memory_sample>& samples) {
  if (samples.empty()) return std::nullopt;
  const double first = samples.front().seconds;
  const double last = samples.back().seconds;
  if (last - first < slope_seconds_least) return std::nullopt;

  double count = 0;
  double mean_seconds = 0;
  double mean_bytes = 0;
  for (const memory_sample& sample : samples) {
    if (sample.seconds < first + (last - first) / 2) continue;
    count += 1;
    mean_seconds += (sample.seconds - mean_seconds) / count;
    mean_bytes += (static_cast<double>(sample.resident_bytes) - mean_bytes) / count;
  }
  double product = 0;
  double square = 0;
  for (const memory_sample& sample : samples) {
    if (sample.seconds < first + (last - first) / 2) continue;
    const double offset = sample.seconds - mean_seconds;
    product += offset * (static_cast<double>(sample.resident_bytes) - mean_bytes);
    square += offset * offset;
  }
  if (square <= 0) return std::nullopt;
  return product / square;
}

void drop_fall_at_the_end(std::vector<memory_sample>& samples, std::uint64_t tokens_done) {
  while (samples.size() > 1 && samples.back().tokens == tokens_done &&
         samples.back().resident_bytes < samples[samples.size() - 2].resident_bytes) {
    samples.pop_back();
  }
}

std::uint64_t decile_tokens(std::size_t index, std::uint64_t tokens) {
  const std::uint64_t parts = decile_count - 1;
  // Split so that the product cannot wrap for any token count.
  return tokens / parts * index + tokens % parts * index / parts;
}

}  // namespace arcalloc::cli
