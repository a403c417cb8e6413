// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/live_table.hpp"

#include <utility>

namespace arcalloc::trace {

namespace {

constexpr std::size_t slots_at_first = 64;

}  // namespace

std::size_t live_table::home_of(std::uint32_t device, std::uint64_t id) const noexcept {
  // Addresses are multiples of 512, ids count up: both are spread over all bits.
  std::uint64_t mixed = (id ^ (std::uint64_t{device} << 48)) * 0x9e3779b97f4a7c15U;
  mixed ^= mixed >> 32;
  return static_cast<std::size_t>(mixed) & (slots_.size() - 1);
}

std::size_t live_table::place_of(std::uint32_t device, std::uint64_t id) const noexcept {
  std::size_t at = home_of(device, id);
  while (slots_[at].is_live && (slots_[at].block.id != id || slots_[at].block.device != device)) {
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

const live_block* live_table::find(std::uint32_t device, std::uint64_t id) const noexcept {
  if (size_ == 0) return nullptr;
  const slot& found = slots_[place_of(device, id)];
  return found.is_live ? &found.block : nullptr;
}

bool live_table::insert(const live_block& what) {
  if (2 * (size_ + 1) > slots_.size()) grow();
  slot& place = slots_[place_of(what.device, what.id)];
  if (place.is_live) return false;
  place = {what, true};
  ++size_;
  return true;
}

std::optional<live_block> live_table::take_out(std::uint32_t device, std::uint64_t id) noexcept {
  if (size_ == 0) return std::nullopt;
  std::size_t hole = place_of(device, id);
  if (!slots_[hole].is_live) return std::nullopt;
  const live_block out = slots_[hole].block;
  --size_;
  // What stands behind and could not be reached past an empty slot moves up.
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = (hole + 1) & mask; slots_[at].is_live; at = (at + 1) & mask) {
    const std::size_t home = home_of(slots_[at].block.device, slots_[at].block.id);
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole].is_live = false;
  return out;
}

void live_table::clear() {
  slots_.clear();
  size_ = 0;
}

void live_table::grow() {
  std::vector<slot> old = std::exchange(slots_, std::vector<slot>(slots_.empty() ? slots_at_first : 2 * slots_.size()));
  for (const slot& one : old) {
    if (one.is_live) slots_[place_of(one.block.device, one.block.id)] = one;
  }
}

}  // namespace arcalloc::trace
