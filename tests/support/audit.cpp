// SPDX-License-Identifier: Apache-2.0
#include "audit.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "pool.hpp"

namespace arcalloc::detail {

struct auditor {
  // record_store keeps arrays of up to 128.
  static constexpr std::size_t records_max = 128;

  const pool& subject;
  testing::audit_result found{};

  static const pool& pool_of(const allocator& front) { return *front.way_.shared; }

  template <class... Parts>
  void violation(const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    found.violations.push_back(text.str());
  }

  /// The most that one block which is not idle keeps from the driver.
  static std::uint64_t kept_at_most(segment_use use, std::uint64_t bytes) {
    if (use == segment_use::shared) return segment_bytes_min;
    return use == segment_use::divided ? std::min(block_share_max * bytes, divided_bytes_max) : bytes;
  }

  void live(const segment& home, const block_record& piece, std::uint64_t bytes) {
    ++found.blocks_live;
    found.live.push_back({piece.address, piece.requested()});
    found.requested_bytes += piece.requested();
    found.allocated_bytes += bytes;
    found.slack_bound_bytes += kept_at_most(home.use, bytes) - bytes;
    if (piece.requested() > bytes) violation("block of ", bytes, " bytes holds ", piece.requested());
  }

  void walk_run(const segment& home, const run& at) {
    if (at.count > records_max) return violation("a run has ", at.count, " blocks");
    std::array<bool, records_max> in_list{};
    for (const block_record* piece = at.idle; piece != nullptr; piece = piece->next_idle) {
      if (piece < at.records || piece >= at.records + at.count) return violation("an idle list leaves its run");
      bool& seen = in_list[static_cast<std::size_t>(piece - at.records)];
      if (seen) return violation("idle list of a run is circular");
      seen = true;
      if (piece->requested_bytes != 0) violation("a live block is in an idle list");
    }
    std::uint32_t used = 0;
    for (std::uint32_t i = 0; i < at.count; ++i) {
      const block_record& piece = at.records[i];
      if (piece.home != &at) violation("a record does not name its run");
      if (piece.address < home.base || piece.address + at.block_bytes > home.base + home.bytes) {
        violation("a block lies outside its segment");
      }
      if (reinterpret_cast<std::uintptr_t>(piece.address) % 512 != 0) violation("a block is not aligned to 512");
      // What is idle between blocks may never have been one.
      const bool was_block = home.use != segment_use::divided || piece.requested_bytes != 0;
      if (was_block && record_at(home, piece.address) != &piece) violation("record_at does not find a block");
      if (piece.requested() != 0) {
        ++used;
        live(home, piece, at.block_bytes);
      } else if (piece.noted()) {
        ++used;
        ++found.blocks_pending;
        found.pending_bytes += at.block_bytes;
        found.slack_bound_bytes += kept_at_most(home.use, at.block_bytes) - at.block_bytes;
      } else if (piece.pinned()) {
        ++used;
        found.pinned_bytes += at.block_bytes;
        found.slack_bound_bytes += kept_at_most(home.use, at.block_bytes) - at.block_bytes;
      } else {
        ++found.blocks_idle;
        if (home.use == segment_use::shared && !in_list[i]) violation("an idle block is in no list");
      }
    }
    if (used != at.used) violation("run says ", at.used, " used, walk says ", used);
    if (home.use == segment_use::shared && (at.idle != nullptr) && !at.listed)
      violation("run with idle blocks unlisted");
  }

  std::uint64_t walk_parts(const segment& home) {
    std::uint64_t used = 0;
    std::uint64_t length = 0;
    const part* before = nullptr;
    for (const auto* at = static_cast<const part*>(home.runs); at != nullptr; before = at, at = at->after) {
      if (at->home != &home || at->records != &at->record || at->before != before || at->merged) {
        violation("a part does not know where it is");
      }
      if (at->base != home.base + length) violation("a gap between two parts, or an overlap");
      if (before != nullptr && before->used == 0 && at->used == 0) violation("two neighbours are idle and not merged");
      if (at->used != 0 && at->block_bytes <= run_block_bytes_max) violation("a part is too small for a block");
      if (at->listed != (at->used == 0 && at->block_bytes > run_block_bytes_max)) violation("a part is listed wrongly");
      length += at->block_bytes;
      used += at->used;
      walk_run(home, *at);
    }
    if (length != home.bytes) violation("the parts of a segment do not add up");
    return used;
  }

  void walk(const segment& home) {
    ++found.segments;
    found.reserved_bytes += home.bytes;
    found.largest_segment_bytes = std::max(found.largest_segment_bytes, home.bytes);
    if (home.state == segment_state::leaving) {
      found.pending_bytes += home.bytes;  // on its way to the driver, unless walk_stuck finds it
      return;
    }
    const auto taken = [this] { return found.allocated_bytes + found.pending_bytes + found.pinned_bytes; };
    const std::uint64_t live_before = taken();
    std::uint64_t units = 0;
    std::uint64_t used = 0;
    const std::uint32_t slots = home.use == segment_use::shared    ? segment_units
                                : home.use == segment_use::divided ? 0
                                                                   : 1;
    if (home.use == segment_use::divided) used = walk_parts(home);
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      const run& at = home.runs[slot];
      if (home.use == segment_use::shared) {
        if (at.units == 0) continue;
        const std::uint64_t span = (~std::uint64_t{0} >> (segment_units - at.units)) << slot;
        if ((units & span) != 0) violation("two runs overlap");
        units |= span;
      }
      used += at.used;
      walk_run(home, at);
    }
    if (home.use == segment_use::shared && home.units_idle != ~units) violation("units_idle disagrees with the runs");
    if (home.use == segment_use::shared && home.idle_span != longest_span(home.units_idle))
      violation("idle_span disagrees with units_idle");
    if (used != home.used()) violation("segment says ", home.used(), " used, walk says ", used);
    if (subject.table_.find(home.base) != &home) violation("the block table does not find a segment");
    const std::uint64_t live_bytes = taken() - live_before;
    const bool idle = used == 0;
    if (home.oversize_bytes != 0 && (idle || home.use != segment_use::dedicated))
      violation("a segment of no live large block is oversize");
    if (home.oversize_bytes * 2 > home.bytes) violation("a large block is more than twice what its request needed");
    found.oversize_bytes += home.oversize_bytes;
    if (idle != (home.state == segment_state::idle)) violation("segment state disagrees with its blocks");
    (idle ? found.cached_bytes : found.slack_bytes) += home.bytes - live_bytes;
  }

  void walk_all() {
    std::map<const std::byte*, const std::byte*> ranges;
    for (const segment* home = subject.all_.front(); home != nullptr; home = pool::segments::next(home)) {
      ranges[home->base] = home->base + home->bytes;
      walk(*home);
    }
    if (found.oversize_bytes != subject.oversize_bytes_) violation("the bytes of oversize blocks do not add up");
    const std::byte* last = nullptr;
    for (const auto& [begin, end] : ranges) {
      if (begin < last) violation("two segments overlap");
      last = end;
    }
  }

  void note_windows() { found.capturing = subject.capturing(); }

  void walk_stuck() {
    for (const segment* home = subject.stuck_.front(); home != nullptr; home = pool::departures::next(home)) {
      if (home->state != segment_state::leaving) violation("a stuck segment is not on its way");
      found.stuck_bytes += home->bytes;
      found.pending_bytes -= home->bytes;
    }
  }

  void walk_caches(const thread_record& record) {
    std::uint64_t idle = 0;
    for (const stream_cache* at = record.caches.front(); at != nullptr; at = decltype(record.caches)::next(at)) {
      std::uint64_t newest = UINT64_MAX;
      for (const segment* home = at->first_idle(); home != nullptr; home = stream_cache::next(home)) {
        idle += home->bytes;
        if (home->idle_stamp > newest) violation("idle segments are not in order of coldness");
        newest = home->idle_stamp;
        if (home->cache != at || home->owner.load() != &record) violation("a segment does not name its cache");
      }
    }
    if (idle != record.stats.idle_bytes)
      violation("a record says ", record.stats.idle_bytes, " idle, walk says ", idle);
    if (idle > record.lease_bytes && !subject.capturing())
      violation("idle ", idle, " above its lease ", record.lease_bytes);
  }

  [[nodiscard]] testing::block_reading read_block(const void* address) const {
    const segment* const home = subject.table_.find(address);
    const block_record* const piece = home == nullptr ? nullptr : record_at(*home, address);
    if (piece == nullptr) return {};
    return {piece->requested(), piece->home->block_bytes, static_cast<std::uint64_t>(home->on)};
  }

  [[nodiscard]] std::uint64_t bookkeeping_bytes() const { return subject.memory_.mapped_bytes(); }

  void walk_records() {
    std::uint64_t leased = subject.common_.lease_bytes;
    for (const thread_record* at = subject.records_.front(); at != nullptr; at = pool::records_list::next(at)) {
      walk_caches(*at);
      leased += at->lease_bytes;
    }
    if (leased != subject.budget_.leased_bytes()) violation("the budget's leases do not add up");
    if (leased > subject.budget_.cached_max() && !subject.capturing())
      violation("leases ", leased, " above ", subject.budget_.cached_max());
  }
};

}  // namespace arcalloc::detail

namespace arcalloc::testing {

audit_result audit(const allocator& subject) {
  detail::auditor walker{detail::auditor::pool_of(subject)};
  walker.walk_all();
  walker.walk_stuck();
  walker.walk_records();
  walker.note_windows();
  std::sort(walker.found.live.begin(), walker.found.live.end());
  return walker.found;
}

block_reading read_block(const allocator& subject, const void* address) {
  return detail::auditor{detail::auditor::pool_of(subject)}.read_block(address);
}

std::uint64_t bookkeeping_bytes(const allocator& subject) {
  return detail::auditor{detail::auditor::pool_of(subject)}.bookkeeping_bytes();
}

std::vector<std::string> check_invariants(const allocator& subject) {
  counters said;
  subject.read_counters(said);
  std::vector<std::string> found = disagreements(audit(subject), said);
  if (said.reserved_bytes_peak > said.capacity_bytes) found.emplace_back("I2: reserved was above capacity");
  return found;
}

std::vector<std::string> disagreements(audit_result walk, const counters& said) {
  const auto equal = [&](const char* what, std::uint64_t counter, std::uint64_t walked) {
    if (counter == walked) return;
    walk.violations.push_back(std::string(what) + ": counter " + std::to_string(counter) + ", walk " +
                              std::to_string(walked));
  };
  equal("requested_bytes", said.requested_bytes, walk.requested_bytes);
  equal("allocated_bytes", said.allocated_bytes, walk.allocated_bytes);
  equal("cached_bytes", said.cached_bytes, walk.cached_bytes);
  equal("slack_bytes", said.slack_bytes, walk.slack_bytes);
  equal("stuck_bytes", said.stuck_bytes, walk.stuck_bytes);
  equal("reserved_bytes (I1)", said.reserved_bytes, walk.reserved_bytes);
  equal("pinned_bytes", said.pinned_bytes, walk.pinned_bytes);
  equal("pending_bytes", said.pending_bytes, walk.pending_bytes);
  equal("blocks_live", said.blocks_live, walk.blocks_live);
  equal("blocks_idle", said.blocks_idle, walk.blocks_idle);
  equal("segments_reserved (I3)", said.segments_reserved, walk.segments);
  equal("driver_allocs - driver_frees (I3)", said.driver_allocs - said.driver_frees, walk.segments);
  equal("requests (I3)", said.requests, said.hits + said.misses + said.bypassed + said.failed);
  if (said.cached_bytes > said.cached_bytes_max && !walk.capturing)
    walk.violations.push_back("I2: cached above cached max");
  if (said.reserved_bytes > said.capacity_bytes) walk.violations.push_back("I2: reserved above capacity");
  if (walk.slack_bytes > walk.slack_bound_bytes) walk.violations.push_back("slack above its structural bound");
  for (const auto& [value, peak] : {std::pair{said.requested_bytes, said.requested_bytes_peak},
                                    {said.allocated_bytes, said.allocated_bytes_peak},
                                    {said.cached_bytes, said.cached_bytes_peak},
                                    {said.slack_bytes, said.slack_bytes_peak},
                                    {said.held_bytes, said.held_bytes_peak},
                                    {said.reserved_bytes, said.reserved_bytes_peak}}) {
    if (value > peak) walk.violations.push_back("I7: a value is above its peak");
  }
  return walk.violations;
}

}  // namespace arcalloc::testing
