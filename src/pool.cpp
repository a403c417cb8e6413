// SPDX-License-Identifier: Apache-2.0
#include "pool.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace arcalloc::detail {

claimed::claimed(pool& shared) noexcept : pool_(shared), own_(find_record(shared.id())) {
  bool any = false;
  for (thread_record* at = pool_.records_.front(); at != nullptr; at = pool::records_list::next(at)) {
    if (at == own_ || !at->in_use) continue;
    at->gate.close();
    any = true;
  }
  if (!any) return;
  all_pass_barrier(pool_.with_membarrier_);
  for (thread_record* at = pool_.records_.front(); at != nullptr; at = pool::records_list::next(at)) {
    if (at != own_ && at->in_use) at->gate.await_outside();
  }
}

claimed::~claimed() {
  for (thread_record* at = pool_.records_.front(); at != nullptr; at = pool::records_list::next(at)) {
    if (at != own_ && at->in_use) at->gate.open();
  }
}

driver_call::driver_call(pool& shared, pool::lock& guard) noexcept : pool_(shared), guard_(guard) {
  ++pool_.forbidden_calls_;
  guard_.unlock();
}

driver_call::~driver_call() {
  guard_.lock();
  if (--pool_.forbidden_calls_ == 0 && pool_.capturing()) pool_.forbidden_calls_over_.notify_all();
}

one_change::one_change(pool& shared) noexcept : pool_(shared) {
  if (!pool_.one_thread()) return;
  const claimed all(pool_);
  pool_.sample(all);
}

one_change::~one_change() {
  if (!pool_.one_thread()) return;
  const claimed all(pool_);
  pool_.restart_marks(all);
}

pool::pool(backend& device, const options& settings) noexcept
    : classes_(settings.classes),
      source_(device, memory_),
      records_of_blocks_(memory_),
      dedicated_(memory_),
      works_(device, memory_),
      pending_(device, memory_, works_),
      pins_(memory_),
      demand_(memory_),
      recorder_(memory_),
      bound_(settings.cached_bytes_max),
      enabled_(settings.enabled),
      cache_in_prefill_(settings.cache_in_prefill),
      oom_retry_(settings.oom_retry),
      capture_miss_(settings.capture_miss),
      stats_every_steps_(settings.stats_every_steps),
      sink_(settings.sink),
      with_membarrier_(membarrier_works()) {
  const std::uint64_t capacity = settings.capacity_bytes == 0 ? ARCALLOC_NO_BOUND : settings.capacity_bytes;
  ARCALLOC_ASSERT(budget_.try_set_capacity(capacity));
  retire = retire_record;
  at_exit = [](record_home& self) noexcept { (void)static_cast<pool&>(self).end_recording(); };
}

void pool::open() noexcept {
  register_home(*this);
  lock guard(mutex_);
  bypass_ = enter_phase(phase_, phase_, {enabled_, cache_in_prefill_}).bypass;
  apply_bypass();
  set_bound(guard);
  const claimed all(*this);
  read(all, step_start_);
  report_start_ = step_start_;
}

pool::~pool() {
  unregister_home(*this);
  (void)end_recording();
  // The allocator is gone, so no other thread is in here: what the driver lent goes back, live or not.
  // A driver that refuses now is unloading, and has the memory already.
  if (!source_.device().synchronous()) {
    lock guard(mutex_);
    pending_.wait_for_all();
    for (std::uint64_t number = 1; number <= former_streams_; ++number) {
      (void)wait_for_work(guard, former_stream(number));
    }
    for (const segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
      (void)wait_for_work(guard, home->on);
    }
    const std::uint64_t until = epoch_;
    pins_.for_each_stream([&](stream ran) {
      if (!works_.is_captured(ran) && !works_.finished(ran, until, until)) (void)wait_for_work(guard, ran);
    });
  }
  while (!all_.empty()) {
    segment* const home = all_.front();
    all_.remove(home);
    (void)source_.take_back(*home);
  }
}

thread_record* pool::own_record() noexcept {
  if (thread_record* const known = find_record(identity); known != nullptr) return known;
  thread_record* fresh = nullptr;
  for (thread_record* at = records_.front(); at != nullptr && fresh == nullptr; at = records_list::next(at)) {
    if (!at->in_use) fresh = at;
  }
  if (fresh == nullptr) {
    void* const room = memory_.cut(sizeof(thread_record));
    if (room == nullptr) return nullptr;
    fresh = ::new (room) thread_record{};
    records_.push_back(fresh);
  }
  if (!remember_record(identity, *fresh)) return nullptr;
  {
    const claimed all(*this);
    sample(all);  // what the marks of a thread that was alone know ends here
  }
  fresh->in_use = true;
  ++records_in_use_;
  fresh->stamp = std::max(fresh->stamp, epoch_);  // what its last owner left idle has stamps of its own
  // What its last owner left.
  fresh->gate.clear_gate(owner_lock::gate_bypass | owner_lock::gate_profile | owner_lock::gate_noted);
  if (!with_membarrier_) fresh->gate.set_gate(owner_lock::gate_fenced);
  if (bypass_) fresh->gate.set_gate(owner_lock::gate_bypass);
  if (demand_.recording()) fresh->gate.set_gate(owner_lock::gate_profile);
  if (recorder_.on()) fresh->gate.set_gate(owner_lock::gate_noted);
  fresh->stats.restart_marks();
  return fresh;
}

void pool::retire_record(record_home& self, thread_record& record) noexcept {
  pool& shared = static_cast<pool&>(self);
  shared.flush_recording();
  const lock guard(shared.mutex_);
  // Its own default stream goes with it. Where the driver cannot say how far that is, the memory stays under it.
  if (const stream own = known_thread_stream(); own != default_stream) {
    const one_change call(shared);
    (void)shared.end(own);
  }
  const claimed all(shared);
  shared.sample(all);
  record.in_use = false;
  record.forget_recent();
  --shared.records_in_use_;
  // The marks of the thread that is left began while others came and went: they say nothing of the sum.
  if (shared.one_thread()) shared.restart_marks(all);
}

stream_cache* pool::cache_of(thread_record& owner, stream on) noexcept {
  if (stream_cache* const known = owner.find(on); known != nullptr) return known;
  void* const room = memory_.cut(sizeof(stream_cache));
  if (room == nullptr) return nullptr;
  auto* const fresh = ::new (room) stream_cache(owner, on);
  owner.add(*fresh);
  return fresh;
}

request pool::classify(std::uint64_t bytes, stream on) const noexcept {
  request asked;
  asked.bytes = bytes;
  asked.on = on;
  if (bypass_) {
    asked.class_bytes = round_up(bytes, class_step_min);
    asked.use = segment_use::bypass;
  } else {
    asked.class_bytes = classes_.rounded(bytes);
    asked.use = classes_.is_divided(bytes)       ? segment_use::divided
                : bytes <= classes_.shared_max() ? segment_use::shared
                                                 : segment_use::dedicated;
    if (shares(asked.use)) asked.class_index = classes_.index_of(bytes);
  }
  // Above 1 MiB the steps of classes are larger than what the device lends: a class would be paid for, and not used.
  const bool by_size = asked.use == segment_use::divided || is_large(asked);
  asked.block_bytes = by_size ? round_up(bytes, class_step_min) : asked.class_bytes;
  asked.segment_bytes = segment_bytes_for(asked.use, asked.block_bytes);
  asked.generous_bytes = generous_bytes_for(asked);
  return asked;
}

request pool::by_class(const request& asked) const noexcept {
  request same = asked;
  same.block_bytes = asked.class_bytes;
  same.segment_bytes = segment_bytes_for(asked.use, same.block_bytes);
  same.generous_bytes = same.segment_bytes;
  return same;
}

void pool::tick(thread_record& self) noexcept {
  // Stamps of all threads stay comparable: whoever takes the slow way catches up with the others.
  epoch_ = std::max(epoch_, self.stamp) + 1;
  self.stamp = epoch_;
  common_.stamp = epoch_;
}

void pool::count_refusal(status outcome) noexcept {
  ++tally_.requests;
  ++tally_.failed;
  switch (outcome) {
    case status::invalid_argument:
      ++tally_.failed_invalid_argument;
      return;
    case status::request_too_large:
      ++tally_.failed_request_too_large;
      return;
    case status::capacity_exceeded:
      ++tally_.failed_capacity_exceeded;
      return;
    case status::device_out_of_memory:
      ++tally_.failed_device_out_of_memory;
      return;
    case status::capture_miss:
      ++tally_.failed_capture_miss;
      return;
    case status::backend_unavailable:
      ++tally_.failed_backend_unavailable;
      return;
    case status::backend_failed:
      ++tally_.failed_backend_failed;
      return;
    case status::shutting_down:
      ++tally_.failed_shutting_down;
      return;
    case status::ok:
    case status::unknown_pointer:
    case status::double_free:
      break;
  }
  assertion_failed(__FILE__, __LINE__, "a request is not refused with ok, unknown_pointer or double_free");
}

status pool::acquire(std::uint64_t bytes, stream on, block_record*& out) noexcept {
  lock guard(mutex_);
  const status outcome = acquire_under(guard, bytes, on, out);
  guard.unlock();
  write_if_due();
  return outcome;
}

status pool::acquire_under(lock& guard, std::uint64_t bytes, stream on, block_record*& out) noexcept {
  if (bytes > request_bytes_max) {
    count_refusal(status::request_too_large);
    note_refusal(bytes, on, status::request_too_large);
    return status::request_too_large;
  }
  thread_record* const own = own_record();
  // What a captured stream has is the pool's while its window is open.
  thread_record& self = own == nullptr || pins_.window_of(on) != nullptr ? common_ : *own;
  tick(self);
  ready_page(own);
  const one_change call(*this);
  // A window keeps what it is given, for whatever of the class its graph needs next.
  const request by_size = classify(bytes, on);
  const request asked =
      pins_.window_of(on) != nullptr && by_size.use != segment_use::bypass ? by_class(by_size) : by_size;
  const status outcome = pins_.try_reserve() ? climb(guard, self, asked, out) : status::backend_failed;
  if (outcome == status::ok && demand_.recording()) note_profiled(*out, asked);
  if (outcome == status::ok) {
    recorder_.note(recorder::of_block(ARCALLOC_RECORDED_ALLOCATE, on, out->address, bytes));
  } else {
    count_refusal(outcome);
    note_refusal(bytes, on, outcome);
  }
  if (!covered(self) || beyond_lease_) obey_cached_max(guard);
  return outcome;
}

block_record* pool::look_up(block_record* piece, const void* address) noexcept {
  // A handle is believed only where the table agrees: it may be another allocator's, or stale.
  const segment* const home = table_.find(address);
  if (home == nullptr) return nullptr;
  block_record* const found = record_at(*home, address);
  return piece == nullptr || piece == found ? found : nullptr;
}

status pool::check_free(const block_record* piece, std::uint64_t bytes) noexcept {
  if (piece == nullptr) {
    ++tally_.refused_unknown_pointer;
    return status::unknown_pointer;
  }
  if (piece->requested() == 0) {
    ++tally_.refused_double_free;
    return status::double_free;
  }
  if (bytes != any_bytes && piece->requested() != bytes) {
    ++tally_.refused_invalid_argument;
    return status::invalid_argument;
  }
  return status::ok;
}

void pool::take_in(thread_record& self, block_record& piece, const graph* in, departures& leaving) noexcept {
  const std::uint64_t requested = piece.requested();
  const std::uint64_t allocated = piece.home->block_bytes;
  ++tally_.frees;
  put_back(piece, in, leaving);
  self.stats.subtract(requested, allocated);
}

void pool::put_back(block_record& piece, const graph* in, departures& leaving) noexcept {
  if (piece.pinned()) {
    pins_.rest(piece, in, epoch_);
    return;
  }
  run& of = *piece.home;
  segment& home = *of.home;
  if (shares(home.use)) {
    stream_cache& cache = *home.cache;
    cache.push(piece);
    if (!covered(cache.owner())) beyond_lease_ = true;
    return;
  }
  piece.requested_bytes = 0;
  oversize_bytes_ -= std::exchange(home.oversize_bytes, 0);
  of.used = 0;
  home.used_beyond_one = -1;
  home.idle_stamp = ++epoch_;
  // Without room to file it the block goes back to the driver: never lost, only dearer.
  if (home.use == segment_use::dedicated && dedicated_.try_reserve()) {
    home.state = segment_state::idle;
    dedicated_.insert(home);
    common_.stats.idle_bytes += home.bytes;
  } else {
    detach(home, leaving);
  }
  if (!covered(common_)) beyond_lease_ = true;
}

status pool::recycle(block_record* piece, const free_order& order) noexcept {
  lock guard(mutex_);
  const status outcome = recycle_under(guard, piece, order);
  guard.unlock();
  write_if_due();
  return outcome;
}

status pool::recycle_under(lock& guard, block_record* piece, const free_order& order) noexcept {
  thread_record* const own = own_record();
  thread_record& self = own != nullptr ? *own : common_;
  tick(self);
  ready_page(own);
  const one_change call(*this);
  departures leaving;
  {
    const claimed all(*this);  // the block may lie in another thread's cache
    block_record* const found = look_up(piece, order.address);
    if (const status refused = check_free(found, order.bytes); refused != status::ok) return refused;
    const stream own_stream = stream_of(*found);
    const bool elsewhere = order.on != blocks_own_stream && order.on != own_stream;
    graph* const window = pins_.window_of(elsewhere ? order.on : own_stream);
    if (window != nullptr && !pins_.try_reserve()) return status::backend_failed;
    // On a captured stream, too: it may have used the block before the window.
    if (elsewhere && !source_.device().synchronous() && !pending_.note(*found, order.on)) {
      return status::backend_failed;
    }
    if (window != nullptr) touch(*window, *found, elsewhere);
    const std::uint64_t requested = found->requested();
    const bool profiled = found->profiled();
    if (found->noted()) {
      if (const status refused = pending_.defer(*found); refused != status::ok) return refused;
      ++tally_.frees;
      self.stats.subtract(requested, found->home->block_bytes);
    } else {
      take_in(self, *found, window, leaving);
    }
    recorder_.note(recorder::of_block(ARCALLOC_RECORDED_FREE, elsewhere ? order.on : own_stream, order.address));
    if (profiled) demand_.note_back(demand_.noted_on(order.address, own_stream), classes_.rounded(requested));
  }
  if (beyond_lease_) obey_cached_max(guard);
  // The block is taken, whatever the driver says to its segment: that is stuck then, and counted.
  (void)send_off(guard, leaving, because::asked);
  return status::ok;
}

status pool::note_use(block_record* piece, const void* address, stream on) noexcept {
  lock guard(mutex_);
  const claimed all(*this);
  block_record* const found = look_up(piece, address);
  if (const status refused = check_free(found, any_bytes); refused != status::ok) return refused;
  graph* const window = pins_.window_of(on);
  const bool elsewhere = on != stream_of(*found);
  if (window != nullptr && !pins_.try_reserve()) return status::backend_failed;
  // Work of the block's own stream is ordered before its next use there.
  if (elsewhere && !source_.device().synchronous() && !pending_.note(*found, on)) return status::backend_failed;
  recorder_.note(recorder::of_block(ARCALLOC_RECORDED_USE, on, address));
  if (window == nullptr) return status::ok;
  ++epoch_;
  touch(*window, *found, elsewhere);
  return status::ok;
}

std::uint64_t pool::level_stamps(const claimed&) noexcept {
  // Above every stamp so far and not above any to come: what an event recorded now stands for.
  epoch_ = std::max(epoch_, common_.stamp);
  for (const thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    epoch_ = std::max(epoch_, at->stamp);
  }
  common_.stamp = ++epoch_;
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) at->stamp = epoch_;
  return epoch_;
}

void pool::apply_bypass() noexcept {
  budget_.set_caching(!bypass_);
  for (thread_record* at = records_.front(); at != nullptr; at = records_list::next(at)) {
    if (!at->in_use) continue;
    if (bypass_) {
      at->gate.set_gate(owner_lock::gate_bypass);
    } else {
      at->gate.clear_gate(owner_lock::gate_bypass);
    }
  }
}

status pool::begin_phase(phase next) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  const phase_action action = enter_phase(phase_, next, {enabled_, cache_in_prefill_});
  if (next != phase_) note_phase(next);
  phase_ = next;
  bypass_ = action.bypass;
  apply_bypass();
  if (action.arm_cap) measure(guard);
  return action.drain ? give_back(guard, 0, when_busy::wait) : status::ok;
}

status pool::set_enabled(bool enabled) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  if (enabled == enabled_) return status::ok;
  enabled_ = enabled;
  const phase_action action = enter_phase(phase_, phase_, {enabled_, cache_in_prefill_});
  bypass_ = action.bypass;
  apply_bypass();
  if (enabled) measure(guard);
  return enabled ? status::ok : give_back(guard, 0, when_busy::wait);
}

status pool::set_cached_bytes_max(const cached_bound& bound) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  bound_ = bound;
  set_bound(guard);
  return status::ok;
}

status pool::set_capacity_bytes(std::uint64_t bytes) noexcept {
  lock guard(mutex_);
  const one_change call(*this);
  const std::uint64_t capacity = bytes == 0 ? ARCALLOC_NO_BOUND : bytes;
  if (budget_.try_set_capacity(capacity)) return status::ok;
  departures leaving;
  {
    const claimed all(*this);
    const std::uint64_t over = budget_.reserved_bytes() - capacity;
    if (capturing() || idle_bytes() < over) return status::capacity_exceeded;
    collect_idle(all, over, when_busy::wait, leaving);
  }
  const status outcome = send_off(guard, leaving, because::bound);
  if (outcome != status::ok) return outcome;
  return budget_.try_set_capacity(capacity) ? status::ok : status::capacity_exceeded;
}

phase pool::current_phase() noexcept {
  const lock guard(mutex_);
  return phase_;
}

status pool::locate(const void* address, segment_extent& out) noexcept {
  const lock guard(mutex_);
  for (const segment* home = all_.front(); home != nullptr; home = segments::next(home)) {
    if (home->state == segment_state::leaving || !home->contains(address)) continue;
    out = {home->base, home->bytes, static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - home->base)};
    return status::ok;
  }
  return status::unknown_pointer;
}

}  // namespace arcalloc::detail
