// SPDX-License-Identifier: Apache-2.0
#include "block_table.hpp"

#include <sys/mman.h>

#include <bit>
#include <new>

namespace arcalloc::detail {

namespace {

constexpr std::uint64_t removed_key = 1;
constexpr std::uint32_t unit_shift = 21;  // 2 MiB: the smallest shared segment
constexpr std::uint32_t base_shift = 9;   // 512 bytes: the closest two bases can be

// Bit 0 is set in no key of these, so that 0 and 1 stay free; bit 1 tells the kinds apart.
std::uint64_t unit_key(std::uint64_t address) noexcept { return ((address >> unit_shift) << 2) | 2; }
std::uint64_t base_key(std::uint64_t address) noexcept { return ((address >> base_shift) + 1) << 2; }

std::uint64_t number(const void* address) noexcept { return reinterpret_cast<std::uint64_t>(address); }

std::uint64_t slot_of(std::uint64_t key) noexcept {
  std::uint64_t hash = key * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32);
}

std::uint64_t keys_of(std::uint64_t bytes) noexcept { return (bytes >> unit_shift) + 2; }

}  // namespace

block_table::~block_table() {
  for (table* dead = current_.load(std::memory_order_relaxed); dead != nullptr;) {
    table* const older = dead->older;
    ::munmap(dead, dead->mapped_bytes);
    dead = older;
  }
}

template <class Visit>
void block_table::for_each_key(const segment& home, Visit visit) noexcept {
  const std::uint64_t begin = number(home.base);
  if (home.use != segment_use::shared) {
    visit(base_key(begin));
    return;
  }
  const std::uint64_t last_unit = (begin + home.bytes - 1) >> unit_shift;
  for (std::uint64_t unit = begin >> unit_shift; unit <= last_unit; ++unit) visit(unit_key(unit << unit_shift));
}

bool block_table::grow(std::uint64_t entries_wanted) noexcept {
  const std::uint64_t slots = std::bit_ceil(entries_wanted * 4);
  const std::size_t bytes = sizeof(table) + slots * sizeof(entry);
  void* const fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return false;
  table* const old = current_.load(std::memory_order_relaxed);
  table* const next = ::new (fresh) table{old, bytes, slots - 1};
  filled_ = 0;
  live_ = 0;
  if (old != nullptr) {
    for (std::uint64_t i = 0; i <= old->mask; ++i) {
      const entry& from = old->at(i);
      const std::uint64_t key = from.key.load(std::memory_order_relaxed);
      if (key > removed_key) place(*next, key, *from.home.load(std::memory_order_relaxed));
    }
  }
  current_.store(next, std::memory_order_release);
  return true;
}

bool block_table::try_reserve(std::uint64_t bytes) noexcept {
  const table* const now = current_.load(std::memory_order_relaxed);
  const std::uint64_t wanted = keys_of(bytes);
  if (now != nullptr && (filled_ + wanted) * 2 <= now->mask + 1) return true;
  constexpr std::uint64_t entries_min = 128;
  return grow(live_ + wanted + entries_min);
}

void block_table::place(table& in, std::uint64_t key, segment& home) noexcept {
  for (std::uint64_t slot = slot_of(key);; ++slot) {
    entry& at = in.at(slot);
    const std::uint64_t taken = at.key.load(std::memory_order_relaxed);
    if (taken > removed_key) continue;
    at.begin.store(number(home.base), std::memory_order_relaxed);
    at.end.store(number(home.base) + home.bytes, std::memory_order_relaxed);
    at.home.store(&home, std::memory_order_relaxed);
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
    for (std::uint64_t slot = slot_of(key);; ++slot) {
      entry& at = in->at(slot);
      const std::uint64_t taken = at.key.load(std::memory_order_relaxed);
      ARCALLOC_ASSERT(taken != 0);
      if (taken != key || at.home.load(std::memory_order_relaxed) != &home) continue;
      at.key.store(removed_key, std::memory_order_relaxed);
      --live_;
      return;
    }
  });
}

segment* block_table::probe(const table& in, std::uint64_t key, std::uint64_t address) noexcept {
  for (std::uint64_t slot = slot_of(key);; ++slot) {
    const entry& at = in.at(slot);
    const std::uint64_t taken = at.key.load(std::memory_order_acquire);
    if (taken == 0) return nullptr;
    // Two segments can share a 2 MiB unit where the driver aligns to less.
    if (taken == key && address >= at.begin.load(std::memory_order_relaxed) &&
        address < at.end.load(std::memory_order_relaxed)) {
      return at.home.load(std::memory_order_relaxed);
    }
  }
}

segment* block_table::find(const void* address) const noexcept {
  const table* const in = current_.load(std::memory_order_acquire);
  if (in == nullptr) return nullptr;
  const std::uint64_t at = number(address);
  if (segment* const shared = probe(*in, unit_key(at), at); shared != nullptr) return shared;
  if (at % (std::uint64_t{1} << base_shift) != 0) return nullptr;
  return probe(*in, base_key(at), at);
}

}  // namespace arcalloc::detail
