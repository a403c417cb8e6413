// SPDX-License-Identifier: Apache-2.0
#include "block_table.hpp"

#include <sys/mman.h>

#include <bit>
#include <new>

namespace arcalloc::detail {

namespace {

constexpr std::uint64_t removed_key = 1;

std::uint64_t number(const void* address) noexcept { return reinterpret_cast<std::uint64_t>(address); }

}  // namespace

std::uint64_t block_table::slot_of(std::uint64_t key) noexcept {
  if (key % 2 != 0) return (key - unit_key(0)) / 2;
  const std::uint64_t hash = key * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32);
}

struct block_table::empty_table {
  table head{nullptr, 0, 0};
  segment_slot nobody{&no_segment};
  entry only{};
};
constinit block_table::empty_table block_table::nothing{};

block_table::block_table() noexcept : current_(&nothing.head) {}

block_table::~block_table() {
  table* const last = current_.load(std::memory_order_relaxed);
  if (last == &nothing.head) return;
  drop_outgrown();
  ::munmap(last, last->mapped_bytes);
}

void block_table::drop_outgrown() noexcept {
  table* const now = current_.load(std::memory_order_relaxed);
  for (table* dead = now->older; dead != nullptr && dead != &nothing.head;) {
    table* const older = dead->older;
    ::munmap(dead, dead->mapped_bytes);
    dead = older;
  }
  now->older = now == &nothing.head ? nullptr : &nothing.head;
}

template <class Visit>
void block_table::for_each_key(const segment& home, Visit visit) noexcept {
  const std::uint64_t begin = number(home.base);
  if (!shares(home.use)) {
    visit(begin);
    return;
  }
  const std::uint64_t last_unit = (begin + home.bytes - 1) >> unit_shift;
  for (std::uint64_t unit = begin >> unit_shift; unit <= last_unit; ++unit) visit(unit_key(unit));
}

bool block_table::grow(std::uint64_t entries_wanted) noexcept {
  const std::uint64_t slots = std::bit_ceil(entries_wanted * 4);
  const std::size_t bytes = sizeof(table) + slots * (sizeof(segment_slot) + sizeof(entry));
  void* const fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return false;
  table* const old = current_.load(std::memory_order_relaxed);
  table* const next = ::new (fresh) table{old, bytes, slots - 1};
  for (std::uint64_t i = 0; i < slots; ++i) {
    ::new (&next->homes()[i]) segment_slot{&no_segment};
    ::new (&next->entries()[i]) entry{};
  }
  filled_ = 0;
  live_ = 0;
  for (std::uint64_t i = 0; i <= old->mask; ++i) {
    const std::uint64_t key = old->entries()[i].key.load(std::memory_order_relaxed);
    if (key > removed_key) place(*next, key, *old->homes()[i].load(std::memory_order_relaxed));
  }
  current_.store(next, std::memory_order_release);
  return true;
}

bool block_table::try_reserve(std::uint64_t bytes) noexcept {
  const table* const now = current_.load(std::memory_order_relaxed);
  const std::uint64_t wanted = (bytes >> unit_shift) + 2;  // keys
  if ((filled_ + wanted) * 2 <= now->mask + 1) return true;
  constexpr std::uint64_t entries_min = 128;
  return grow(live_ + wanted + entries_min);
}

void block_table::place(table& in, std::uint64_t key, segment& placed) noexcept {
  for (std::uint64_t slot = slot_of(key) & in.mask;; slot = (slot + 1) & in.mask) {
    entry& at = in.entries()[slot];
    const std::uint64_t taken = at.key.load(std::memory_order_relaxed);
    if (taken > removed_key) continue;
    at.begin.store(number(placed.base), std::memory_order_relaxed);
    at.end.store(number(placed.base) + placed.bytes, std::memory_order_relaxed);
    in.homes()[slot].store(&placed, std::memory_order_release);  // first_for looks at no key
    at.key.store(key, std::memory_order_release);
    ++live_;
    if (taken == 0) ++filled_;
    return;
  }
}

void block_table::insert(segment& home) noexcept {
  table* const in = current_.load(std::memory_order_relaxed);
  for_each_key(home, [&](std::uint64_t key) { place(*in, key, home); });
}

void block_table::remove(segment& home) noexcept {
  table* const in = current_.load(std::memory_order_relaxed);
  for_each_key(home, [&](std::uint64_t key) {
    for (std::uint64_t slot = slot_of(key) & in->mask;; slot = (slot + 1) & in->mask) {
      entry& at = in->entries()[slot];
      const std::uint64_t taken = at.key.load(std::memory_order_relaxed);
      ARCALLOC_ASSERT(taken != 0);
      if (taken != key || in->homes()[slot].load(std::memory_order_relaxed) != &home) continue;
      at.key.store(removed_key, std::memory_order_relaxed);
      --live_;
      return;
    }
  });
}

segment* block_table::probe(const table& in, std::uint64_t key, std::uint64_t address) noexcept {
  for (std::uint64_t slot = slot_of(key) & in.mask;; slot = (slot + 1) & in.mask) {
    const entry& at = in.entries()[slot];
    const std::uint64_t taken = at.key.load(std::memory_order_acquire);
    if (taken == 0) return nullptr;
    // Two segments can share a 2 MiB unit where the driver aligns to less.
    if (taken == key && address >= at.begin.load(std::memory_order_relaxed) &&
        address < at.end.load(std::memory_order_relaxed)) {
      return in.homes()[slot].load(std::memory_order_relaxed);
    }
  }
}

segment* block_table::find(const void* address) const noexcept {
  const table* const in = current_.load(std::memory_order_acquire);
  const std::uint64_t at = number(address);
  if (segment* const shared = probe(*in, unit_key(at >> unit_shift), at); shared != nullptr) return shared;
  // Where a segment can begin; 0 is the key of a slot that was never used.
  return at % class_step_min == 0 && at != 0 ? probe(*in, at, at) : nullptr;
}

}  // namespace arcalloc::detail
