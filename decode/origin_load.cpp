// SPDX-License-Identifier: Apache-2.0
#include "decode/origin_load.hpp"

#include <utility>

namespace arcalloc::decode {

namespace {

struct pieces {
  std::uint32_t bytes;
  std::uint32_t times;
};

// Means and indexes, rotary tables, keys and values of one head, the low-rank query, rows of the model, heads.
constexpr pieces attention[] = {{4, 4}, {128, 2}, {256, 2}, {512, 4}, {1024, 6}, {3072, 4}, {8192, 14}, {65536, 8}};
// Of one expert: scales, hidden rows in bf16 and in single precision, rows of the model.
constexpr pieces expert[] = {{4, 3}, {4096, 14}, {8192, 9}, {16384, 4}};
constexpr std::uint32_t experts = 7;
// The embedding and the last norm, logits in bf16 and in single precision, what the sampler needs.
constexpr pieces outside[] = {{4, 15}, {8192, 6}, {258'560, 8}, {517'120, 6}};

constexpr std::uint32_t count(const auto& list) {
  std::uint32_t sum = 0;
  for (const pieces& each : list) sum += each.times;
  return sum;
}

constexpr std::uint32_t fixed_in_layer = count(attention) + experts * count(expert);
static_assert(origin_load::layers * (fixed_in_layer + 1) + count(outside) == origin_load::requests_per_step);

std::uint64_t next(std::uint64_t& chance) {
  chance ^= chance << 13;
  chance ^= chance >> 7;
  chance ^= chance << 17;
  return chance;
}

void add(std::vector<std::uint32_t>& sizes, const auto& list) {
  for (const pieces& each : list) sizes.insert(sizes.end(), each.times, each.bytes);
}

void shuffle(std::vector<std::uint32_t>& sizes, std::uint64_t& chance) {
  for (std::size_t i = sizes.size(); i > 1; --i) std::swap(sizes[i - 1], sizes[next(chance) % i]);
}

}  // namespace

origin_load::origin_load(const charged_memory& memory) : memory_(memory) {
  add(in_layer_, attention);
  for (std::uint32_t i = 0; i < experts; ++i) add(in_layer_, expert);
  add(outside_, outside);
  shuffle(in_layer_, chance_);
  shuffle(outside_, chance_);
}

void origin_load::request_fixed(std::uint64_t bytes) {
  due_[requests_ % due_.size()].clear();
  const std::uint64_t lifetime = 1 + next(chance_) % lifetime_most;
  tensor out = memory_.compute(bytes, {.bytes = 2 * bytes, .operations = bytes, .with = precision::half_16});
  due_[(requests_ + lifetime) % due_.size()].push_back(std::move(out));
  ++requests_;
}

void origin_load::request_growing(std::size_t layer) {
  const std::uint64_t bytes = growing_bytes_per_position * position_;
  // The former one goes when the new one is there.
  growing_[position_ % steps_in_flight][layer] =
      memory_.compute(bytes, {.bytes = 2 * bytes, .operations = bytes, .with = precision::half_16});
}

void origin_load::begin(std::size_t context) {
  // The last of the context's positions, as their steps would have left them in flight.
  position_ = context - std::min(context, steps_in_flight);
  while (position_ < context) {
    ++position_;
    for (std::size_t layer = 0; layer < layers; ++layer) request_growing(layer);
  }
}

load_step origin_load::step(std::uint64_t) {
  ++position_;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (const std::uint32_t bytes : in_layer_) request_fixed(bytes);
    request_growing(layer);
  }
  for (const std::uint32_t bytes : outside_) request_fixed(bytes);
  return {};
}

}  // namespace arcalloc::decode
