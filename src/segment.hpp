// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>
#include <atomic>

#include "base.hpp"
#include "size_class.hpp"

namespace arcalloc::detail {

class arena;
class stream_cache;
struct block_record;
struct run;
struct segment;
struct thread_record;

/// Stand where a block has no run, a run no segment and no records: a stale handle, an idle unit, an empty bin. They
/// have no idle list, no owner and no address, and are never written; they save the hit path its tests for null.
extern run no_run;
extern segment no_segment;
extern block_record no_record;

/// The sign of requested_bytes: the block's free takes the slow way. Set with each flag below.
inline constexpr std::uint64_t slow_bit = std::uint64_t{1} << 63;

/// The block was used on a foreign stream.
inline constexpr std::uint64_t noted_flag = slow_bit | std::uint64_t{1} << 62;

/// The block belongs to a captured graph or an open capture window.
inline constexpr std::uint64_t pinned_flag = slow_bit | std::uint64_t{1} << 61;

/// The block was requested while a profile is recorded; until it is freed or the recording ends.
inline constexpr std::uint64_t profiled_flag = slow_bit | std::uint64_t{1} << 60;

/// What is known of one block, in host memory: device memory has no room for headers.
/// Live while requested() is not 0; neither live nor idle while it is 0 and a flag is set: pending where that is
/// noted_flag, else pinned. Two fit in a cache line.
struct block_record {
  run* home = &no_run;                ///< no_run once the run was dissolved: a stale handle sees it
  block_record* next_idle = nullptr;  ///< in the run's list of idle blocks
  std::uint64_t requested_bytes = 0;  ///< 0: idle; may carry the flags above
  std::byte* address = nullptr;

  [[nodiscard]] std::uint64_t requested() const noexcept { return requested_bytes & ~all_flags; }
  [[nodiscard]] bool noted() const noexcept { return has(noted_flag); }
  [[nodiscard]] bool pinned() const noexcept { return has(pinned_flag); }
  [[nodiscard]] bool profiled() const noexcept { return has(profiled_flag); }

  /// home, by a thread that does not know yet whose block it is: a handle that was freed already may be anybody's.
  [[nodiscard]] run& home_unguarded() noexcept { return *std::atomic_ref<run*>(home).load(std::memory_order_relaxed); }
  /// Makes the record an idle block's, or nobody's; home_unguarded() may be called meanwhile.
  void become(run& of, block_record* next, std::byte* at) noexcept {
    std::atomic_ref<run*>(home).store(&of, std::memory_order_relaxed);
    next_idle = next;
    requested_bytes = 0;
    address = at;
  }

  void unmark(std::uint64_t flag) noexcept {
    requested_bytes &= ~(flag & ~slow_bit);
    if ((requested_bytes & all_flags) == slow_bit) requested_bytes &= ~slow_bit;
  }

 private:
  static constexpr std::uint64_t all_flags = noted_flag | pinned_flag | profiled_flag;
  [[nodiscard]] bool has(std::uint64_t flag) const noexcept { return (requested_bytes & flag & ~slow_bit) != 0; }
};

/// A part of a segment that serves one class: `count` blocks side by side.
/// Equation: used + length of the idle list = count.
struct run {
  segment* home = &no_segment;
  block_record* idle = nullptr;  ///< last freed first
  std::uint64_t block_bytes = 0;
  std::uint64_t per_block = 0;  ///< 2^40 / block_bytes, rounded up: divides an offset without dividing
  std::byte* base = nullptr;
  block_record* records = &no_record;  ///< `count` of them; in shared segments one more, without an address
  list_links<run> in_bin{};
  std::uint32_t used = 0;
  std::uint32_t count = 0;
  std::uint32_t class_index = no_class;  ///< shared segments only
  std::uint8_t units = 0;                ///< 0: this slot holds no run
  bool listed = false;                   ///< in its class's bin; a part: in its list by size
};

/// A part of a divided segment: a block, or what is idle between blocks. As a run it has one block of its own size.
/// Idle where `used` is 0. Its record is its own, so that a handle goes on saying what it said.
struct part : run {
  part* before = nullptr;  ///< its neighbours in the segment
  part* after = nullptr;
  bool merged = false;  ///< into a neighbour; kept where a block began, to know a second free of that
  block_record record{};

  /// An idle part of so many bytes, in no list and without neighbours.
  void begin_at(segment& of, std::byte* at, std::uint64_t bytes) noexcept {
    static_cast<run&>(*this) = run{};
    home = &of;
    block_bytes = bytes;
    base = at;
    records = &record;
    count = 1;
    idle = &record;
    before = nullptr;
    after = nullptr;
    merged = false;
    record.become(*this, nullptr, at);
  }
};

enum class segment_use : std::uint8_t {
  shared,     ///< 64 units, cut into runs
  divided,    ///< cut into parts
  dedicated,  ///< one block
  bypass,     ///< one block, made while the cache was off: goes back to the driver when freed
};

/// True where it may hold several blocks.
[[nodiscard]] constexpr bool shares(segment_use use) noexcept {
  return use == segment_use::shared || use == segment_use::divided;
}

enum class segment_state : std::uint8_t {
  used,     ///< a block of it is live
  idle,     ///< wholly idle: its bytes are cached
  leaving,  ///< on its way to the driver, or stuck there
};

inline constexpr std::uint32_t segment_units = 64;
inline constexpr std::uint64_t segment_bytes_min = 2 * mebibyte;  ///< and of every shared one
inline constexpr std::uint64_t divided_bytes_max = 32 * mebibyte;
inline constexpr std::uint64_t run_unit_bytes = segment_bytes_min / segment_units;
inline constexpr std::uint64_t part_unit_bytes = divided_bytes_max / segment_units;

/// A smaller block than this share of a divided segment may not enter it, unless the segment is of the smallest
/// size: so a live block of b bytes keeps at most max(2 MiB, 8 b) from the driver.
inline constexpr std::uint64_t block_share_max = 8;

/// One range obtained from the driver. Shared ones, of 2 MiB, are cut into 64 units, and a run takes some of
/// them side by side. It owns its runs' slots; record arrays come from, and return to, record_store. Divided ones are
/// a row of parts, whose lengths add up to theirs; a unit there is no longer than any live block, so that at most one
/// begins in each.
///
/// Concurrency: guarded by whoever guards its stream cache (the owner thread's owner_lock, or the
/// pool's mutex); `owner` is atomic because a thread that frees must look whose it is before it can
/// lock. Fixed from creation: base, bytes, use; `on` while it is not wholly idle or its stream lives.
/// Equations: used() = blocks of its runs that are not idle; state idle <=> used() = 0 (unless leaving);
/// units_idle = units of no run, 0 where divided; idle_span = longest_span(units_idle).
struct segment {
  // Read and written on the hit path: one cache line, and the places of runs behind it.
  std::atomic<thread_record*> owner{nullptr};  ///< of its cache; null where it is in none
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t per_unit = 0;         ///< 2^40 / bytes of a unit
  std::int64_t used_beyond_one = -1;  ///< one less than used(), so that its sign says whether one is left
  stream_cache* cache = nullptr;
  stream on = default_stream;
  run* runs = nullptr;  ///< 64 slots, a run in that of its first unit; or the one; or the first part

  std::uint64_t units_idle = 0;      ///< one bit a unit
  std::uint32_t idle_span = 0;       ///< the most of them side by side
  std::uint64_t idle_stamp = 0;      ///< when it became idle: smaller is colder
  std::uint64_t class_bytes = 0;     ///< dedicated: the class it is filed under
  std::uint64_t oversize_bytes = 0;  ///< dedicated, live: what its request's own class would have left to others
  std::uint64_t looked_at = 0;       ///< the search of its cache that saw it last
  std::uint32_t made_for = 0;        ///< shared, divided: the class that asked for it
  segment_use use = segment_use::shared;
  segment_state state = segment_state::used;
  list_links<segment> in_cache{};   ///< the cache's used or idle segments
  list_links<segment> in_all{};     ///< every segment of the pool
  list_links<segment> in_class{};   ///< idle dedicated segments of one class hash
  run* run_of[segment_units] = {};  ///< the run of each unit, or the part whose block last began in it, or no_run

  [[nodiscard]] std::uint64_t offset_of(const void* address) const noexcept {
    return reinterpret_cast<std::uint64_t>(address) - reinterpret_cast<std::uint64_t>(base);
  }
  [[nodiscard]] bool contains(const void* address) const noexcept { return offset_of(address) < bytes; }
  [[nodiscard]] std::uint64_t used() const noexcept { return static_cast<std::uint64_t>(used_beyond_one + 1); }
};

/// What a run is made for. Worked out once a search: run_units divides.
struct run_kind {
  std::uint32_t class_index = 0;
  std::uint64_t block_bytes = 0;
  std::uint32_t run_units = 0;
};
[[nodiscard]] run_kind kind_of(std::uint32_t class_index, std::uint64_t block_bytes) noexcept;

/// True where the placement rule lets a block of this size into a divided segment of this size.
[[nodiscard]] inline bool may_enter(const segment& home, std::uint64_t block_bytes) noexcept {
  return home.bytes == segment_bytes_min || block_bytes * block_share_max >= home.bytes;
}

/// 2^40 / divisor, rounded up: (offset * reciprocal) >> 40 divides offsets below 16 MiB by multiples of
/// 512, which is what offsets into runs and units are.
[[nodiscard]] std::uint64_t reciprocal(std::uint64_t divisor) noexcept;

/// First unit of a span of `units` idle units, or segment_units where there is none.
[[nodiscard]] std::uint32_t find_span(std::uint64_t units_idle, std::uint32_t units) noexcept;

/// The most idle units side by side.
[[nodiscard]] std::uint32_t longest_span(std::uint64_t units_idle) noexcept;

/// Host memory for block records, recycled by array size. Guarded by the pool's mutex.
class record_store {
 public:
  explicit record_store(arena& memory) noexcept : memory_(memory) {}
  /// Room for `count` records and one behind them without an address; null when the host has none.
  [[nodiscard]] block_record* take(std::uint32_t count) noexcept;
  void give(block_record* records, std::uint32_t count) noexcept;

 private:
  static constexpr std::uint32_t sizes = 8;  // arrays of 1, 2, 4, ... 128 records, and one each

  arena& memory_;
  block_record* spare_[sizes] = {};  // chained through next_idle of the first record
};

/// Every block of the segment, used or not.
template <class Visit>
void for_each_block(segment& home, Visit visit) noexcept {
  if (home.use == segment_use::divided) {
    for (part* at = static_cast<part*>(home.runs); at != nullptr; at = at->after) visit(at->record);
    return;
  }
  const std::uint32_t slots = home.use == segment_use::shared ? segment_units : 1;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const run& at = home.runs[slot];
    if (home.use == segment_use::shared && at.units == 0) continue;
    for (std::uint32_t i = 0; i < at.count; ++i) visit(at.records[i]);
  }
}

/// Cuts a run of the kind into `home` at its first fitting span. Null when no span fits or the host
/// has no memory for records. The run is not listed in a bin yet, and none of its blocks is used.
[[nodiscard]] run* carve_run(segment& home, const run_kind& kind, record_store& records) noexcept;

/// Takes an unused, unlisted run apart: its units are idle again, its records are stale.
void dissolve_run(run& dead, record_store& records) noexcept;

/// (offset * reciprocal) >> this = offset / divisor.
inline constexpr std::uint32_t reciprocal_bits = 40;

/// Down to a multiple of 512: nothing starts anywhere else, and the reciprocals are right for such offsets only.
[[nodiscard]] inline const void* whole_step(const void* address) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): compared and subtracted, never followed; one instruction less this way
  return reinterpret_cast<const void*>(reinterpret_cast<std::uint64_t>(address) & ~(class_step_min - 1));
}

/// The only record of a shared or divided segment that can be that of a block which starts at `step`: whether it is,
/// its own address says. Requires: home.contains(step), and `step` is a whole_step.
[[nodiscard]] inline block_record& candidate_at(const segment& home, const void* step) noexcept {
  const run& of = *home.run_of[(home.offset_of(step) * home.per_unit) >> reciprocal_bits];
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(step) - reinterpret_cast<std::uint64_t>(of.base);
  // In the tail of a run this is the record behind the last; where there is no run it is no_record.
  return of.records[(offset * of.per_block) >> reciprocal_bits];
}

/// The record of the block that starts at `address`, live or idle; null when none starts there.
/// Requires: home.contains(address).
[[nodiscard]] block_record* record_at(const segment& home, const void* address) noexcept;

}  // namespace arcalloc::detail
