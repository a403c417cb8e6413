// SPDX-License-Identifier: Apache-2.0
#include "trace/peers/pytorch_policy.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace arcalloc::trace {

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

constexpr std::uint64_t block_step_bytes = 512;
constexpr std::uint64_t small_bytes_max = mib;
constexpr std::uint64_t small_segment_bytes = 2 * mib;
constexpr std::uint64_t large_segment_bytes = 20 * mib;
constexpr std::uint64_t own_segment_bytes_min = 10 * mib;
constexpr std::uint64_t own_segment_step_bytes = 2 * mib;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) { return (bytes + step - 1) / step * step; }

bool leaves_enough_to_split(bool is_small, std::uint64_t rest_bytes) {
  return is_small ? rest_bytes >= block_step_bytes : rest_bytes > small_bytes_max;
}

}  // namespace

std::uint64_t pytorch_policy::rounded(std::uint64_t bytes) const noexcept {
  return std::max(round_up(bytes, block_step_bytes), block_step_bytes);
}

std::uint64_t pytorch_policy::segment_bytes(std::uint64_t rounded_bytes) noexcept {
  if (rounded_bytes <= small_bytes_max) return small_segment_bytes;
  if (rounded_bytes < own_segment_bytes_min) return large_segment_bytes;
  return round_up(rounded_bytes, own_segment_step_bytes);
}

std::optional<std::uint64_t> pytorch_policy::allocate(std::uint64_t bytes, std::uint64_t stream) {
  finish_pending();
  const std::uint64_t wanted = rounded(bytes);
  auto found = best_fit(wanted, stream);
  if (found == blocks_.end()) found = new_segment(wanted, stream);
  if (found == blocks_.end()) {
    free_idle_segments();
    found = new_segment(wanted, stream);
  }
  if (found == blocks_.end()) return std::nullopt;
  unlist_idle(found);
  if (leaves_enough_to_split(found->second.is_small, found->second.bytes - wanted)) split(found, wanted);
  found->second.state = block_state::out;
  bytes_.allocated += found->second.bytes;
  return found->first;
}

pytorch_policy::placed_blocks::iterator pytorch_policy::best_fit(std::uint64_t bytes, std::uint64_t stream) {
  const idle_blocks& idle = idle_[bytes <= small_bytes_max ? 0 : 1];
  const auto found = idle.lower_bound({stream, bytes, 0});
  return found == idle.end() || found->stream != stream ? blocks_.end() : blocks_.find(found->address);
}

/// One idle block that is all of it; the end where the driver refuses.
pytorch_policy::placed_blocks::iterator pytorch_policy::new_segment(std::uint64_t bytes, std::uint64_t stream) {
  const std::uint64_t size = segment_bytes(bytes);
  const std::optional<std::uint64_t> address = device_.allocate(size);
  if (!address) return blocks_.end();
  placed_block whole;
  whole.bytes = size;
  whole.segment = *address;
  whole.stream = stream;
  whole.is_small = bytes <= small_bytes_max;
  const auto made = blocks_.emplace(*address, std::move(whole)).first;
  list_idle(made);
  return made;
}

/// The block keeps its first `bytes`; the rest is idle.
void pytorch_policy::split(placed_blocks::iterator block, std::uint64_t bytes) {
  placed_block rest = block->second;
  rest.bytes -= bytes;
  block->second.bytes = bytes;
  list_idle(blocks_.emplace(block->first + bytes, std::move(rest)).first);
}

void pytorch_policy::note_use(std::uint64_t address, std::uint64_t stream) {
  placed_block& block = blocks_.at(address);
  if (stream != block.stream) block.used_on.insert(stream);
}

void pytorch_policy::deallocate(std::uint64_t address) {
  const auto freed = blocks_.find(address);
  bytes_.allocated -= freed->second.bytes;
  if (freed->second.used_on.empty()) return make_idle(freed);
  events_ += freed->second.used_on.size();
  freed->second.used_on.clear();
  freed->second.state = block_state::pending;
  bytes_.pending += freed->second.bytes;
  pending_.push_back(address);
}

void pytorch_policy::finish_pending() {
  for (const std::uint64_t address : std::exchange(pending_, {})) {
    const auto waited = blocks_.find(address);
    bytes_.pending -= waited->second.bytes;
    make_idle(waited);
  }
}

void pytorch_policy::make_idle(placed_blocks::iterator block) {
  const auto merges = [&](placed_blocks::iterator other) {
    return other != blocks_.end() && other->second.segment == block->second.segment &&
           other->second.state == block_state::idle;
  };
  if (const auto after = std::next(block); merges(after)) {
    unlist_idle(after);
    block->second.bytes += after->second.bytes;
    blocks_.erase(after);
  }
  if (block != blocks_.begin() && merges(std::prev(block))) {
    const auto before = std::prev(block);
    unlist_idle(before);
    before->second.bytes += block->second.bytes;
    blocks_.erase(block);
    block = before;
  }
  list_idle(block);
}

bool pytorch_policy::is_whole_segment(placed_blocks::const_iterator block) const {
  const auto after = std::next(block);
  return block->first == block->second.segment &&
         (after == blocks_.end() || after->second.segment != block->second.segment);
}

void pytorch_policy::list_idle(placed_blocks::iterator block) {
  placed_block& of = block->second;
  of.state = block_state::idle;
  idle_of(of).insert({of.stream, of.bytes, block->first});
  if (is_whole_segment(block)) bytes_.cached += of.bytes;
}

void pytorch_policy::unlist_idle(placed_blocks::iterator block) {
  const placed_block& of = block->second;
  idle_of(of).erase({of.stream, of.bytes, block->first});
  if (is_whole_segment(block)) bytes_.cached -= of.bytes;
}

void pytorch_policy::free_idle_segments() {
  finish_pending();
  for (idle_blocks& idle : idle_) {
    for (auto at = idle.begin(); at != idle.end();) {
      const auto block = blocks_.find((at++)->address);
      if (!is_whole_segment(block)) continue;
      const std::uint64_t lent = block->second.bytes;
      unlist_idle(block);
      blocks_.erase(block);
      device_.free(lent);
    }
  }
}

void pytorch_policy::drain() { free_idle_segments(); }

std::uint64_t pytorch_policy::largest_idle_bytes() const {
  std::uint64_t largest = 0;
  for (const idle_blocks& idle : idle_) {
    for (const idle_block& one : idle) largest = std::max(largest, one.bytes);
  }
  return largest;
}

}  // namespace arcalloc::trace
