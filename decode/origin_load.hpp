// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "decode/load.hpp"

namespace arcalloc::decode {

/// The load that the origin of this allocator was measured under: 43 layers, 11,000 requests a step, of which one in
/// each layer has the size of the context.
///
/// A layer has 254 tensors of fixed sizes, those of a model with 4096 columns, 64 heads and 7 of 256 experts, each
/// freed one to five requests later, and one of 64 bytes per position. That one is freed eight steps later, when the
/// steps that are in flight have been read back: exact sizes are rounded to 512 bytes, eight positions, and so each is
/// of a size of which no block is idle, as it was where sizes were exact to the byte. An exact-size cache retains the
/// sum of them: 6.04 MiB a token over 2,600 tokens from a context of 1,000. Its weights are not its own: they are what
/// others have of the card. Cost: of its own, some nanoseconds a request.
class origin_load final : public load {
 public:
  static constexpr std::size_t layers = 43;
  static constexpr std::size_t requests_per_step = 11'000;
  static constexpr std::size_t growing_bytes_per_position = 64;
  static constexpr std::size_t steps_in_flight = 8;

  explicit origin_load(const charged_memory& memory);

  void begin(std::size_t context) override;
  load_step step(std::uint64_t now_ns) override;

 private:
  static constexpr std::size_t lifetime_most = 5;

  void request_fixed(std::uint64_t bytes);
  void request_growing(std::size_t layer);

  charged_memory memory_;
  std::vector<std::uint32_t> in_layer_;  ///< fixed sizes, in the order in which each layer asks for them
  std::vector<std::uint32_t> outside_;   ///< and those after the last layer
  std::array<std::vector<tensor>, lifetime_most + 1> due_;  ///< by the request that frees them, modulo the size
  std::array<std::array<tensor, layers>, steps_in_flight> growing_;
  std::size_t position_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t chance_ = 0x9e3779b97f4a7c15;
};

}  // namespace arcalloc::decode
