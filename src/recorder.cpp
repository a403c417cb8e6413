// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "recycled.hpp"

namespace arcalloc::detail {

namespace {

/// What a process that is killed may lose of an engine that makes few requests.
constexpr std::uint64_t a_while_ns = 250'000'000;

}  // namespace

std::uint64_t now_ns() noexcept {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);  // cannot fail with this clock
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

void recorder::start(const recording_sink& into) noexcept {
  sink_ = into;
  on_ = true;
  outcome_ = status::ok;
  events_ = 0;
  lost_ = 0;
  flushed_ns_ = now_ns();
}

void hit_page::mark(stream where, std::uint64_t now) noexcept {
  const bool tells_time = count >= time_due;
  if (order != now || tells_time) {
    notes[count++] = {(tells_time ? now_ns() << 2 : 0) | instant, now};
    order = now;
    if (tells_time) time_due = count + notes_per_time;
  }
  if (on != where) {
    notes[count++] = {place, static_cast<std::uint64_t>(where)};
    on = where;
  }
}

/// As take_spare, without a kilobyte written for each that is used again. Null when the host has no memory.
template <class Page>
Page* recorder::take_page(Page*& spare) noexcept {
  if (spare == nullptr) return make<Page>(memory_);
  Page* const page = spare;
  spare = page->next;
  page->clear();
  return page;
}

hit_page* recorder::take_hit_page() noexcept { return take_page(spare_hits_); }

void recorder::give_pages(hit_page* hits, event_page* noted) noexcept {
  while (hits != nullptr) give_back(spare_hits_, &hit_page::next, *std::exchange(hits, hits->next));
  while (noted != nullptr) give_back(spare_, &event_page::next, *std::exchange(noted, noted->next));
}

event_page* recorder::take_noted() noexcept {
  last_noted_ = nullptr;
  due_.store(false, std::memory_order_relaxed);
  return std::exchange(noted_, nullptr);
}

void recorder::set_due_after_a_while() noexcept {
  if (!on_ || last_noted_ == nullptr) return;
  const std::uint64_t now = last_noted_->events[last_noted_->count - 1].time_ns;
  if (now - flushed_ns_ < a_while_ns) return;
  flushed_ns_ = now;
  flush_due_.store(true, std::memory_order_relaxed);
  set_due();
}

void recorder::append(recorded_event what) noexcept {
  if (last_noted_ == nullptr || last_noted_->is_full()) {
    event_page* const fresh = take_page(spare_);
    if (fresh == nullptr) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    (last_noted_ != nullptr ? last_noted_->next : noted_) = fresh;
    last_noted_ = fresh;
  }
  what.order = order_.load(std::memory_order_relaxed) + 1;
  if (what.before == 0) what.time_ns = now_ns();
  last_noted_->events[last_noted_->count++] = what;
  order_.store(what.order, std::memory_order_relaxed);
  if (last_noted_->is_full()) set_due();
}

void recorder::give_to_sink(const recorded_event* events, std::uint64_t count) noexcept {
  if (outcome_.load(std::memory_order_relaxed) == status::ok) {
    outcome_ = static_cast<status>(sink_.write(sink_.context, events, count));
  }
  (outcome_.load(std::memory_order_relaxed) == status::ok ? events_ : lost_).fetch_add(count);
}

/// Hits from the page's next on, up to the first of a higher order than `most`.
void recorder::give_run(hit_page& from, std::uint64_t most) noexcept {
  constexpr std::uint32_t batch_max = 32;
  recorded_event batch[batch_max] = {};  // field by field below: a copy of what was just written in parts is slow
  std::uint32_t filled = 0;
  std::uint64_t order = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t on = static_cast<std::uint64_t>(from.delivered_on);
  std::uint32_t at = from.delivered;
  for (; at < from.count; ++at) {
    const hit_page::note& one = from.notes[at];
    const hit_page::sort sort = hit_page::sort_of(one);
    if (sort <= hit_page::free) [[likely]] {
      recorded_event& next = batch[filled];
      next.order = order;
      next.time_ns = std::exchange(time_ns, 0);
      next.id = one.what & ~std::uint64_t{3};
      next.bytes = one.value;
      next.stream = on;
      next.kind = static_cast<std::uint8_t>(sort);
      if (++filled == batch_max) give_to_sink(batch, std::exchange(filled, 0));
    } else if (sort == hit_page::place) {
      on = one.value;
    } else {
      if (one.value > most) break;
      order = one.value;
      time_ns = one.what >> 2;
    }
  }
  if (filled != 0) give_to_sink(batch, filled);
  from.delivered = at;
  from.delivered_on = stream{on};
}

void recorder::deliver(hit_page* hits, event_page* noted) noexcept {
  for (;;) {
    while (noted != nullptr && noted->delivered == noted->count) noted = noted->next;
    hit_page* first = nullptr;
    std::uint64_t least = UINT64_MAX;
    std::uint64_t least_of_others = UINT64_MAX;
    for (hit_page* page = hits; page != nullptr; page = page->next) {
      if (page->delivered == page->count) continue;
      const std::uint64_t order = page->next_order();
      if (order < least) {
        least_of_others = least;
        least = order;
        first = page;
      } else {
        least_of_others = std::min(least_of_others, order);
      }
    }
    if (first == nullptr && noted == nullptr) return;
    // A hit follows what was noted under its number, and comes before the next.
    const std::uint64_t next_noted = noted != nullptr ? noted->events[noted->delivered].order : UINT64_MAX;
    if (first != nullptr && least < next_noted) {
      give_run(*first, std::min(least_of_others, next_noted - 1));
      continue;
    }
    std::uint32_t end = noted->delivered + 1;
    while (end < noted->count && noted->events[end].order <= least) ++end;
    give_to_sink(noted->events + noted->delivered, end - noted->delivered);
    noted->delivered = end;
  }
}

void recorder::flush() noexcept {
  if (sink_.flush == nullptr || outcome_.load() != status::ok) return;
  outcome_ = static_cast<status>(sink_.flush(sink_.context));
}

status recorder::close() noexcept {
  if (sink_.close != nullptr) {
    const auto closed = static_cast<status>(sink_.close(sink_.context));
    if (outcome_.load() == status::ok) outcome_ = closed;
  }
  sink_ = {};
  return outcome_.load() == status::ok && lost_.load() != 0 ? status::backend_failed : outcome_.load();
}

recording_state recorder::state() const noexcept {
  recording_state now{};
  now.size = sizeof now;
  now.recording = on_ ? 1 : 0;
  now.events = events_.load();
  now.lost = lost_.load();
  now.outcome = static_cast<std::int32_t>(outcome_.load());
  return now;
}

}  // namespace arcalloc::detail
