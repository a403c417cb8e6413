// SPDX-License-Identifier: Apache-2.0
#include "dedicated_bins.hpp"

namespace arcalloc::detail {

namespace {
constexpr std::uint64_t chains_min = 256;
}

dedicated_bins::chain& dedicated_bins::chain_of(std::uint64_t class_bytes) const noexcept {
  const std::uint64_t hash = (class_bytes / class_step_min) * 0x9E3779B97F4A7C15U;
  return chains_[(hash ^ (hash >> 32)) & (chain_count_ - 1)];
}

bool dedicated_bins::try_reserve() noexcept {
  if (count_ < chain_count_ * 2) return true;
  const std::uint64_t wanted = chain_count_ == 0 ? chains_min : chain_count_ * 4;
  void* const room = memory_.cut(wanted * sizeof(chain));
  if (room == nullptr) return chain_count_ != 0;
  chains_ = static_cast<chain*>(room);  // zeroed memory is a row of empty lists
  chain_count_ = wanted;
  // Coldest first, so that each chain ends up with its warmest in front.
  for (segment* at = by_age_.back(); at != nullptr; at = ages::previous(at)) {
    at->in_class = {};
    chain_of(at->class_bytes).push_front(at);
  }
  return true;
}

segment* dedicated_bins::first_of(std::uint64_t class_bytes) const noexcept {
  if (count_ == 0) return nullptr;
  segment* at = chain_of(class_bytes).front();
  while (at != nullptr && at->class_bytes != class_bytes) at = chain::next(at);
  return at;
}

segment* dedicated_bins::next_of(const segment& at) noexcept {
  segment* next = chain::next(&at);
  while (next != nullptr && next->class_bytes != at.class_bytes) next = chain::next(next);
  return next;
}

void dedicated_bins::insert(segment& idle) noexcept {
  if (first_of(idle.class_bytes) == nullptr) ++classes_;
  chain_of(idle.class_bytes).push_front(&idle);
  by_age_.push_front(&idle);
  ++count_;
}

void dedicated_bins::remove(segment& idle) noexcept {
  chain_of(idle.class_bytes).remove(&idle);
  by_age_.remove(&idle);
  --count_;
  if (first_of(idle.class_bytes) == nullptr) --classes_;
}

segment* dedicated_bins::find_fitting(stream on, std::uint64_t bytes) const noexcept {
  segment* best = nullptr;
  for (segment* at = by_age_.front(); at != nullptr; at = ages::next(at)) {
    if (at->on == on && at->bytes >= bytes && (best == nullptr || at->bytes < best->bytes)) best = at;
  }
  return best;
}

segment* dedicated_bins::find(stream on, std::uint64_t class_bytes, std::uint64_t bytes) const noexcept {
  segment* at = first_of(class_bytes);
  while (at != nullptr && (at->on != on || at->bytes < bytes)) at = next_of(*at);
  return at;
}

}  // namespace arcalloc::detail
