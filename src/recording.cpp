// SPDX-License-Identifier: Apache-2.0
// Recording: begun, ended and written on the way. The sink is called by one thread at a time, outside the pool's
// mutex, so that only the thread that writes waits for it.
#include <utility>

#include "pool.hpp"
#include "trace_file.hpp"

namespace arcalloc::detail {

status pool::begin_recording(const recording_sink& into) noexcept {
  call_at_exit();
  const std::lock_guard writing(recorder_.writing);
  const lock guard(mutex_);
  if (recorder_.on() || into.write == nullptr) return status::invalid_argument;
  const claimed all(*this);
  recorder_.start(into, hit_writer_of(into));
  note_what_is_there(all);
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    if (at->in_use) at->gate.set_gate(owner_lock::gate_noted);
  }
  return status::ok;
}

status pool::end_recording() noexcept {
  const std::lock_guard writing(recorder_.writing);
  hit_page* hits = nullptr;
  event_page* noted = nullptr;
  {
    const lock guard(mutex_);
    if (!recorder_.on()) return status::invalid_argument;
    const claimed all(*this);
    for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
      at->gate.clear_gate(owner_lock::gate_noted);
    }
    hits = take_hits(all);
    noted = recorder_.take_noted();
    recorder_.stop();
  }
  recorder_.deliver(hits, noted);
  const status outcome = recorder_.close();
  const lock guard(mutex_);
  recorder_.give_pages(hits, noted);
  return outcome;
}

void pool::flush_recording() noexcept { write_noted(true); }

void pool::write_noted(bool flushes) noexcept {
  const std::lock_guard writing(recorder_.writing);
  hit_page* hits = nullptr;
  event_page* noted = nullptr;
  {
    const lock guard(mutex_);
    if (!recorder_.on()) return;
    const claimed all(*this);
    hits = take_hits(all);
    noted = recorder_.take_noted();
  }
  recorder_.deliver(hits, noted);
  if (flushes) recorder_.flush();
  const lock guard(mutex_);
  recorder_.give_pages(hits, noted);
}

recording_state pool::read_recording() noexcept {
  const lock guard(mutex_);
  return recorder_.state();
}

void pool::ready_page_of(thread_record& own) noexcept {
  if (own.page == nullptr) own.page = recorder_.take_hit_page();
  if (own.page != nullptr && own.page->is_full()) recorder_.set_due();
}

hit_page* pool::take_hits(const claimed&) noexcept {
  hit_page* hits = nullptr;
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    if (at->page == nullptr || at->page->count == 0) continue;
    hit_page* const page = std::exchange(at->page, recorder_.take_hit_page());
    page->next = hits;
    hits = page;
  }
  return hits;
}

void pool::note_what_is_there(const claimed&) noexcept {
  for (segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
    if (home->state == segment_state::leaving) continue;
    recorded_event there = recorder::of_block(ARCALLOC_RECORDED_SEGMENT_ALLOCATE, home->on, home->base, home->bytes);
    there.before = 1;
    recorder_.note(there);
  }
  for (segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
    if (home->state == segment_state::leaving) continue;
    for_each_block(*home, [this](block_record& piece) {
      if (piece.requested() == 0) return;
      recorded_event there =
          recorder::of_block(ARCALLOC_RECORDED_ALLOCATE, stream_of(piece), piece.address, piece.requested());
      there.before = 1;
      recorder_.note(there);
    });
  }
  if (phase_ != phase::mixed) note_phase(phase_);
}

void pool::note_refusal(std::uint64_t bytes, stream on, status outcome) noexcept {
  recorded_event refused = recorder::of(ARCALLOC_RECORDED_REFUSAL, on);
  refused.bytes = bytes;
  refused.detail = static_cast<std::uint8_t>(outcome);
  const bool known = outcome != status::request_too_large && failure_.driver_free_bytes != ARCALLOC_NO_BOUND;
  if (known) refused.other = failure_.driver_free_bytes;
  recorder_.note(refused);
}

void pool::note_phase(phase entered) noexcept {
  recorded_event what = recorder::of(ARCALLOC_RECORDED_PHASE);
  what.detail = static_cast<std::uint8_t>(entered);
  recorder_.note(what);
}

void pool::note_graph(arcalloc_recorded_kind kind, stream on, graph_id graph) noexcept {
  recorded_event what = recorder::of(kind, on);
  what.id = static_cast<std::uint64_t>(graph);
  recorder_.note(what);
}

}  // namespace arcalloc::detail
