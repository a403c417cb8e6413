// SPDX-License-Identifier: Apache-2.0
#include "decode/values.hpp"

#include <algorithm>
#include <cmath>

namespace arcalloc::decode {

namespace {

constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;

/// 24 bits to [-1, 1): both the division by 2^23 and the subtraction are exact in float32.
float centred(std::uint64_t bits) noexcept {
  return static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1.0p-23F - 1.0F;
}

}  // namespace

std::uint64_t scramble(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

void seeded_values::write(float* out, std::size_t count) const {
  // Two values per scrambled word: generating a model's weights must not rival running it.
  std::uint64_t counter = scramble(seed_);
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    const std::uint64_t word = scramble(counter += golden_ratio);
    out[i] = centred(word >> 40) * bound_;
    out[i + 1] = centred((word >> 16) & 0xffffff) * bound_;
  }
  if (count % 2 != 0) out[count - 1] = centred(scramble(counter + golden_ratio) >> 40) * bound_;
}

void constant_values::write(float* out, std::size_t count) const { std::fill_n(out, count, value_); }

void rotary_values::write(float* out, std::size_t count) const {
  const std::size_t columns = head_dim_ / 2;
  for (std::size_t j = 0; j < std::min(columns, count); ++j) {
    const float exponent = static_cast<float>(2 * j) / static_cast<float>(head_dim_);
    const float frequency = 1.0F / std::pow(10000.0F, exponent);
    for (std::size_t i = j; i < count; i += columns) {
      const std::size_t position = i / columns;
      const float angle = static_cast<float>(position) * frequency;
      out[i] = part_ == rotary_part::cosine ? std::cos(angle) : std::sin(angle);
    }
  }
}

}  // namespace arcalloc::decode
