// SPDX-License-Identifier: Apache-2.0
// Streams that go away. Their memory is filed under a former stream, an identity of ours that stands for
// one point in their work; when that has passed, under the one former stream whose work has all finished.
// There are never more of them than streams that ended with unfinished work at one time, plus one.
#include "pool.hpp"

namespace arcalloc::detail {

status pool::end_stream(stream on) noexcept {
  const lock guard(mutex_);
  const one_change call(*this);
  return end(on);
}

bool pool::is_on(stream on) const noexcept {
  for (const segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
    if (home->on == on) return true;
  }
  return pending_.is_used_on(on) || pins_.is_used_on(on);
}

status pool::end(stream on) noexcept {
  if (pins_.window_of(on) != nullptr) return status::invalid_argument;
  if (!is_on(on)) {
    recorder_.note(ARCALLOC_RECORDED_STREAM_END, on);
    return status::ok;
  }
  const claimed all(*this);
  stream former = former_stream(0);
  if (!source_.device().synchronous()) former = spare_former(all);
  stream_cache* const under = common_cache(former);
  if (under == nullptr) return status::backend_failed;
  if (former != former_stream(0)) {
    const status recorded = works_.end(on, former);
    if (recorded != status::ok) return recorded;
    if (former == former_stream(former_streams_ + 1)) ++former_streams_;
  }
  rehome(all, on, former, *under);
  recorder_.note(ARCALLOC_RECORDED_STREAM_END, on);
  if (capturing()) beyond_lease_ = true;
  if (!capturing()) level_leases(all);  // what was idle is idle, under another record
  return status::ok;
}

stream pool::spare_former(const claimed& all) noexcept {
  stream spare = former_stream(0);
  stream_cache* const finished = common_cache(former_stream(0));
  for (std::uint64_t number = 1; number <= former_streams_ && finished != nullptr; ++number) {
    const stream former = former_stream(number);
    if (!works_.is_spare(former)) {
      if (!works_.finished(former, 0, 0)) continue;
      rehome(all, former, former_stream(0), *finished);
      works_.make_spare(former);
    }
    spare = former;
  }
  return spare != former_stream(0) ? spare : former_stream(former_streams_ + 1);
}

void pool::rehome(const claimed&, stream from, stream to, stream_cache& under) noexcept {
  const auto empty = [&](thread_record& record) {
    if (stream_cache* const cache = record.find(from); cache != nullptr) cache->move_all(under);
  };
  empty(common_);
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) empty(*at);
  for (segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
    if (home->on == from) home->on = to;
  }
  pending_.rename(from, to);
  pins_.rename(from, to);
}

status pool::wait_for_former(lock& guard, stream former) noexcept {
  const event point = works_.hold_point(former);
  if (point == event::none) return status::ok;
  ++tally_.waits;
  const status waited = wait_unlocked(guard, point);
  works_.let_go(former, waited == status::ok);
  return waited;
}

}  // namespace arcalloc::detail
