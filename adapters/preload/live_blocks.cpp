// SPDX-License-Identifier: Apache-2.0
#include "live_blocks.hpp"

#include <iterator>
#include <new>

namespace arcalloc::preload {

live_blocks& live_blocks::all() noexcept {
  static auto* const only = new live_blocks;  // never destroyed: programs free until they end
  return *only;
}

bool live_blocks::keep(device_address address, const live_block& fresh) noexcept {
  const std::lock_guard guard(mutex_);
  try {
    blocks_.insert_or_assign(address, fresh);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::optional<live_block> live_blocks::find(device_address address) noexcept {
  const std::lock_guard guard(mutex_);
  const auto found = blocks_.find(address);
  return found == blocks_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<live_block> live_blocks::take(device_address address) noexcept {
  const std::lock_guard guard(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return std::nullopt;
  const live_block taken = found->second;
  blocks_.erase(found);
  return taken;
}

std::optional<live_block> live_blocks::around(device_address address, device_address& begin) noexcept {
  const std::lock_guard guard(mutex_);
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return std::nullopt;
  const auto& [start, found] = *std::prev(after);
  if (address - start >= found.bytes) return std::nullopt;
  begin = start;
  return found;
}

void live_blocks::forget(const context_memory& owner) noexcept {
  const std::lock_guard guard(mutex_);
  std::erase_if(blocks_, [&owner](const auto& known) { return known.second.owner == &owner; });
}

}  // namespace arcalloc::preload
