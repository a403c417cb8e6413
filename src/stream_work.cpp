// SPDX-License-Identifier: Apache-2.0
#include "stream_work.hpp"

#include <algorithm>
#include <new>

namespace arcalloc::detail {

namespace {
// Stands for all that an ended stream ever did.
constexpr std::uint64_t whole_past = UINT64_MAX;
}  // namespace

stream_works::~stream_works() {
  for (stream_work* work : buckets_) {
    for (; work != nullptr; work = work->next) {
      for (std::uint32_t i = 0; i < work->point_count; ++i) device_.drop_event(work->points[i].point);
    }
  }
}

stream_work* stream_works::of(stream on) noexcept {
  const std::uint64_t hash = static_cast<std::uint64_t>(on) * 0x9E3779B97F4A7C15U;
  stream_work*& bucket = buckets_[(hash >> 32) % bucket_count];
  for (stream_work* at = bucket; at != nullptr; at = at->next) {
    if (at->on == on) return at;
  }
  void* const room = memory_.cut(sizeof(stream_work));
  if (room == nullptr) return nullptr;
  auto* const fresh = ::new (room) stream_work{};
  fresh->on = on;
  fresh->next = bucket;
  bucket = fresh;
  return fresh;
}

void stream_works::ask(stream_work& work) noexcept {
  std::uint32_t passed = 0;
  for (; passed < work.point_count; ++passed) {
    bool finished = false;
    if (device_.query_event(work.points[passed].point, finished) != status::ok || !finished) break;
    work.finished_stamp = std::max(work.finished_stamp, work.points[passed].stamp);
    device_.drop_event(work.points[passed].point);
  }
  std::copy(work.points + passed, work.points + work.point_count, work.points);
  work.point_count -= passed;
}

bool stream_works::finished(stream on, std::uint64_t stamp, std::uint64_t now) noexcept {
  if (device_.synchronous() || on == former_stream(0)) return true;
  stream_work* const work = of(on);
  if (work == nullptr) return false;
  if (is_former(on)) {
    // Whatever is filed under it later was used before the stream ended.
    if (work->waiters == 0 && !frozen_) ask(*work);
    return work->waiters == 0 && work->finished_stamp == whole_past;
  }
  if (work->finished_stamp >= stamp) return true;
  if (frozen_) return false;
  ask(*work);
  if (work->finished_stamp >= stamp) return true;
  const bool covered = work->point_count > 0 && work->points[work->point_count - 1].stamp >= stamp;
  if (covered || work->point_count == stream_work::points_max) return false;
  event point = event::none;
  if (device_.record_event(on, point) != status::ok) return false;
  ++events_recorded_;
  work->points[work->point_count++] = {point, now};
  ask(*work);
  return work->finished_stamp >= stamp;
}

bool stream_works::set_captured(stream on, bool captured) noexcept {
  stream_work* const work = of(on);
  if (work == nullptr) return false;
  if (work->captured != captured) captured ? ++captured_ : --captured_;
  work->captured = captured;
  return true;
}

bool stream_works::is_captured(stream on) noexcept {
  const stream_work* const work = captured_ == 0 ? nullptr : of(on);
  return work != nullptr && work->captured;
}

status stream_works::end(stream on, stream former) noexcept {
  stream_work* const before = of(on);
  stream_work* const after = of(former);
  if (before == nullptr || after == nullptr) return status::backend_failed;
  event point = event::none;
  const status recorded = device_.record_event(on, point);
  if (recorded != status::ok) return recorded;
  ++events_recorded_;
  for (std::uint32_t i = 0; i < before->point_count; ++i) device_.drop_event(before->points[i].point);
  before->point_count = 0;
  after->finished_stamp = 0;
  after->points[0] = {point, whole_past};
  after->point_count = 1;
  after->spare = false;
  return status::ok;
}

void stream_works::make_spare(stream former) noexcept {
  stream_work* const work = of(former);
  ARCALLOC_ASSERT(work != nullptr && work->finished_stamp == whole_past && work->waiters == 0);
  work->spare = true;
}

bool stream_works::is_spare(stream former) noexcept {
  const stream_work* const work = of(former);
  return work != nullptr && work->spare;
}

event stream_works::hold_point(stream former) noexcept {
  stream_work* const work = of(former);
  if (work == nullptr || work->point_count == 0) return event::none;
  ++work->waiters;
  return work->points[0].point;
}

void stream_works::let_go(stream former, bool passed) noexcept {
  stream_work* const work = of(former);
  ARCALLOC_ASSERT(work != nullptr && work->waiters > 0);
  if (passed) work->finished_stamp = whole_past;
  if (--work->waiters > 0 || work->finished_stamp != whole_past) return;
  device_.drop_event(work->points[0].point);
  work->point_count = 0;
}

void stream_works::learn_finished(stream on, std::uint64_t stamp) noexcept {
  stream_work* const work = of(on);
  if (work != nullptr) work->finished_stamp = std::max(work->finished_stamp, stamp);
}

}  // namespace arcalloc::detail
