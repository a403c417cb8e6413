// SPDX-License-Identifier: Apache-2.0
#include "decode_sequence.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace arcalloc::bench {

namespace {

constexpr std::size_t layers = 32;
constexpr std::uint64_t requests_later_max = 5;
static_assert(requests_later_max < decode_sequence::slots_max, "a slot for each tensor that can be out at once");
constexpr std::uint64_t seed = 0x9e3779b97f4a7c15;

/// The tensors of one layer, in the order in which they are asked for.
constexpr operation layer_tensors[] = {
    {.bytes = 4},                  // mean square
    {.bytes = 8192},               // norm
    {.bytes = 8192},               // q
    {.bytes = 2048},               // k
    {.bytes = 2048},               // v
    {.bytes = 512},                // cos
    {.bytes = 512},                // sin
    {.bytes = 8192},               // q, rotated
    {.bytes = 2048},               // k, rotated
    {.bytes_per_position = 2048},  // keys and values, concatenated
    {.bytes_per_position = 64},    // scores
    {.bytes = 8192},               // attention
    {.bytes = 8192},               // transposed
    {.bytes = 8192},               // output
    {.bytes = 8192},               // residual
    {.bytes = 4},                  // mean square
    {.bytes = 8192},               // norm
    {.bytes = 28672},              // gate
    {.bytes = 28672},              // up
    {.bytes = 28672},              // silu
    {.bytes = 28672},              // product
    {.bytes = 8192},               // down
    {.bytes = 8192},               // residual
};

/// Lists the calls of a step: requests as they come, and after each the frees that are due.
class schedule {
 public:
  void request(operation tensor) {
    tensor.slot = take_slot();
    out_.operations.push_back(tensor);
    ++out_.pairs;
    const std::size_t due = out_.pairs + dice_.between(1, requests_later_max);
    waiting_.push_back({due, tensor.slot});
    free_due(out_.pairs);
  }

  [[nodiscard]] decode_sequence finish() {
    for (std::size_t later = 1; later <= requests_later_max; ++later) free_due(out_.pairs + later);
    return std::move(out_);
  }

 private:
  struct waiting_free {
    std::size_t due;
    std::uint16_t slot;
  };

  std::uint16_t take_slot() {
    const auto idle = std::find(slots_in_use_.begin(), slots_in_use_.end(), false);
    *idle = true;
    return static_cast<std::uint16_t>(idle - slots_in_use_.begin());
  }

  void free_due(std::size_t now) {
    const auto first =
        std::partition(waiting_.begin(), waiting_.end(), [now](const waiting_free& one) { return one.due != now; });
    for (auto left = waiting_.end() - first; left > 0; --left) {
      const auto drawn = first + static_cast<std::ptrdiff_t>(dice_.between(0, static_cast<std::uint64_t>(left - 1)));
      out_.operations.push_back({.slot = drawn->slot});
      slots_in_use_[drawn->slot] = false;
      std::iter_swap(drawn, first + left - 1);
    }
    waiting_.erase(first, waiting_.end());
  }

  decode_sequence out_;
  std::vector<waiting_free> waiting_;
  std::array<bool, decode_sequence::slots_max> slots_in_use_{};
  dice dice_{seed};
};

}  // namespace

std::uint64_t dice::between(std::uint64_t least, std::uint64_t most) noexcept {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return least + state_ % (most - least + 1);
}

decode_sequence make_decode_sequence(growing_tensors which) {
  schedule made;
  made.request({.bytes = 8192});  // embedding
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (const operation& tensor : layer_tensors) {
      if (tensor.bytes_per_position == 0 || which == growing_tensors::included) made.request(tensor);
    }
  }
  made.request({.bytes = 8192});    // norm
  made.request({.bytes = 262144});  // logits
  return made.finish();
}

std::vector<std::size_t> other_blocks() {
  dice drawn{0x2545f4914f6cdd1d};
  std::vector<std::size_t> sizes(1000);
  for (std::size_t& bytes : sizes) bytes = drawn.between(256, std::uint64_t{2} << 20);
  return sizes;
}

std::uint64_t peak_live_bytes(const decode_sequence& sequence, std::uint64_t position) {
  std::array<std::uint64_t, decode_sequence::slots_max> held{};
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
  for (const operation& call : sequence.operations) {
    const std::uint64_t bytes = call.bytes + position * call.bytes_per_position;
    live += bytes;
    if (bytes == 0) live -= held[call.slot];
    held[call.slot] = bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

}  // namespace arcalloc::bench
