// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/capture.hpp>

#include "arena.hpp"
#include "segment.hpp"

namespace arcalloc::detail {

struct graph;
struct pin_group;
struct pinned_block;

/// One block of one graph: in the graph's chain and in the block's.
struct pin {
  graph* of = nullptr;
  pinned_block* block = nullptr;
  pin* next_of_graph = nullptr;
  pin* next_of_block = nullptr;
};

/// A block that graphs may touch: out with a caller, or idle and kept for them.
struct pinned_block {
  block_record* piece = nullptr;
  stream on = default_stream;  ///< whose it is: its segment's, unless a window of another stream took it from the group
  pin* pins = nullptr;
  pin_group* filed_in = nullptr;  ///< idle, and every pin is of a graph of this group
  /// The window that freed it, if that is still open: its work is not ordered before that of other streams there.
  const graph* freed_by = nullptr;
  std::uint64_t crossed_in = 0;  ///< the era in which another stream of a window used it
  std::uint64_t stamp = 0;       ///< work outside of captures, on `on`, has no later stamp
  pinned_block* next_in_bucket = nullptr;
  list_links<pinned_block> in_fit{};
};

/// A stream that a graph was captured or launched on.
struct graph_stream {
  stream on = default_stream;
  bool joined = false;  ///< in the open window
  graph_stream* next = nullptr;
};

/// A captured graph; while its window is open, the window.
struct graph {
  graph_id id = graph_id::none;
  pin_group* group = nullptr;
  stream began_on = default_stream;
  capture_policy policy = capture_policy::grow;
  bool open = false;
  graph_stream* streams = nullptr;  ///< where it began, joined and was launched
  pin* pins = nullptr;
  list_links<graph> in_all{};
};

/// Graphs that are never replayed at once, and their idle blocks by size: eight lists per doubling.
struct pin_group {
  static constexpr std::uint32_t list_count = 312;  // 512 bytes to 2^47, eight lists a doubling

  pool_group number = pool_group::none;
  std::uint64_t graphs = 0;
  list<pinned_block, &pinned_block::in_fit> idle[list_count];
  pin_group* next = nullptr;
};

/// Which blocks belong to which graphs, and which of them idle in which group. Bookkeeping alone.
///
/// Called by the pool in capture windows, at their ends, in frees of pinned blocks, and when a graph is
/// released; calls nothing but the arena. Guarded by the pool's mutex.
/// Equations: idle_bytes() = sum of the pinned blocks that are neither live nor pending; a block carries
/// pinned_flag if and only if it is here.
/// Cost: a hash look-up per touch; a take looks through one list of a group, and at the next that has any.
class graph_pins {
 public:
  explicit graph_pins(arena& memory) noexcept : memory_(memory) {}

  /// Host memory for one more touch. After true, the next touch succeeds.
  [[nodiscard]] bool try_reserve() noexcept;

  /// Opens a window; null when the host has no memory.
  [[nodiscard]] graph* open(stream on, capture_policy policy, pool_group group) noexcept;
  /// False when the host has no memory.
  [[nodiscard]] bool join(graph& window, stream on, bool in_window) noexcept;
  /// The window is a graph from now on.
  void close(graph& window) noexcept;

  /// The window that the stream is in, or null.
  [[nodiscard]] graph* window_of(stream on) const noexcept;
  /// The graph of this number, not a window; or null.
  [[nodiscard]] graph* find(graph_id id) const noexcept;
  /// Its blocks times the streams it ran on, and once more for the stream of each.
  [[nodiscard]] static std::uint64_t uses_of(const graph& of) noexcept;
  [[nodiscard]] std::uint32_t windows() const noexcept { return windows_; }
  [[nodiscard]] std::uint64_t graphs() const noexcept { return graphs_; }

  /// Pins the block for the graph, once; other work may have used it up to `stamp`. Requires: try_reserve().
  void touch(graph& by, block_record& piece, std::uint64_t stamp) noexcept;
  /// The stream that a block which carries pinned_flag belongs to.
  [[nodiscard]] stream stream_of(const block_record& piece) noexcept { return find(piece)->on; }
  /// Another stream than the block's own uses it in a window: it is not handed on while windows are open.
  void cross(const block_record& piece) noexcept;

  /// A pinned block is no longer out: it idles in its group. `in`: the window that freed it, or null. Unless its
  /// own stream is in that window, other work may have used it up to `stamp`.
  void rest(block_record& piece, const graph* in, std::uint64_t stamp) noexcept;

  /// An idle block for a request on `on` in the window: of the class exactly, whose blocks have `block_bytes` (more
  /// than the class where the device's granule is coarser), or the smallest from `least` to
  /// `most` bytes. `may_cross(stream, stamp)` says whether work on another stream is known to have finished.
  /// The block is not idle any more, and carries pinned_flag alone. Null where none will do.
  template <class MayCross>
  [[nodiscard]] block_record* take_exact(const graph& window, stream on, std::uint64_t class_bytes,
                                         std::uint64_t block_bytes, MayCross may_cross) noexcept;
  template <class MayCross>
  [[nodiscard]] block_record* take_fitting(const graph& window, stream on, std::uint64_t least, std::uint64_t most,
                                           MayCross may_cross) noexcept;

  /// Unpins everything of the graph and forgets it. `left(block, stream)` is called for each of its blocks, with the
  /// stream that it belonged to. Where no other
  /// graph pins it pinned_flag is gone, and a block that was idle carries nothing: neither idle nor live. One that
  /// another pins and that idles still is in its group again, unless `left` made something else of it.
  template <class Left>
  void forget(graph& gone, Left left) noexcept;

  /// True where a graph or a window has this stream.
  [[nodiscard]] bool is_used_on(stream on) const noexcept;
  /// What ran on `from` ran on `to`.
  void rename(stream from, stream to) noexcept;

  /// Calls `visit(stream)` for each stream that a graph ran on or a pinned block belongs to.
  template <class Visit>
  void for_each_stream(Visit visit) const noexcept;

  /// Calls `visit(stream, stamp)` for each idle block of the group.
  template <class Visit>
  void for_each_idle(pool_group group, Visit visit) const noexcept;

  [[nodiscard]] std::uint64_t idle_bytes() const noexcept { return idle_bytes_; }
  [[nodiscard]] std::uint64_t idle_count() const noexcept { return idle_count_; }

 private:
  static constexpr std::uint32_t bucket_count = 256;
  using fit = list<pinned_block, &pinned_block::in_fit>;
  using graph_list = list<graph, &graph::in_all>;

  [[nodiscard]] pinned_block*& bucket_of(const block_record& piece) noexcept;
  [[nodiscard]] pinned_block* find(const block_record& piece) noexcept;
  [[nodiscard]] pin_group* group_of(pool_group number) noexcept;
  [[nodiscard]] static std::uint64_t class_of(const block_record& piece) noexcept;
  [[nodiscard]] static std::uint32_t list_of(std::uint64_t bytes) noexcept;
  void file(pinned_block& block) noexcept;
  void unfile(pinned_block& block) noexcept;
  void drop(pinned_block& block) noexcept;
  void count_out(pinned_block& block) noexcept;
  [[nodiscard]] block_record* take(pinned_block& block, const graph& window, stream on) noexcept;
  void unpin(pin& gone) noexcept;
  void retire(graph& gone) noexcept;
  [[nodiscard]] static bool is_in(const graph& window, stream on) noexcept;
  template <class MayCross>
  [[nodiscard]] bool may_take(const pinned_block& block, const graph& window, stream on,
                              MayCross& may_cross) const noexcept;

  arena& memory_;
  pinned_block* buckets_[bucket_count] = {};
  pin_group* groups_ = nullptr;
  graph_list all_;
  pinned_block* spare_blocks_ = nullptr;  // chained through next_in_bucket
  pin* spare_pins_ = nullptr;             // through next_of_graph
  graph* spare_graphs_ = nullptr;         // through in_all.next
  graph_stream* spare_streams_ = nullptr;
  pin_group* spare_groups_ = nullptr;
  std::uint64_t last_id_ = 0;
  std::uint64_t graphs_ = 0;
  std::uint32_t windows_ = 0;
  std::uint64_t era_ = 1;  ///< from one moment without an open window to the next
  std::uint64_t idle_bytes_ = 0;
  std::uint64_t idle_count_ = 0;
};

template <class MayCross>
bool graph_pins::may_take(const pinned_block& block, const graph& window, stream on,
                          MayCross& may_cross) const noexcept {
  const stream own = block.on;
  if (block.crossed_in == era_ || (block.freed_by == &window && own != on)) return false;
  return own == on || block.stamp == 0 || may_cross(own, block.stamp);
}

template <class MayCross>
block_record* graph_pins::take_exact(const graph& window, stream on, std::uint64_t class_bytes,
                                     std::uint64_t block_bytes, MayCross may_cross) noexcept {
  for (pinned_block* at = window.group->idle[list_of(block_bytes)].front(); at != nullptr; at = fit::next(at)) {
    const bool fits = class_of(*at->piece) == class_bytes && at->piece->home->block_bytes >= class_bytes;
    if (fits && may_take(*at, window, on, may_cross)) return take(*at, window, on);
  }
  return nullptr;
}

template <class MayCross>
block_record* graph_pins::take_fitting(const graph& window, stream on, std::uint64_t least, std::uint64_t most,
                                       MayCross may_cross) noexcept {
  for (std::uint32_t index = list_of(least); index < pin_group::list_count; ++index) {
    pinned_block* best = nullptr;
    for (pinned_block* at = window.group->idle[index].front(); at != nullptr; at = fit::next(at)) {
      const std::uint64_t size = at->piece->home->block_bytes;
      if (size < least || size > most || (best != nullptr && best->piece->home->block_bytes <= size)) continue;
      if (may_take(*at, window, on, may_cross)) best = at;
    }
    if (best != nullptr) return take(*best, window, on);
  }
  return nullptr;
}

template <class Left>
void graph_pins::forget(graph& gone, Left left) noexcept {
  while (pin* const at = gone.pins) {
    gone.pins = at->next_of_graph;
    pinned_block& block = *at->block;
    block_record& piece = *block.piece;
    unpin(*at);
    const stream on = block.on;
    if (block.pins == nullptr) {
      drop(block);
      left(piece, on);
      continue;
    }
    const bool idle = piece.requested_bytes == pinned_flag;
    left(piece, on);
    if (idle && piece.requested_bytes != pinned_flag) count_out(block);
    file(block);  // what is left may be of one group now
  }
  retire(gone);
}

template <class Visit>
void graph_pins::for_each_stream(Visit visit) const noexcept {
  for (const graph* at = all_.front(); at != nullptr; at = graph_list::next(at)) {
    for (const graph_stream* ran = at->streams; ran != nullptr; ran = ran->next) visit(ran->on);
  }
  for (const pinned_block* block : buckets_) {
    for (; block != nullptr; block = block->next_in_bucket) visit(block->on);
  }
}

template <class Visit>
void graph_pins::for_each_idle(pool_group number, Visit visit) const noexcept {
  for (const pin_group* group = groups_; group != nullptr; group = group->next) {
    if (group->number != number) continue;
    for (const fit& row : group->idle) {
      for (const pinned_block* at = row.front(); at != nullptr; at = fit::next(at)) {
        visit(at->on, at->stamp);
      }
    }
  }
}

}  // namespace arcalloc::detail
