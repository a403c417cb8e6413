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

/// Fewer hits are smaller as events than with what a stretch has at its beginning.
constexpr std::uint32_t hits_as_noted_min = 8;

}  // namespace

std::uint64_t now_ns() noexcept {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);  // cannot fail with this clock
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

void recorder::start(const recording_sink& into, hit_writer takes_hits) noexcept {
  sink_ = into;
  takes_hits_ = takes_hits;
  on_ = true;
  outcome_ = status::ok;
  events_ = 0;
  lost_ = 0;
  flushed_ns_ = now_ns();
}

/// The base lies half the reach below the block, so that neighbours on both sides need no other.
void hit_page::begin_stretch(const void* address, stream where, std::uint64_t now) noexcept {
  constexpr std::uint64_t half = std::uint64_t{1} << (reach_bits - 1);
  if (distance_to(address) >> reach_bits != 0) {
    const auto at = reinterpret_cast<std::uint64_t>(address);
    base = at > half ? at - half : 0;
  }
  const bool tells_time = count >= time_due;
  if (tells_time) time_due = std::min(count + notes_per_time, capacity);
  order = now;
  on = where;
  stretches[stretch_count++] = {now, tells_time ? now_ns() : 0, where, base, count, allocates};
}

noted_hits hit_page::hits_of(std::uint32_t which) const noexcept {
  const stretch& of = stretches[which];
  const bool last = which + 1 == stretch_count;
  const std::uint32_t end = last ? count : stretches[which + 1].first_note;
  const std::uint32_t allocates_end = last ? allocates : stretches[which + 1].first_allocate;
  return {
      of.time_ns,          static_cast<std::uint64_t>(of.on), of.base, notes + of.first_note, bytes + of.first_allocate,
      end - of.first_note, allocates_end - of.first_allocate};
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

void recorder::count_given(std::uint64_t count) noexcept {
  (outcome_.load(std::memory_order_relaxed) == status::ok ? events_ : lost_)
      .fetch_add(count, std::memory_order_relaxed);
}

void recorder::give_to_sink(const recorded_event* events, std::uint64_t count) noexcept {
  if (outcome_.load(std::memory_order_relaxed) == status::ok) {
    outcome_ = static_cast<status>(sink_.write(sink_.context, events, count));
  }
  count_given(count);
}

void recorder::give_hits(const noted_hits& hits, std::uint64_t order) noexcept {
  if (takes_hits_ != nullptr && hits.count >= hits_as_noted_min) {
    if (outcome_.load(std::memory_order_relaxed) == status::ok) {
      outcome_ = static_cast<status>(takes_hits_(sink_.context, hits));
    }
    return count_given(hits.count);
  }
  constexpr std::uint32_t batch_max = 32;
  recorded_event batch[batch_max] = {};  // field by field below: a copy of what was just written in parts is slow
  std::uint32_t filled = 0;
  std::uint64_t time_ns = hits.time_ns;
  const std::uint32_t* bytes = hits.bytes;
  for (std::uint32_t i = 0; i < hits.count; ++i) {
    const bool is_free = (hits.notes[i] & 1) != 0;
    recorded_event& next = batch[filled];
    next.order = order;
    next.time_ns = std::exchange(time_ns, 0);
    next.id = hits.base + (std::uint64_t{hits.notes[i] >> 1} << hit_page::step_bits);
    next.bytes = is_free ? 0 : *bytes++;
    next.stream = hits.stream;
    next.kind = is_free ? ARCALLOC_RECORDED_FREE : ARCALLOC_RECORDED_ALLOCATE;
    if (++filled == batch_max) give_to_sink(batch, std::exchange(filled, 0));
  }
  if (filled != 0) give_to_sink(batch, filled);
}

void recorder::deliver(hit_page* hits, event_page* noted) noexcept {
  for (;;) {
    while (noted != nullptr && noted->delivered == noted->count) noted = noted->next;
    hit_page* first = nullptr;
    std::uint64_t least = UINT64_MAX;
    std::uint64_t least_of_others = UINT64_MAX;
    for (hit_page* page = hits; page != nullptr; page = page->next) {
      if (page->delivered == page->stretch_count) continue;
      const std::uint64_t order = page->stretches[page->delivered].order;
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
      const std::uint64_t most = std::min(least_of_others, next_noted - 1);
      for (; first->delivered < first->stretch_count; ++first->delivered) {
        const std::uint64_t order = first->stretches[first->delivered].order;
        if (order > most) break;
        give_hits(first->hits_of(first->delivered), order);
      }
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
