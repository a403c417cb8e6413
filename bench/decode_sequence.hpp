// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace arcalloc::bench {

/// One call of a step: a request into a slot, or the free of what a slot holds.
/// The bytes of a request are bytes + position * bytes_per_position; a free has 0 in both.
struct operation {
  std::uint32_t bytes = 0;
  std::uint16_t bytes_per_position = 0;
  std::uint16_t slot = 0;
};

/// What an engine asks of its allocator to decode one token: the tensors of a small Llama, 32 layers of them.
///
/// Each is freed 1 to 5 requests after its own, those due together in shuffled order; what is left at the end of the
/// step is freed there, so every step is the same list of calls, and only sizes follow the position. Drawn once, from a
/// fixed seed, before anything is timed.
struct decode_sequence {
  static constexpr std::size_t slots_max = 8;

  std::vector<operation> operations;
  std::size_t pairs = 0;  ///< requests, each with its free
};

/// The tensors that grow with the position are there or left out.
enum class growing_tensors : bool { left_out, included };

[[nodiscard]] decode_sequence make_decode_sequence(growing_tensors which);

/// The most bytes requested and not yet freed at one time, in a step at `position`.
[[nodiscard]] std::uint64_t peak_live_bytes(const decode_sequence& sequence, std::uint64_t position);

/// What a populated allocator was asked for before: a thousand sizes of 256 bytes to 2 MiB.
[[nodiscard]] std::vector<std::size_t> other_blocks();

/// xorshift64: the same numbers everywhere.
class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed) {}
  /// A number from `least` to `most`, both included.
  [[nodiscard]] std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept;

 private:
  std::uint64_t state_;
};

}  // namespace arcalloc::bench
