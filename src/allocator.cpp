// SPDX-License-Identifier: Apache-2.0
// The front door. allocate and deallocate answer a hit right here, inside the calling thread's own
// stream cache; everything else goes to the pool, which looks again under its mutex.
#include <arcalloc/allocator.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "pool.hpp"

namespace arcalloc {

using detail::block_record;
using detail::free_order;
using detail::pool;
using detail::run;
using detail::segment;
using detail::stream_cache;
using detail::thread_record;

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
  out = ::new (self_room) allocator(shared);
  if (!warm.empty()) prewarm_as_said(*out, warm, settings);
  return status::ok;
}

void allocator::destroy(allocator* self) noexcept {
  if (self == nullptr) return;
  self->pool_->~pool();
  std::free(self->pool_);
  self->~allocator();
  std::free(self);
}

status allocator::allocate(std::size_t bytes, stream on, block& out) noexcept {
  out = block{};
  if (bytes == 0) return status::ok;
  thread_record* const self = detail::find_record(pool_->id());
  if (self != nullptr && bytes <= pool_->classes().shared_max() && self->gate.try_enter()) {
    const std::uint32_t class_index = pool_->classes().index_of(bytes);
    stream_cache* const cache = self->find(on);
    run* const from = cache != nullptr ? cache->ready(class_index) : nullptr;
    if (from != nullptr) [[likely]] {
      ++self->stats.requests;
      ++self->stats.stream_cache_hits;
      self->stats.add(bytes, from->block_bytes);
      block_record& piece = cache->pop(*from);
      piece.requested_bytes = bytes;
      self->gate.leave();
      out.address_ = piece.address;
      out.record_ = &piece;
      return status::ok;
    }
    self->gate.leave();
  }
  block_record* piece = nullptr;
  const status outcome = pool_->acquire(bytes, detail::identity_of(on), piece);
  if (outcome != status::ok) return outcome;
  out.address_ = piece->address;
  out.record_ = piece;
  return status::ok;
}

namespace {

/// The hit path of a free: only for a live block of the calling thread's own caches, with the right
/// address and, if given, the right size. Anything else is the pool's to judge, and so is a free that
/// would leave more idle than is leased: the bound holds at every instant, not only after the call.
[[nodiscard]] bool try_free(thread_record& self, block_record& piece, const free_order& order) {
  const run* const of = piece.home;
  const segment* const home = of != nullptr ? of->home : nullptr;
  stream_cache* const cache = home != nullptr ? home->cache.load(std::memory_order_relaxed) : nullptr;
  if (cache == nullptr || &cache->owner() != &self) return false;
  // Idle is 0, and a noted block has the flag above every size: one comparison for both.
  const std::uint64_t requested = piece.requested_bytes;
  if (piece.address != order.address || requested - 1 >= request_bytes_max) return false;
  if (order.bytes != nullptr && *order.bytes != requested) return false;
  if (order.on != nullptr && *order.on != home->on) return false;
  const bool empties = of->used == 1 && home->runs_used == 1;
  if (empties && self.stats.idle_bytes + home->bytes > self.lease_bytes) return false;
  ++self.stats.frees;
  cache->push(piece);
  self.stats.subtract(requested, of->block_bytes);
  return true;
}

status free_block(pool& shared, block_record* piece, const free_order& order) noexcept {
  thread_record* const self = detail::find_record(shared.id());
  if (self != nullptr && self->gate.try_enter()) {
    block_record* found = piece;
    if (found == nullptr) {
      const segment* const home = shared.table().find(order.address);
      const stream_cache* const cache = home != nullptr ? home->cache.load(std::memory_order_relaxed) : nullptr;
      if (cache != nullptr && &cache->owner() == self) found = detail::record_at(*home, order.address);
    }
    const bool done = found != nullptr && try_free(*self, *found, order);
    self->gate.leave();
    if (done) return status::ok;
  }
  return shared.recycle(piece, order);
}

}  // namespace

status allocator::deallocate(const block& piece) noexcept {
  if (piece.record_ == nullptr) return status::ok;
  return free_block(*pool_, piece.record_, {piece.address_, nullptr, nullptr});
}

status allocator::deallocate(const block& piece, stream on) noexcept {
  if (piece.record_ == nullptr) return status::ok;
  const stream identity = detail::identity_of(on);
  return free_block(*pool_, piece.record_, {piece.address_, nullptr, &identity});
}

status allocator::deallocate(void* address) noexcept {
  if (address == nullptr) return status::ok;
  return free_block(*pool_, nullptr, {address, nullptr, nullptr});
}

status allocator::deallocate(void* address, stream on) noexcept {
  if (address == nullptr) return status::ok;
  const stream identity = detail::identity_of(on);
  return free_block(*pool_, nullptr, {address, nullptr, &identity});
}

status allocator::deallocate(void* address, std::size_t bytes) noexcept {
  if (address == nullptr && bytes == 0) return status::ok;
  const std::uint64_t requested = bytes;
  return free_block(*pool_, nullptr, {address, &requested, nullptr});
}

status allocator::note_use(const block& piece, stream on) noexcept {
  return piece.record_ == nullptr ? status::ok
                                  : pool_->note_use(piece.record_, piece.address_, detail::identity_of(on));
}

status allocator::note_use(void* address, stream on) noexcept {
  return address == nullptr ? status::ok : pool_->note_use(nullptr, address, detail::identity_of(on));
}

status allocator::end_stream(stream on) noexcept {
  const stream identity = detail::identity_of(on);
  return detail::is_former(identity) ? status::invalid_argument : pool_->end_stream(identity);
}

status allocator::begin_capture(stream on, const capture_options& how) noexcept {
  return how.policy > capture_policy::refuse ? status::invalid_argument
                                             : pool_->begin_capture(detail::identity_of(on), how);
}
status allocator::join_capture(stream joining, stream capturing) noexcept {
  return pool_->join_capture(detail::identity_of(joining), detail::identity_of(capturing));
}
status allocator::end_capture(stream on, graph_id& graph) noexcept {
  return pool_->end_capture(detail::identity_of(on), graph);
}
status allocator::abort_capture(stream on) noexcept { return pool_->abort_capture(detail::identity_of(on)); }
status allocator::note_replay(graph_id graph, stream on) noexcept {
  return pool_->note_replay(graph, detail::identity_of(on));
}
status allocator::release_graph(graph_id graph) noexcept { return pool_->release_graph(graph); }
bool allocator::is_capturing(stream on) const noexcept { return pool_->is_capturing(detail::identity_of(on)); }
std::size_t allocator::read_capture_misses(capture_miss_record* out, std::size_t capacity) const noexcept {
  return pool_->read_capture_misses(out, capacity);
}

status allocator::begin_profile() noexcept { return pool_->begin_profile(); }
status allocator::end_profile(profile& out) noexcept { return pool_->end_profile(out); }
status allocator::prewarm(const profile& wanted, profile* missing) noexcept { return pool_->prewarm(wanted, missing); }
status allocator::verify(const profile& wanted, profile* missing) const noexcept {
  return pool_->verify(wanted, missing);
}

status allocator::begin_phase(phase next) noexcept {
  return next > phase::decode ? status::invalid_argument : pool_->begin_phase(next);
}
void allocator::end_step() noexcept { pool_->end_step(); }
status allocator::trim(std::uint64_t cached_bytes_target) noexcept { return pool_->trim(cached_bytes_target); }
status allocator::drain() noexcept { return pool_->drain(); }
status allocator::set_enabled(bool enabled) noexcept { return pool_->set_enabled(enabled); }
status allocator::set_cached_bytes_max(const cached_bound& bound) noexcept {
  return bound.mode > bound_mode::unbounded ? status::invalid_argument : pool_->set_cached_bytes_max(bound);
}
status allocator::set_capacity_bytes(std::uint64_t bytes) noexcept { return pool_->set_capacity_bytes(bytes); }
void allocator::read_counters(counters& out) const noexcept { pool_->read_counters(out); }
void allocator::read_step_counters(counters& out) const noexcept { pool_->read_step_counters(out); }
void allocator::reset_peaks() noexcept { pool_->reset_peaks(); }
cap_arithmetic allocator::read_cap() const noexcept { return pool_->read_cap(); }
failure_record allocator::last_failure() const noexcept { return pool_->last_failure(); }
phase allocator::current_phase() const noexcept { return pool_->current_phase(); }
backend& allocator::device() const noexcept { return pool_->device(); }
status allocator::locate(const void* address, segment_extent& out) const noexcept {
  return pool_->locate(address, out);
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
