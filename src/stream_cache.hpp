// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "divided_space.hpp"
#include "room_index.hpp"

namespace arcalloc::detail {

struct thread_record;

/// Runs of one class on one stream that have an idle block, the one in use first. A run that fills up
/// stays at the front until somebody looks; that saves a branch on every hit.
struct bin {
  run* front = &no_run;
};

/// The shared and divided segments that one thread uses for one stream, and the idle blocks in them, by class or by
/// size.
///
/// Called by the hit path (front, take_piece, put_piece, wake, advance) and by the pool (refill, take, drop,
/// strip); calls segment only. A record's caches are guarded as the record is. What the hit path calls takes no
/// lock, and does no atomic read-modify-write, host allocation, driver call or event.
/// Equations: a run is listed in its bin if it has an idle block; `idle` holds exactly the segments
/// with no live block, warmest first; idle bytes are added up in the owner's stats.
/// It never calls the driver and never waits.
class stream_cache {
 public:
  stream_cache(thread_record& owner, stream on) noexcept : owner_(&owner), on_(on) {}
  /// One that never has anything.
  constexpr stream_cache() noexcept = default;

  [[nodiscard]] thread_record& owner() const noexcept { return *owner_; }
  [[nodiscard]] stream on() const noexcept { return on_; }

  /// The bin's front is the run that would serve the class now, if it has an idle block. `class_index` may be no_class.
  [[nodiscard]] bin& at(std::uint32_t class_index) noexcept { return bins_[class_index]; }
  [[nodiscard]] run& front(std::uint32_t class_index) const noexcept { return *bins_[class_index].front; }
  /// It has one, and would wake no segment.
  [[nodiscard]] bool ready(std::uint32_t class_index) const noexcept {
    return front(class_index).idle != nullptr && front(class_index).home->used_beyond_one >= 0;
  }

  /// The front of a bin is full, and leaves it where another run is behind it. That one, if it is what advance()
  /// would choose; else null.
  [[nodiscard]] static run* pass_over_front(bin& at) noexcept {
    run& full = *at.front;
    run* const next = full.in_bin.next;
    if (next == nullptr) return nullptr;
    full.in_bin.next = nullptr;
    full.listed = false;
    next->in_bin.previous = nullptr;
    at.front = next;
    const bool best = (next->used != 0 || next->count == 1) && next->home->used_beyond_one >= 0;
    return next->idle != nullptr && best ? next : nullptr;
  }

  /// Unlinks the first idle block of a run. Its segment has one more in use then.
  [[nodiscard]] static block_record& take_piece(run& from) noexcept {
    block_record& piece = *from.idle;
    from.idle = piece.next_idle;
    ++from.used;
    return piece;
  }

  /// Links a used block into its run again. Its segment had one more in use before. A run that is in no bin is for
  /// list_again then.
  static void put_piece(block_record& piece, run& of) noexcept {
    piece.requested_bytes = 0;
    piece.next_idle = of.idle;
    of.idle = &piece;
    --of.used;
  }

  /// A run of ours that has an idle block again, and is in no bin.
  void list_again(run& of) noexcept {
    if (of.home->use == segment_use::shared) {
      enlist(of);
    } else {
      divided_.rejoin(static_cast<part&>(of));
    }
  }
  /// The same where it is known to be of a shared segment.
  void enlist(run& home) noexcept {
    bin& at = bins_[home.class_index];
    home.in_bin = {nullptr, at.front != &no_run ? at.front : nullptr};
    if (home.in_bin.next != nullptr) home.in_bin.next->in_bin.previous = &home;
    at.front = &home;
    home.listed = true;
  }

  /// Hands out a block of a run that has one. The caller has added its bytes to the stats.
  [[nodiscard]] block_record& make_block(run& from, std::uint64_t requested_bytes) noexcept {
    block_record& piece = take_piece(from);
    piece.requested_bytes = requested_bytes;
    if (segment& home = *from.home; ++home.used_beyond_one == 0) wake(home);
    return piece;
  }

  /// Takes back a used block of one of its segments. The caller subtracts its bytes afterwards.
  void push(block_record& piece) noexcept {
    run& of = *piece.home;
    put_piece(piece, of);
    if (!of.listed) list_again(of);
    if (--of.home->used_beyond_one < 0) rest(*of.home);
  }

  /// The first block of an idle segment was handed out; the last one of a segment came back.
  void wake(segment& home) noexcept;
  void rest(segment& home) noexcept;

  /// Another run that is ready, in a partly used segment, comes to the front. True when the class is ready.
  [[nodiscard]] bool advance(std::uint32_t class_index) noexcept { return rotate(bins_[class_index], false); }

  /// A run that has a block for the request, as it is; or null. `passed_over`: the front is for later, since the hit
  /// path passed over a full one and this may be in an idle segment.
  [[nodiscard]] run* ready_run(const size_classes& classes, std::uint64_t bytes, std::uint32_t class_index,
                               bool passed_over) noexcept {
    if (classes.is_divided(bytes)) return cut(round_up(bytes, class_step_min));
    const bool front_will_do = !passed_over && front(class_index).idle != nullptr;
    return front_will_do || advance(class_index) ? &front(class_index) : nullptr;
  }

  /// Makes the class ready without asking anybody: another run in a partly used segment, else a new
  /// run where one has room, else a run in an idle segment. False when nothing here will do. Pool's mutex.
  [[nodiscard]] bool refill(const run_kind& kind, record_store& records) noexcept;

  /// The same where that did not help: unused runs of other classes make room in a partly used segment, else in an
  /// idle one. What these classes had ready is gone then, so this comes after what is ready here and among large
  /// blocks.
  [[nodiscard]] bool rebuild(const run_kind& kind, record_store& records) noexcept;

  /// An idle run of one block of exactly so many bytes, from a divided segment, or null; take_piece makes it a block.
  [[nodiscard]] run* cut(std::uint64_t bytes) noexcept { return divided_.cut(bytes); }
  /// True where the next cut has host memory for what it leaves. Pool's mutex.
  [[nodiscard]] bool try_reserve_cut(arena& memory) noexcept { return divided_.try_reserve(memory); }

  /// Makes a shared or divided segment ours, with the idle blocks in it. Pool's mutex.
  void take(segment& home) noexcept;
  /// The opposite: the segment belongs to no cache afterwards. Pool's mutex, owner claimed.
  void drop(segment& home) noexcept;
  /// drop, for an idle segment that goes to the driver: its runs are taken apart as well.
  void strip(segment& home, record_store& records) noexcept;

  /// All that is ours becomes another cache's. Pool's mutex, both owners claimed.
  void move_all(stream_cache& into) noexcept;

  /// The first of our segments that could serve the class, or null. Partly used ones first, if wanted.
  [[nodiscard]] segment* find_room(const run_kind& kind, bool idle_only) const noexcept;
  /// The same for a block that is cut from a divided one.
  [[nodiscard]] segment* find_room(std::uint64_t cut_bytes, bool idle_only) const noexcept {
    return divided_.find_room(cut_bytes, idle_only);
  }

  [[nodiscard]] segment* coldest_idle() const noexcept { return idle_.back(); }
  [[nodiscard]] segment* first_idle() const noexcept { return idle_.front(); }
  [[nodiscard]] static segment* next(const segment* home) noexcept { return segments::next(home); }
  [[nodiscard]] static segment* warmer(const segment* home) noexcept { return segments::previous(home); }
  [[nodiscard]] bool has_idle(std::uint32_t class_index) const noexcept;
  [[nodiscard]] const divided_space& divided() const noexcept { return divided_; }
  /// Blocks of all its runs and parts, used and idle.
  [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_ + divided_.count(); }

  list_links<stream_cache> in_owner{};
  stream_cache* next_in_bucket = nullptr;

 private:
  using segments = list<segment, &segment::in_cache>;

  void delist(run& home) noexcept;
  [[nodiscard]] bool rotate(bin& at, bool idle_segments_too) noexcept;
  [[nodiscard]] bool carve(segment& home, const run_kind& kind, record_store& records) noexcept;
  [[nodiscard]] segment* find_unused_room(const run_kind& kind) noexcept;
  void dissolve_unused(segment& home, record_store& records) noexcept;

  thread_record* owner_ = nullptr;
  stream on_ = default_stream;
  bin bins_[run_classes_max + 1];  ///< the last is no_class's
  std::uint64_t blocks_ = 0;
  room_index used_;
  segments idle_;
  divided_space divided_;
  std::uint64_t looks_ = 0;  ///< searches of used_ by way of the bins
};

}  // namespace arcalloc::detail
