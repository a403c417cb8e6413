// SPDX-License-Identifier: Apache-2.0
#include "graph_pins.hpp"

#include <algorithm>
#include <bit>

#include "recycled.hpp"

namespace arcalloc::detail {

bool graph_pins::try_reserve() noexcept {
  return reserve(spare_blocks_, &pinned_block::next_in_bucket, memory_) &&
         reserve(spare_pins_, &pin::next_of_graph, memory_);
}

pin_group* graph_pins::group_of(pool_group number) noexcept {
  for (pin_group* at = groups_; at != nullptr && number != pool_group::none; at = at->next) {
    if (at->number == number) return at;
  }
  pin_group* const fresh = take_spare(spare_groups_, &pin_group::next, memory_);
  if (fresh == nullptr) return nullptr;
  fresh->number = number;
  fresh->next = groups_;
  groups_ = fresh;
  return fresh;
}

graph* graph_pins::open(stream on, capture_policy policy, pool_group number) noexcept {
  graph* const fresh = spare_graphs_ != nullptr ? spare_graphs_ : make<graph>(memory_);
  if (fresh == nullptr) return nullptr;
  spare_graphs_ = fresh->in_all.next;
  *fresh = {};
  pin_group* const group = group_of(number);
  if (group == nullptr || !join(*fresh, on, true)) {
    fresh->in_all = {nullptr, spare_graphs_};
    spare_graphs_ = fresh;
    return nullptr;
  }
  ++group->graphs;
  fresh->group = group;
  fresh->began_on = on;
  fresh->policy = policy;
  fresh->open = true;
  all_.push_back(fresh);
  ++windows_;
  return fresh;
}

bool graph_pins::join(graph& window, stream on, bool in_window) noexcept {
  for (graph_stream* at = window.streams; at != nullptr; at = at->next) {
    if (at->on == on) return true;
  }
  graph_stream* const fresh = take_spare(spare_streams_, &graph_stream::next, memory_);
  if (fresh == nullptr) return false;
  *fresh = {on, in_window, window.streams};
  window.streams = fresh;
  return true;
}

void graph_pins::close(graph& window) noexcept {
  window.open = false;
  window.id = graph_id{++last_id_};
  if (--windows_ == 0) ++era_;
  ++graphs_;
  for (graph_stream** at = &window.streams; *at != nullptr;) {
    // It is launched on one stream, whatever the captured work was spread over.
    graph_stream& in = **at;
    in.joined = false;
    if (in.on == window.began_on) {
      at = &in.next;
    } else {
      *at = in.next;
      give_back(spare_streams_, &graph_stream::next, in);
    }
  }
  for (pin* at = window.pins; at != nullptr; at = at->next_of_graph) {
    if (at->block->freed_by == &window) at->block->freed_by = nullptr;
  }
}

bool graph_pins::is_in(const graph& window, stream on) noexcept {
  for (const graph_stream* at = window.streams; at != nullptr; at = at->next) {
    if (at->on == on && at->joined) return true;
  }
  return false;
}

graph* graph_pins::window_of(stream on) const noexcept {
  if (windows_ == 0) return nullptr;
  for (graph* at = all_.front(); at != nullptr; at = graph_list::next(at)) {
    if (at->open && is_in(*at, on)) return at;
  }
  return nullptr;
}

std::uint64_t graph_pins::uses_of(const graph& of) noexcept {
  std::uint64_t blocks = 0;
  std::uint64_t streams = 0;
  for (const pin* at = of.pins; at != nullptr; at = at->next_of_graph) ++blocks;
  for (const graph_stream* at = of.streams; at != nullptr; at = at->next) ++streams;
  return blocks * (streams + 1);
}

graph* graph_pins::find(graph_id id) const noexcept {
  for (graph* at = all_.front(); at != nullptr; at = graph_list::next(at)) {
    if (!at->open && at->id == id) return at;
  }
  return nullptr;
}

pinned_block*& graph_pins::bucket_of(const block_record& piece) noexcept {
  const std::uint64_t hash = reinterpret_cast<std::uint64_t>(&piece) * 0x9E3779B97F4A7C15U;
  return buckets_[(hash >> 32) % bucket_count];
}

pinned_block* graph_pins::find(const block_record& piece) noexcept {
  for (pinned_block* at = bucket_of(piece); at != nullptr; at = at->next_in_bucket) {
    if (at->piece == &piece) return at;
  }
  return nullptr;
}

void graph_pins::touch(graph& by, block_record& piece, std::uint64_t stamp) noexcept {
  pinned_block* block = piece.pinned() ? find(piece) : nullptr;
  if (block == nullptr) {
    block = take_spare(spare_blocks_, &pinned_block::next_in_bucket, memory_);
    ARCALLOC_ASSERT(block != nullptr);
    block->piece = &piece;
    block->on = piece.home->home->on;
    pinned_block*& bucket = bucket_of(piece);
    block->next_in_bucket = bucket;
    bucket = block;
    piece.requested_bytes |= pinned_flag;
  }
  for (const pin* at = block->pins; at != nullptr; at = at->next_of_block) {
    if (at->of == &by) return;
  }
  block->stamp = std::max(block->stamp, stamp);
  pin* const fresh = take_spare(spare_pins_, &pin::next_of_graph, memory_);
  ARCALLOC_ASSERT(fresh != nullptr);
  *fresh = {&by, block, by.pins, block->pins};
  by.pins = fresh;
  block->pins = fresh;
}

void graph_pins::cross(const block_record& piece) noexcept { find(piece)->crossed_in = era_; }

std::uint64_t graph_pins::class_of(const block_record& piece) noexcept {
  const std::uint64_t filed_under = piece.home->home->class_bytes;
  return filed_under != 0 ? filed_under : piece.home->block_bytes;
}

std::uint32_t graph_pins::list_of(std::uint64_t bytes) noexcept {
  const std::uint64_t steps = std::max<std::uint64_t>((bytes + class_step_min - 1) / class_step_min, 1);
  const auto doubling = static_cast<std::uint32_t>(std::bit_width(steps)) - 1;
  const std::uint64_t eighth = doubling >= 3 ? (steps >> (doubling - 3)) & 7 : (steps << (3 - doubling)) & 7;
  return std::min(doubling * 8 + static_cast<std::uint32_t>(eighth), pin_group::list_count - 1);
}

void graph_pins::file(pinned_block& block) noexcept {
  if (block.filed_in != nullptr || block.piece->requested_bytes != pinned_flag) return;
  pin_group* const group = block.pins->of->group;
  for (const pin* at = block.pins; at != nullptr; at = at->next_of_block) {
    if (at->of->group != group) return;  // graphs of two groups may run at once: nobody else gets it
  }
  block.filed_in = group;
  group->idle[list_of(block.piece->home->block_bytes)].push_front(&block);
}

void graph_pins::unfile(pinned_block& block) noexcept {
  if (block.filed_in == nullptr) return;
  block.filed_in->idle[list_of(block.piece->home->block_bytes)].remove(&block);
  block.filed_in = nullptr;
}

void graph_pins::rest(block_record& piece, const graph* in, std::uint64_t stamp) noexcept {
  pinned_block& block = *find(piece);
  piece.requested_bytes = pinned_flag;
  block.freed_by = in;
  if (in == nullptr || !is_in(*in, block.on)) block.stamp = stamp;
  idle_bytes_ += piece.home->block_bytes;
  ++idle_count_;
  file(block);
}

void graph_pins::count_out(pinned_block& block) noexcept {
  idle_bytes_ -= block.piece->home->block_bytes;
  --idle_count_;
  block.freed_by = nullptr;
}

block_record* graph_pins::take(pinned_block& block, const graph& window, stream on) noexcept {
  unfile(block);
  count_out(block);
  for (const pin* at = block.pins; at != nullptr; at = at->next_of_block) {
    // Another open window of the group used it on some stream of its own: it must not come back there on a third one.
    if (at->of != &window && at->of->open) block.crossed_in = era_;
  }
  if (block.on != on) block.stamp = 0;  // what it did elsewhere has finished
  block.on = on;
  return block.piece;
}

void graph_pins::unpin(pin& gone) noexcept {
  pinned_block& block = *gone.block;
  pin** at = &block.pins;
  while (*at != &gone) at = &(*at)->next_of_block;
  *at = gone.next_of_block;
  if (block.freed_by == gone.of) block.freed_by = nullptr;
  unfile(block);
  give_back(spare_pins_, &pin::next_of_graph, gone);
}

void graph_pins::drop(pinned_block& block) noexcept {
  block_record& piece = *block.piece;
  if (piece.requested_bytes == pinned_flag) count_out(block);
  piece.unmark(pinned_flag);
  pinned_block** at = &bucket_of(piece);
  while (*at != &block) at = &(*at)->next_in_bucket;
  *at = block.next_in_bucket;
  give_back(spare_blocks_, &pinned_block::next_in_bucket, block);
}

void graph_pins::retire(graph& gone) noexcept {
  while (graph_stream* const at = gone.streams) {
    gone.streams = at->next;
    give_back(spare_streams_, &graph_stream::next, *at);
  }
  if (gone.open) {
    if (--windows_ == 0) ++era_;
  } else {
    --graphs_;
  }
  pin_group& group = *gone.group;
  if (--group.graphs == 0) {
    pin_group** at = &groups_;
    while (*at != &group) at = &(*at)->next;
    *at = group.next;
    give_back(spare_groups_, &pin_group::next, group);
  }
  all_.remove(&gone);
  gone.in_all = {nullptr, spare_graphs_};
  spare_graphs_ = &gone;
}

bool graph_pins::is_used_on(stream on) const noexcept {
  bool used = false;
  for_each_stream([&](stream seen) { used = used || seen == on; });
  return used;
}

void graph_pins::rename(stream from, stream to) noexcept {
  for (graph* at = all_.front(); at != nullptr; at = graph_list::next(at)) {
    for (graph_stream* in = at->streams; in != nullptr; in = in->next) {
      if (in->on == from) in->on = to;
    }
  }
  for (pinned_block* block : buckets_) {
    for (; block != nullptr; block = block->next_in_bucket) {
      if (block->on == from) block->on = to;
    }
  }
}

}  // namespace arcalloc::detail
