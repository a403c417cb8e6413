// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace arcalloc::decode {

/// Values from outside that a tensor is filled with: a file's, seeded ones, a table's.
///
/// An executor asks for them, or does not: one that has no memory to write to only accounts for the
/// transfer. Concurrency: write may be called from any thread. It allocates nothing.
class value_source {
 public:
  virtual ~value_source() = default;

  /// Writes the first `count` values. Writing fewer gives a prefix of writing more.
  virtual void write(float* out, std::size_t count) const = 0;
};

/// Uniform in [-bound, bound), by counter from splitmix64: the same on every machine, since it uses
/// integers and exact float operations only. Value i depends on the seed and i alone.
class seeded_values final : public value_source {
 public:
  seeded_values(std::uint64_t seed, float bound) noexcept : seed_(seed), bound_(bound) {}
  void write(float* out, std::size_t count) const override;

 private:
  std::uint64_t seed_;
  float bound_;
};

/// One value throughout.
class constant_values final : public value_source {
 public:
  explicit constant_values(float value) noexcept : value_(value) {}
  void write(float* out, std::size_t count) const override;

 private:
  float value_;
};

enum class rotary_part { cosine, sine };

/// The rotary table: row p, column j holds the cosine or sine of p / 10000^(2j / head_dim), for
/// j < head_dim / 2; in single precision, in the order of operations of llama2.c.
class rotary_values final : public value_source {
 public:
  rotary_values(rotary_part part, std::size_t head_dim) noexcept : part_(part), head_dim_(head_dim) {}
  void write(float* out, std::size_t count) const override;

 private:
  rotary_part part_;
  std::size_t head_dim_;
};

/// One step of splitmix64's output function: scrambles a counter or combines seeds.
[[nodiscard]] std::uint64_t scramble(std::uint64_t value) noexcept;

}  // namespace arcalloc::decode
