// SPDX-License-Identifier: Apache-2.0
#include "segment.hpp"

#include <algorithm>
#include <bit>

#include "arena.hpp"

namespace arcalloc::detail {

constinit block_record no_record{};
constinit run no_run{};
constinit segment no_segment{};

namespace {

constexpr std::uint32_t run_units_many_blocks_max = 8;

std::uint32_t array_size_index(std::uint32_t count) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(count - 1));
}

std::uint32_t run_units_of(std::uint64_t block_bytes) noexcept {
  // The shortest run that wastes at most an eighth at its end; else the one that wastes least.
  std::uint32_t best = 0;
  std::uint64_t best_waste = 0;
  for (std::uint32_t units = 1; units <= run_units_many_blocks_max; ++units) {
    const std::uint64_t bytes = units * run_unit_bytes;
    if (bytes < block_bytes) continue;
    const std::uint64_t waste = bytes % block_bytes;
    if (waste * 8 <= bytes) return units;
    // waste / bytes, compared without dividing
    if (best == 0 || waste * best < best_waste * units) {
      best = units;
      best_waste = waste;
    }
  }
  return best != 0 ? best : static_cast<std::uint32_t>(round_up(block_bytes, run_unit_bytes) / run_unit_bytes);
}

}  // namespace

std::uint64_t reciprocal(std::uint64_t divisor) noexcept {
  return ((std::uint64_t{1} << reciprocal_bits) + divisor - 1) / divisor;
}

run_kind kind_of(std::uint32_t class_index, std::uint64_t block_bytes) noexcept {
  return {class_index, block_bytes, run_units_of(block_bytes)};
}

std::uint32_t find_span(std::uint64_t units_idle, std::uint32_t units) noexcept {
  if (units > segment_units) return segment_units;  // a block larger than the segment
  // Afterwards a bit is set where `units` set bits begin: halve the remaining length at each turn.
  std::uint64_t starts = units_idle;
  for (std::uint32_t have = 1; have < units && starts != 0;) {
    const std::uint32_t more = std::min(have, units - have);
    starts &= starts >> more;
    have += more;
  }
  return units == 0 || starts == 0 ? segment_units : static_cast<std::uint32_t>(std::countr_zero(starts));
}

std::uint32_t longest_span(std::uint64_t units_idle) noexcept {
  std::uint32_t span = 0;
  for (; units_idle != 0; ++span) units_idle &= units_idle << 1;
  return span;
}

block_record* record_store::take(std::uint32_t count) noexcept {
  const std::uint32_t index = array_size_index(count);
  ARCALLOC_ASSERT(index < sizes);
  block_record* const spare = spare_[index];
  if (spare == nullptr)
    return static_cast<block_record*>(memory_.cut(((std::size_t{1} << index) + 1) * sizeof(block_record)));
  spare_[index] = spare->next_idle;
  return spare;
}

void record_store::give(block_record* records, std::uint32_t count) noexcept {
  const std::uint32_t index = array_size_index(count);
  records[0].next_idle = spare_[index];
  spare_[index] = records;
}

run* carve_run(segment& home, const run_kind& kind, record_store& records) noexcept {
  const std::uint32_t units = kind.run_units;
  const std::uint32_t first = find_span(home.units_idle, units);
  if (first == segment_units) return nullptr;
  const std::uint64_t block_bytes = kind.block_bytes;
  const auto count = static_cast<std::uint32_t>(units * run_unit_bytes / block_bytes);
  block_record* const own = records.take(count);
  if (own == nullptr) return nullptr;

  run& fresh = home.runs[first];
  fresh.home = &home;
  fresh.block_bytes = block_bytes;
  fresh.per_block = reciprocal(block_bytes);
  fresh.base = home.base + first * run_unit_bytes;
  fresh.records = own;
  fresh.used = 0;
  fresh.count = count;
  fresh.class_index = kind.class_index;
  fresh.units = static_cast<std::uint8_t>(units);
  fresh.listed = false;
  fresh.idle = nullptr;
  for (std::uint32_t i = count; i-- > 0;) {  // so that the lowest address is handed out first
    own[i].become(fresh, fresh.idle, fresh.base + i * block_bytes);
    fresh.idle = &own[i];
  }
  home.units_idle &= ~((~std::uint64_t{0} >> (segment_units - units)) << first);
  home.idle_span = longest_span(home.units_idle);
  for (std::uint32_t unit = first; unit < first + units; ++unit) home.run_of[unit] = &fresh;
  return &fresh;
}

void dissolve_run(run& dead, record_store& records) noexcept {
  ARCALLOC_ASSERT(dead.used == 0 && !dead.listed && dead.units != 0);
  segment& home = *dead.home;
  const auto first = static_cast<std::uint32_t>(&dead - home.runs);
  for (std::uint32_t i = 0; i < dead.count; ++i) dead.records[i].become(no_run, nullptr, nullptr);
  records.give(dead.records, dead.count);
  home.units_idle |= (~std::uint64_t{0} >> (segment_units - dead.units)) << first;
  home.idle_span = longest_span(home.units_idle);
  std::fill_n(home.run_of + first, dead.units, &no_run);
  dead.units = 0;
  dead.idle = nullptr;
  dead.records = &no_record;
}

block_record* record_at(const segment& home, const void* address) noexcept {
  block_record& found = shares(home.use) ? candidate_at(home, whole_step(address)) : home.runs->records[0];
  return found.address == address ? &found : nullptr;
}

}  // namespace arcalloc::detail
