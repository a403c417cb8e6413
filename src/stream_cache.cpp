// SPDX-License-Identifier: Apache-2.0
#include "stream_cache.hpp"

#include <utility>

#include "thread_record.hpp"

namespace arcalloc::detail {

namespace {

template <class Visit>
void for_each_run(segment& home, Visit visit) noexcept {
  for (std::uint32_t slot = 0; slot < segment_units;) {
    run& at = home.runs[slot];
    if (at.units == 0) {
      ++slot;
      continue;
    }
    slot += at.units;  // read before visit, which may take the run apart
    visit(at);
  }
}

/// Whether a run of the kind could be cut into the segment once its unused runs are taken apart.
bool has_room(segment& home, const run_kind& kind) noexcept {
  if (home.use != segment_use::shared) return false;
  std::uint64_t room = home.units_idle;
  for_each_run(home, [&](const run& at) {
    if (at.used == 0) room |= (~std::uint64_t{0} >> (segment_units - at.units)) << (&at - home.runs);
  });
  return find_span(room, kind.run_units) != segment_units;
}

}  // namespace

void stream_cache::delist(run& home) noexcept {
  bin& at = bins_[home.class_index];
  if (home.in_bin.previous != nullptr) {
    home.in_bin.previous->in_bin.next = home.in_bin.next;
  } else {
    at.front = home.in_bin.next != nullptr ? home.in_bin.next : &no_run;
  }
  if (home.in_bin.next != nullptr) home.in_bin.next->in_bin.previous = home.in_bin.previous;
  home.in_bin = {};
  home.listed = false;
}

bool stream_cache::rotate(bin& at, bool idle_segments_too) noexcept {
  // Full runs leave the bin; a free enlists them again. A run with live blocks goes before one without,
  // so that whole segments become idle.
  run* chosen = nullptr;
  for (run* candidate = at.front != &no_run ? at.front : nullptr; candidate != nullptr;) {
    run* const following = candidate->in_bin.next;
    if (candidate->idle == nullptr) {
      delist(*candidate);
    } else if (candidate->used != 0) {
      chosen = candidate;
      break;
    } else if (chosen == nullptr && (idle_segments_too || candidate->home->state == segment_state::used)) {
      chosen = candidate;
      if (candidate->count == 1) break;  // nor will any other of its class have an idle block beside a live one
    }
    candidate = following;
  }
  if (chosen == nullptr) return false;
  if (chosen != at.front) {
    delist(*chosen);
    enlist(*chosen);
  }
  return true;
}

bool stream_cache::carve(segment& home, const run_kind& kind, record_store& records) noexcept {
  const bool filed = home.state == segment_state::used;
  if (filed) used_.remove(home);
  run* const fresh = carve_run(home, kind, records);
  if (filed) used_.insert(home);
  if (fresh == nullptr) return false;
  blocks_ += fresh->count;
  enlist(*fresh);
  return true;
}

void stream_cache::dissolve_unused(segment& home, record_store& records) noexcept {
  const bool filed = home.state == segment_state::used;
  if (filed) used_.remove(home);
  for_each_run(home, [&](run& at) {
    if (at.used != 0) return;
    if (at.listed) delist(at);
    blocks_ -= at.count;
    dissolve_run(at, records);
  });
  if (filed) used_.insert(home);
}

bool stream_cache::refill(const run_kind& kind, record_store& records) noexcept {
  if (rotate(bins_[kind.class_index], false)) return true;
  if (segment* const home = used_.find(kind); home != nullptr && carve(*home, kind, records)) return true;
  return rotate(bins_[kind.class_index], true);
}

segment* stream_cache::find_unused_room(const run_kind& kind) noexcept {
  // A segment without an unused run is no candidate: refill has looked at what is idle in it. The smallest classes
  // first: together with what is idle around them their runs give more than they take.
  ++looks_;
  for (std::uint32_t index = 0; index < run_classes_max; ++index) {
    run* const front = bins_[index].front;
    for (run* at = front != &no_run ? front : nullptr; at != nullptr; at = at->in_bin.next) {
      segment& home = *at->home;
      if (at->used != 0 || home.state != segment_state::used) continue;
      if (std::exchange(home.looked_at, looks_) != looks_ && has_room(home, kind)) return &home;
    }
  }
  return nullptr;
}

bool stream_cache::rebuild(const run_kind& kind, record_store& records) noexcept {
  segment* home = find_unused_room(kind);
  if (home == nullptr) {
    home = idle_.front();
    while (home != nullptr && !has_room(*home, kind)) home = segments::next(home);
  }
  if (home == nullptr) return false;
  dissolve_unused(*home, records);
  return carve(*home, kind, records);
}

void stream_cache::take(segment& home) noexcept {
  home.cache = this;
  home.owner.store(owner_, std::memory_order_release);
  if (home.state == segment_state::idle) {
    // Kept in order of coldness: what comes from elsewhere may be colder than what is here.
    segment* warmer = idle_.back();
    while (warmer != nullptr && warmer->idle_stamp < home.idle_stamp) warmer = segments::previous(warmer);
    idle_.insert_after(warmer, &home);
    owner_->stats.idle_bytes += home.bytes;
  } else {
    used_.insert(home);
  }
  home.looked_at = 0;
  if (home.use == segment_use::divided) return divided_.take(home);
  for_each_run(home, [&](run& at) {
    blocks_ += at.count;
    if (at.idle != nullptr) enlist(at);
  });
}

void stream_cache::drop(segment& home) noexcept {
  if (home.use == segment_use::divided) {
    divided_.drop(home);
  } else {
    for_each_run(home, [&](run& at) {
      blocks_ -= at.count;
      if (at.listed) delist(at);
    });
  }
  if (home.state == segment_state::idle) {
    idle_.remove(&home);
    owner_->stats.idle_bytes -= home.bytes;
  } else {
    used_.remove(home);
  }
  home.cache = nullptr;
  home.owner.store(nullptr, std::memory_order_release);
}

void stream_cache::move_all(stream_cache& into) noexcept {
  while (segment* const home = used_.any()) {
    drop(*home);
    into.take(*home);
  }
  while (segment* const home = idle_.front()) {
    drop(*home);
    into.take(*home);
  }
}

void stream_cache::strip(segment& home, record_store& records) noexcept {
  ARCALLOC_ASSERT(home.state == segment_state::idle && home.used() == 0);
  if (home.use == segment_use::shared) dissolve_unused(home, records);
  drop(home);
  if (home.use == segment_use::divided) divided_.forget_blocks(home);
  home.state = segment_state::leaving;
}

segment* stream_cache::find_room(const run_kind& kind, bool idle_only) const noexcept {
  const auto serves = [&](segment& home) {
    if (home.use != segment_use::shared) return false;
    bool ready = has_room(home, kind);
    if (!ready) {
      for_each_run(home,
                   [&](const run& at) { ready = ready || (at.class_index == kind.class_index && at.idle != nullptr); });
    }
    return ready;
  };
  if (!idle_only) {
    if (segment* const home = used_.first_that(serves); home != nullptr) return home;
  }
  segment* home = idle_.front();
  while (home != nullptr && !serves(*home)) home = segments::next(home);
  return home;
}

bool stream_cache::has_idle(std::uint32_t class_index) const noexcept {
  for (const run* at = bins_[class_index].front; at != nullptr; at = at->in_bin.next) {
    if (at->idle != nullptr) return true;
  }
  return false;
}

}  // namespace arcalloc::detail
