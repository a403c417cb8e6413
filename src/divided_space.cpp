// SPDX-License-Identifier: Apache-2.0
#include "divided_space.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace arcalloc::detail {

namespace {

run*& begin_at(segment& home, const part& at) noexcept {
  return home.run_of[home.offset_of(at.base) / part_unit_bytes];
}

bool is_idle(const part* at) noexcept { return at != nullptr && at->used == 0; }

}  // namespace

std::uint32_t divided_space::list_of(std::uint64_t bytes) noexcept {
  constexpr std::uint32_t log2_least = std::bit_width(run_block_bytes_max) - 1;
  const auto doubling = static_cast<std::uint32_t>(std::bit_width(bytes)) - 1;
  const auto within = static_cast<std::uint32_t>(bytes >> (doubling - log2_lists)) & ((1U << log2_lists) - 1);
  return std::min(((doubling - log2_least) << log2_lists) + within, list_count - 1);
}

std::uint32_t divided_space::next_list(std::uint32_t from) const noexcept {
  for (std::uint32_t row = from / row_bits; row < std::size(filled_); ++row) {
    const std::uint64_t in =
        filled_[row] & (row == from / row_bits ? ~std::uint64_t{0} << from % row_bits : ~std::uint64_t{0});
    if (in != 0) return row * row_bits + static_cast<std::uint32_t>(std::countr_zero(in));
  }
  return list_count;
}

void divided_space::list(part& idle) noexcept {
  if (idle.block_bytes <= run_block_bytes_max) return;
  const std::uint32_t index = list_of(idle.block_bytes);
  run*& front = lists_[index];
  idle.in_bin = {nullptr, front};
  if (front != nullptr) front->in_bin.previous = &idle;
  front = &idle;
  idle.listed = true;
  filled_[index / row_bits] |= std::uint64_t{1} << index % row_bits;
}

void divided_space::unlist(part& idle) noexcept {
  if (!idle.listed) return;
  const std::uint32_t index = list_of(idle.block_bytes);
  (idle.in_bin.previous != nullptr ? idle.in_bin.previous->in_bin.next : lists_[index]) = idle.in_bin.next;
  if (idle.in_bin.next != nullptr) idle.in_bin.next->in_bin.previous = idle.in_bin.previous;
  idle.in_bin = {};
  idle.listed = false;
  if (lists_[index] == nullptr) filled_[index / row_bits] &= ~(std::uint64_t{1} << index % row_bits);
}

part* divided_space::find(std::uint64_t bytes, bool idle_only) const noexcept {
  run* of_idle = nullptr;  // the smallest in an idle segment
  for (std::uint32_t index = next_list(list_of(bytes)); index < list_count; index = next_list(index + 1)) {
    run* of_used = nullptr;
    for (run* at = lists_[index]; at != nullptr; at = at->in_bin.next) {
      const segment& home = *at->home;
      const bool idle = home.state == segment_state::idle;
      if (idle_only && !idle) continue;
      run*& best = idle ? of_idle : of_used;
      if (at->block_bytes < bytes || (best != nullptr && at->block_bytes >= best->block_bytes)) continue;
      if (may_enter(home, bytes)) best = at;
    }
    if (of_used != nullptr) return static_cast<part*>(of_used);
    if (idle_only && of_idle != nullptr) break;
  }
  return static_cast<part*>(of_idle);
}

segment* divided_space::find_room(std::uint64_t bytes, bool idle_only) const noexcept {
  const part* const at = find(bytes, idle_only);
  return at == nullptr ? nullptr : at->home;
}

void divided_space::make_spare(part& gone) noexcept {
  gone.record.become(no_run, nullptr, nullptr);
  give_back(spare_, &part::after, gone);
}

void divided_space::note_begin(part& block) noexcept {
  run*& slot = begin_at(*block.home, block);
  if (slot == &block) return;
  // What was merged there is forgotten: another block begins so near that nobody can mean the old one.
  run* const old = std::exchange(slot, &block);
  if (old == &no_run) return;
  if (auto& before = static_cast<part&>(*old); before.merged) make_spare(before);
}

part* divided_space::cut(std::uint64_t bytes) noexcept {
  part* const found = find(bytes, false);
  if (found == nullptr) return nullptr;
  const std::uint64_t rest = found->block_bytes - bytes;
  if (rest != 0 && spare_ == nullptr) return nullptr;
  unlist(*found);
  if (rest != 0) {
    part& behind = *spare_;
    spare_ = behind.after;
    behind.begin_at(*found->home, found->base + bytes, rest);
    behind.before = found;
    behind.after = found->after;
    if (found->after != nullptr) found->after->before = &behind;
    found->after = &behind;
    found->block_bytes = bytes;
    list(behind);
    ++count_;
  }
  note_begin(*found);
  return found;
}

void divided_space::absorb_next(part& into) noexcept {
  part& gone = *into.after;
  unlist(gone);
  into.block_bytes += gone.block_bytes;
  into.after = gone.after;
  if (gone.after != nullptr) gone.after->before = &into;
  gone.before = nullptr;
  gone.after = nullptr;
  gone.idle = nullptr;
  --count_;
  if (begin_at(*gone.home, gone) == &gone) {
    gone.merged = true;
    return;
  }
  make_spare(gone);
}

void divided_space::rejoin(part& back) noexcept {
  if (is_idle(back.after)) absorb_next(back);
  part* whole = &back;
  if (is_idle(back.before)) {
    whole = back.before;
    unlist(*whole);
    absorb_next(*whole);
  }
  list(*whole);
}

void divided_space::take(segment& home) noexcept {
  for (auto* at = static_cast<part*>(home.runs); at != nullptr; at = at->after) {
    ++count_;
    if (is_idle(at)) list(*at);
  }
}

void divided_space::drop(segment& home) noexcept {
  for (auto* at = static_cast<part*>(home.runs); at != nullptr; at = at->after) {
    --count_;
    unlist(*at);
  }
}

void divided_space::forget_blocks(segment& home) noexcept {
  auto& whole = *static_cast<part*>(home.runs);
  ARCALLOC_ASSERT(is_idle(&whole) && whole.block_bytes == home.bytes);
  for (run*& slot : home.run_of) {
    if (slot == &no_run) continue;
    auto& began = static_cast<part&>(*std::exchange(slot, &no_run));
    if (began.merged) make_spare(began);
  }
  whole.record.become(no_run, nullptr, nullptr);
}

}  // namespace arcalloc::detail
