// SPDX-License-Identifier: Apache-2.0
#include "stream_work.hpp"

#include <algorithm>
#include <new>

namespace arcalloc::detail {

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
  if (device_.synchronous()) return true;
  stream_work* const work = of(on);
  if (work == nullptr) return false;
  if (work->finished_stamp >= stamp) return true;
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

void stream_works::learn_finished(stream on, std::uint64_t stamp) noexcept {
  stream_work* const work = of(on);
  if (work != nullptr) work->finished_stamp = std::max(work->finished_stamp, stamp);
}

}  // namespace arcalloc::detail
