// SPDX-License-Identifier: Apache-2.0
// The front door in C++: what a caller says becomes identities and records, and goes to the hit path or the pool.
#include <algorithm>
#include <arcalloc/allocator.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "hit_path.hpp"
#include "trace_file.hpp"

namespace arcalloc {

using detail::any_bytes;
using detail::blocks_own_stream;
using detail::pool;

namespace {

/// The profile of the options. One that does not fit is no reason to have no allocator: it is said, line by line.
void prewarm_as_said(allocator& fresh, const profile& wanted, const options& settings) noexcept {
  profile missing;
  const status outcome = fresh.prewarm(wanted, &missing);
  if (outcome == status::ok || settings.sink.write == nullptr) return;
  for (const profile_entry& entry : missing.entries()) {
    char line[512];
    std::snprintf(line, sizeof line, "arcalloc: profile %.300s: %s: %llu blocks of %llu bytes on stream %llu are short",
                  settings.profile_path, status_name(outcome), static_cast<unsigned long long>(entry.blocks),
                  static_cast<unsigned long long>(entry.bytes), static_cast<unsigned long long>(entry.on));
    settings.sink.write(settings.sink.context, line);
  }
}

}  // namespace

const detail::door& detail::door_of(const allocator& of) noexcept { return of.way_; }

detail::block_record& allocator::record_of(const block& piece) noexcept {
  return *static_cast<detail::block_record*>(piece.record_);
}

status allocator::create(backend& device, const options& settings, allocator*& out) noexcept {
  out = nullptr;
  if (settings.classes > geometry::exact || settings.cached_bytes_max.mode > bound_mode::unbounded ||
      settings.capture_miss > capture_policy::refuse) {
    return status::invalid_argument;
  }
  profile warm;
  if (settings.profile_path != nullptr) {
    profile_error why;
    const status outcome = read_profile(settings.profile_path, warm, why);
    if (outcome != status::ok) {
      if (settings.sink.write != nullptr) settings.sink.write(settings.sink.context, why.text);
      return outcome;
    }
  }
  const std::size_t granule = device.granularity();
  if (granule == 0 || (granule & (granule - 1)) != 0 || granule > detail::segment_bytes_min) {
    return status::backend_failed;
  }
  void* const pool_room = std::aligned_alloc(alignof(pool), detail::round_up(sizeof(pool), alignof(pool)));
  void* const self_room = std::malloc(sizeof(allocator));
  if (pool_room == nullptr || self_room == nullptr) {
    std::free(pool_room);
    std::free(self_room);
    return status::backend_failed;
  }
  pool* const shared = ::new (pool_room) pool(device, settings);
  shared->open();
  out = ::new (self_room) allocator(detail::door{shared, shared->id()});
  if (settings.trace_path != nullptr) {
    const status recorded = out->record_to(settings.trace_path);
    if (recorded != status::ok) {
      destroy(out);
      out = nullptr;
      return recorded;
    }
  }
  if (!warm.empty()) prewarm_as_said(*out, warm, settings);
  return status::ok;
}

void allocator::destroy(allocator* self) noexcept {
  if (self == nullptr) return;
  self->way_.shared->~pool();
  std::free(self->way_.shared);
  self->~allocator();
  std::free(self);
}

status allocator::allocate(std::size_t bytes, stream on, block& out) noexcept {
  return detail::allocate(way_, bytes, on, out.address_, out.record_);
}

status allocator::deallocate(const block& piece) noexcept {
  if (piece.record_ == nullptr) return status::ok;
  return detail::free_by_handle(way_, record_of(piece), piece.address_, blocks_own_stream);
}

status allocator::deallocate(const block& piece, stream on) noexcept {
  if (piece.record_ == nullptr) return status::ok;
  return detail::free_by_handle(way_, record_of(piece), piece.address_, detail::identity_of(on));
}

status allocator::deallocate(void* address) noexcept {
  return detail::free_by_address(way_, address, any_bytes, blocks_own_stream);
}

status allocator::deallocate(void* address, stream on) noexcept {
  return detail::free_by_address(way_, address, any_bytes, detail::identity_of(on));
}

status allocator::deallocate(void* address, std::size_t bytes) noexcept {
  return detail::free_by_address(way_, address, std::min<std::uint64_t>(bytes, any_bytes - 1), blocks_own_stream);
}

status allocator::note_use(const block& piece, stream on) noexcept {
  return piece.record_ == nullptr ? status::ok
                                  : way_.shared->note_use(&record_of(piece), piece.address_, detail::identity_of(on));
}

status allocator::note_use(void* address, stream on) noexcept {
  return address == nullptr ? status::ok : way_.shared->note_use(nullptr, address, detail::identity_of(on));
}

status allocator::end_stream(stream on) noexcept {
  const stream identity = detail::identity_of(on);
  return detail::is_former(identity) ? status::invalid_argument : way_.shared->end_stream(identity);
}

status allocator::begin_capture(stream on, const capture_options& how) noexcept {
  return how.policy > capture_policy::refuse ? status::invalid_argument
                                             : way_.shared->begin_capture(detail::identity_of(on), how);
}
status allocator::join_capture(stream joining, stream capturing) noexcept {
  return way_.shared->join_capture(detail::identity_of(joining), detail::identity_of(capturing));
}
status allocator::end_capture(stream on, graph_id& graph) noexcept {
  return way_.shared->end_capture(detail::identity_of(on), graph);
}
status allocator::abort_capture(stream on) noexcept { return way_.shared->abort_capture(detail::identity_of(on)); }
status allocator::note_replay(graph_id graph, stream on) noexcept {
  return way_.shared->note_replay(graph, detail::identity_of(on));
}
status allocator::release_graph(graph_id graph) noexcept { return way_.shared->release_graph(graph); }
bool allocator::is_capturing(stream on) const noexcept { return way_.shared->is_capturing(detail::identity_of(on)); }
std::size_t allocator::read_capture_misses(capture_miss_record* out, std::size_t capacity) const noexcept {
  return way_.shared->read_capture_misses(out, capacity);
}

status allocator::begin_recording(const recording_sink& into) noexcept { return way_.shared->begin_recording(into); }
status allocator::record_to(const char* path) noexcept {
  if (path == nullptr || read_recording().recording != 0) return status::invalid_argument;
  detail::trace_file_error why;
  recording_sink into{};
  const status opened = detail::open_trace_file(path, into, why);
  if (opened != status::ok) {
    way_.shared->tell(why.text);
    return opened;
  }
  const status begun = begin_recording(into);
  if (begun != status::ok) (void)into.close(into.context);  // another thread's came first: the file stays empty
  return begun;
}
void allocator::flush_recording() noexcept { way_.shared->flush_recording(); }
status allocator::end_recording() noexcept { return way_.shared->end_recording(); }
recording_state allocator::read_recording() const noexcept { return way_.shared->read_recording(); }

status allocator::begin_profile() noexcept { return way_.shared->begin_profile(); }
status allocator::end_profile(profile& out) noexcept { return way_.shared->end_profile(out); }
status allocator::prewarm(const profile& wanted, profile* missing) noexcept {
  return way_.shared->prewarm(wanted, missing);
}
status allocator::verify(const profile& wanted, profile* missing) const noexcept {
  return way_.shared->verify(wanted, missing);
}

status allocator::begin_phase(phase next) noexcept {
  return next > phase::decode ? status::invalid_argument : way_.shared->begin_phase(next);
}
void allocator::end_step() noexcept { way_.shared->end_step(); }
status allocator::trim(std::uint64_t cached_bytes_target) noexcept { return way_.shared->trim(cached_bytes_target); }
status allocator::drain() noexcept { return way_.shared->drain(); }
status allocator::set_enabled(bool enabled) noexcept { return way_.shared->set_enabled(enabled); }
status allocator::set_cached_bytes_max(const cached_bound& bound) noexcept {
  return bound.mode > bound_mode::unbounded ? status::invalid_argument : way_.shared->set_cached_bytes_max(bound);
}
status allocator::set_capacity_bytes(std::uint64_t bytes) noexcept { return way_.shared->set_capacity_bytes(bytes); }
void allocator::read_counters(counters& out) const noexcept { way_.shared->read_counters(out); }
void allocator::read_step_counters(counters& out) const noexcept { way_.shared->read_step_counters(out); }
void allocator::reset_peaks() noexcept { way_.shared->reset_peaks(); }
cap_arithmetic allocator::read_cap() const noexcept { return way_.shared->read_cap(); }
failure_record allocator::last_failure() const noexcept { return way_.shared->last_failure(); }
phase allocator::current_phase() const noexcept { return way_.shared->current_phase(); }
backend& allocator::device() const noexcept { return way_.shared->device(); }
status allocator::locate(const void* address, segment_extent& out) const noexcept {
  return way_.shared->locate(address, out);
}

std::size_t format_failure(const failure_record& record, char* text, std::size_t capacity) noexcept {
  const int length = std::snprintf(
      text, capacity,
      "%s: requested %llu (class %llu) on stream %llu; allocated %llu pending %llu cached %llu slack %llu pinned %llu "
      "stuck %llu = reserved %llu; cached max %lld capacity %lld; driver free %lld; largest idle block %llu bytes",
      status_name(record.outcome), static_cast<unsigned long long>(record.requested_bytes),
      static_cast<unsigned long long>(record.class_bytes), static_cast<unsigned long long>(record.on),
      static_cast<unsigned long long>(record.allocated_bytes), static_cast<unsigned long long>(record.pending_bytes),
      static_cast<unsigned long long>(record.cached_bytes), static_cast<unsigned long long>(record.slack_bytes),
      static_cast<unsigned long long>(record.pinned_bytes), static_cast<unsigned long long>(record.stuck_bytes),
      static_cast<unsigned long long>(record.reserved_bytes), static_cast<long long>(record.cached_bytes_max),
      static_cast<long long>(record.capacity_bytes), static_cast<long long>(record.driver_free_bytes),
      static_cast<unsigned long long>(record.largest_idle_bytes));
  if (length < 0 || capacity == 0) return 0;
  return static_cast<std::size_t>(length) < capacity ? static_cast<std::size_t>(length) : capacity - 1;
}

}  // namespace arcalloc
