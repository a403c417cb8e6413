// SPDX-License-Identifier: Apache-2.0
#include "segment_source.hpp"

#include <algorithm>
#include <new>

namespace arcalloc::detail {

std::uint64_t segment_source::granules(std::uint64_t bytes) const noexcept {
  return round_up(bytes, std::max<std::uint64_t>(device_.granularity(), class_step_min));
}

segment* segment_source::blank(segment_use use) noexcept {
  segment*& spare = spare_of(use);
  segment* home = spare;
  if (home != nullptr) {
    spare = home->in_all.next;
    home->in_all = {};
  } else {
    // Behind the segment its runs, or its first part, or its one run and that run's one record.
    const std::size_t behind = use == segment_use::shared    ? segment_units * sizeof(run)
                               : use == segment_use::divided ? sizeof(part)
                                                             : sizeof(run) + sizeof(block_record);
    auto* const room = static_cast<std::byte*>(memory_.cut(sizeof(segment) + behind));
    if (room == nullptr) return nullptr;
    home = ::new (room) segment{};
    std::byte* const first = room + sizeof(segment);
    if (use == segment_use::divided) {
      home->runs = ::new (first) part{};
    } else {
      home->runs = reinterpret_cast<run*>(first);
      const std::size_t slots = use == segment_use::shared ? segment_units : 1;
      for (std::size_t slot = 0; slot < slots; ++slot) ::new (&home->runs[slot]) run{};
      if (use != segment_use::shared) home->runs->records = ::new (first + sizeof(run)) block_record{};
    }
  }
  home->use = use;
  return home;
}

void segment_source::discard(segment& dead) noexcept {
  segment*& spare = spare_of(dead.use);
  if (!shares(dead.use)) dead.runs->records[0].become(no_run, nullptr, nullptr);
  dead.in_all = {nullptr, spare};
  spare = &dead;
}

status segment_source::lend(segment& home, std::uint64_t bytes, stream on, bool beside_capture) noexcept {
  void* address = nullptr;
  const status outcome =
      beside_capture ? device_.allocate_beside_capture(bytes, on, address) : device_.allocate(bytes, on, address);
  if (outcome != status::ok) return outcome;
  home.base = static_cast<std::byte*>(address);
  home.bytes = bytes;
  home.on = on;
  home.used_beyond_one = -1;
  home.state = segment_state::idle;
  home.idle_stamp = 0;
  if (shares(home.use)) {
    const bool divided = home.use == segment_use::divided;
    home.units_idle = divided ? 0 : ~std::uint64_t{0};
    home.idle_span = divided ? 0 : segment_units;
    home.per_unit = reciprocal(divided ? part_unit_bytes : run_unit_bytes);
    std::fill_n(home.run_of, segment_units, &no_run);
    if (divided) static_cast<part*>(home.runs)->begin_at(home, home.base, bytes);
    return status::ok;
  }
  run& only = *home.runs;
  block_record* const record = only.records;
  only = run{};
  only.home = &home;
  only.block_bytes = bytes;
  only.per_block = reciprocal(bytes);
  only.base = home.base;
  only.records = record;
  only.count = 1;
  record->become(only, nullptr, home.base);
  return status::ok;
}

status segment_source::take_back(segment& home) noexcept { return device_.free(home.base, home.bytes); }

}  // namespace arcalloc::detail
