// SPDX-License-Identifier: Apache-2.0
// Capture windows: what opens, joins and closes one, what is pinned, and what waits for the last to close.
// While a window is open its streams' memory is all in the pool's own record, so every call on them
// comes here, and the hit path of everybody else knows nothing of it.
#include <utility>

#include "pool.hpp"

namespace arcalloc::detail {

void pool::gather(const claimed& all, stream on, stream_cache& into) noexcept {
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    if (stream_cache* const cache = at->find(on); cache != nullptr) cache->move_all(into);
  }
  // What was idle is idle, under another record. Leases cannot be obeyed while a window is open.
  if (capturing()) {
    beyond_lease_ = true;
  } else {
    level_leases(all);
  }
}

bool pool::enter_window(stream on) noexcept {
  stream_cache* const common = common_cache(on);
  if (common == nullptr || !works_.set_captured(on, true)) return false;
  const claimed all(*this);
  gather(all, on, *common);
  return true;
}

status pool::begin_capture(stream on, const capture_options& how) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  if (pins_.window_of(on) != nullptr) return status::invalid_argument;
  ++epoch_;  // what the window touches is later than any event so far
  if (!capturing()) reclaim(guard);
  if (pins_.window_of(on) != nullptr) return status::invalid_argument;  // another thread's, meanwhile
  if (!capturing()) {
    // What idles in the group may serve this window if its work outside of graphs has finished: asked while one may.
    const claimed all(*this);
    const std::uint64_t now = level_stamps(all);
    pins_.for_each_idle(how.group, [&](stream own, std::uint64_t stamp) {
      if (own != on) (void)works_.finished(own, stamp, now);
    });
  }
  const capture_policy policy = how.policy != capture_policy::as_configured ? how.policy : capture_miss_;
  if (!enter_window(on)) return status::backend_failed;
  if (pins_.open(on, policy, how.group) == nullptr) {
    (void)works_.set_captured(on, false);
    return status::backend_failed;
  }
  works_.set_frozen(true);
  recorded_event opened = recorder::of(ARCALLOC_RECORDED_CAPTURE_BEGIN, on);
  opened.detail = static_cast<std::uint8_t>(policy);
  opened.other = static_cast<std::uint64_t>(how.group);
  recorder_.note(opened);
  left_.notify_all();
  while (noted_miss* const old = capture_misses_) {
    capture_misses_ = old->next;
    detail::give_back(spare_misses_, &noted_miss::next, *old);
  }
  // Nobody begins a forbidden call from now on; those that are under way end first.
  forbidden_calls_over_.wait(guard, [this] { return forbidden_calls_ == 0; });
  return status::ok;
}

status pool::join_capture(stream joining, stream capturing) noexcept {
  const lock guard(mutex_);
  const one_change call(*this);
  graph* const window = pins_.window_of(capturing);
  if (window == nullptr) return status::invalid_argument;
  if (const graph* const other = pins_.window_of(joining); other != nullptr) {
    return other == window ? status::ok : status::invalid_argument;
  }
  if (!enter_window(joining)) return status::backend_failed;
  if (pins_.join(*window, joining, true)) {
    recorded_event joined = recorder::of(ARCALLOC_RECORDED_CAPTURE_JOIN, joining);
    joined.other = static_cast<std::uint64_t>(capturing);
    recorder_.note(joined);
    return status::ok;
  }
  (void)works_.set_captured(joining, false);
  return status::backend_failed;
}

void pool::leave_window(graph& window) noexcept {
  for (const graph_stream* at = window.streams; at != nullptr; at = at->next) {
    if (at->joined) (void)works_.set_captured(at->on, false);
  }
}

void pool::thaw(lock& guard) noexcept {
  if (capturing()) return;
  works_.set_frozen(false);
  do_what_was_put_off(guard);
}

status pool::end_capture(stream on, graph_id& out) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  out = graph_id::none;
  graph* const window = pins_.window_of(on);
  if (window == nullptr || window->began_on != on) return status::invalid_argument;
  leave_window(*window);
  pins_.close(*window);
  out = window->id;
  note_graph(ARCALLOC_RECORDED_CAPTURE_END, on, out);
  thaw(guard);
  return status::ok;
}

status pool::abort_capture(stream on) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  graph* const window = pins_.window_of(on);
  if (window == nullptr || window->began_on != on) return status::invalid_argument;
  leave_window(*window);
  recorder_.note(ARCALLOC_RECORDED_CAPTURE_ABORT, on);
  if (!pending_.try_reserve(pins_.uses_of(*window))) {
    // The window is over all the same; what it touched stays pinned, by a graph that nobody knows.
    pins_.close(*window);
    thaw(guard);
    return status::backend_failed;
  }
  departures leaving;
  unpin(*window, false, leaving);
  while (segment* const home = leaving.front()) {
    leaving.remove(home);
    put_off_.leaving.push_back(home);
  }
  thaw(guard);
  return status::ok;
}

status pool::note_replay(graph_id id, stream on) noexcept {
  const lock guard(mutex_);
  graph* const of = pins_.find(id);
  if (of == nullptr) return status::invalid_argument;
  if (!pins_.join(*of, on, false)) return status::backend_failed;
  note_graph(ARCALLOC_RECORDED_GRAPH_LAUNCH, on, id);
  return status::ok;
}

status pool::release_graph(graph_id id) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  graph* const gone = pins_.find(id);
  if (gone == nullptr) return status::invalid_argument;
  if (!pending_.try_reserve(pins_.uses_of(*gone))) return status::backend_failed;
  note_graph(ARCALLOC_RECORDED_GRAPH_FORGET, default_stream, id);
  departures leaving;
  unpin(*gone, true, leaving);
  if (beyond_lease_) obey_cached_max(guard);
  (void)send_off(guard, leaving, because::asked);  // as in recycle: the graph is gone, and a segment may be stuck
  return status::ok;
}

bool pool::is_capturing(stream on) noexcept {
  const lock guard(mutex_);
  return pins_.window_of(on) != nullptr;
}

void pool::touch(graph& window, block_record& piece, bool crosses) noexcept {
  pins_.touch(window, piece, epoch_);
  if (crosses) pins_.cross(piece);
}

void pool::unpin(graph& gone, bool replayed, departures& leaving) noexcept {
  const claimed all(*this);
  const bool has_work = !source_.device().synchronous();
  pins_.forget(gone, [&](block_record& piece, stream own) {
    // Also where another graph pins it still: this one's launches are not known afterwards.
    const bool idle = (piece.requested_bytes & ~pinned_flag) == 0;
    const stream home = piece.pinned() ? own : piece.home->home->on;
    const auto used_on = [&](stream on) {
      // Work on the block's own stream is ordered before its next use there.
      if (has_work && on != home) ARCALLOC_ASSERT(pending_.note(piece, on));
    };
    used_on(own);
    if (piece.profiled() && own != home) demand_.note_moved(piece.address, own);
    for (const graph_stream* ran = gone.streams; replayed && ran != nullptr; ran = ran->next) used_on(ran->on);
    if (!idle) return;  // comes back when it is freed, or when its uses have passed
    if (piece.noted()) {
      pending_.defer_late(piece);
    } else if (!piece.pinned()) {
      put_back(piece, nullptr, leaving);
    }
  });
}

block_record* pool::search_pins(graph& window, thread_record& self, const request& asked) noexcept {
  const auto may_cross = [this](stream own, std::uint64_t to) { return works_.finished(own, to, to); };
  const auto of_length = [&](std::uint64_t block_bytes) {
    return pins_.take_exact(window, asked.on, asked.class_bytes, block_bytes, may_cross);
  };
  block_record* piece = shares(asked.use) ? of_length(asked.class_bytes) : nullptr;
  // One that is large, or was made ready beforehand, has a segment to itself.
  if (piece == nullptr && asked.use != segment_use::shared) {
    piece = of_length(is_large(asked) ? asked.segment_bytes : source_.granules(asked.class_bytes));
  }
  if (piece == nullptr) return nullptr;
  piece->requested_bytes |= asked.bytes;
  self.stats.add(asked.bytes, piece->home->block_bytes);
  return piece;
}

block_record* pool::from_larger(graph& window, thread_record& self, const request& asked) noexcept {
  // Graphs of a group are never run at once, so what idles there serves any size, and what their stream has before
  // the device is asked: a prewarm of the largest is enough for them all. A graph by itself has nobody to share
  // with: a small output is not to keep a large scratch block for good.
  const bool grouped = window.group->number != pool_group::none;
  block_record* piece =
      pins_.take_fitting(window, asked.on, asked.bytes, grouped ? UINT64_MAX : 2 * asked.class_bytes,
                         [this](stream own, std::uint64_t to) { return works_.finished(own, to, to); });
  if (piece != nullptr) {
    piece->requested_bytes |= asked.bytes;
    self.stats.add(asked.bytes, piece->home->block_bytes);
    return piece;
  }
  segment* const larger = grouped ? dedicated_.find_fitting(asked.on, asked.bytes) : nullptr;
  return larger == nullptr ? nullptr : take_out(self, *larger, asked);
}

void pool::note_capture_miss(const request& asked) noexcept {
  ++tally_.capture_misses;
  for (noted_miss* at = capture_misses_; at != nullptr; at = at->next) {
    if (at->miss.class_bytes != asked.class_bytes || at->miss.on != asked.on) continue;
    ++at->miss.count;
    return;
  }
  noted_miss* const fresh = take_spare(spare_misses_, &noted_miss::next, memory_);
  if (fresh == nullptr) return;  // counted all the same
  fresh->miss = {asked.bytes, asked.class_bytes, asked.on, 1};
  fresh->next = capture_misses_;
  capture_misses_ = fresh;
}

std::size_t pool::read_capture_misses(capture_miss_record* out, std::size_t capacity) noexcept {
  const lock guard(mutex_);
  std::size_t count = 0;
  for (const noted_miss* at = capture_misses_; at != nullptr; at = at->next) ++count;
  std::size_t place = count;
  for (const noted_miss* at = capture_misses_; at != nullptr; at = at->next) {
    if (--place < capacity) out[place] = at->miss;
  }
  return count;
}

void pool::do_what_was_put_off(lock& guard) noexcept {
  put_off now = std::exchange(put_off_, {});
  if (pending_.first() != nullptr) reclaim(guard);  // what waited for a stream of the window alone
  if (now.measurement) measure(guard);
  if (now.drain) {
    (void)give_back(guard, 0, when_busy::wait);  // whoever asked was told ok; what fails is stuck, and counted
  } else if (now.trim_target != UINT64_MAX) {
    (void)give_back(guard, now.trim_target, when_busy::skip);
  }
  if (now.eviction || beyond_lease_) obey_cached_max(guard);
  (void)send_off(guard, now.leaving, because::asked);
}

}  // namespace arcalloc::detail
