// SPDX-License-Identifier: Apache-2.0
#include "context_memory.hpp"

#include <arcalloc/counters.hpp>
#include <arcalloc/settings.hpp>
#include <atomic>
#include <cstdio>
#include <new>

namespace arcalloc::preload {

namespace {

// Contexts that memory was asked for in. A place is written once: a context that goes away leaves it empty.
constexpr std::size_t contexts_max = 64;
struct place {
  std::atomic<void*> context{nullptr};
  std::atomic<context_memory*> memory{nullptr};  ///< null: calls in this context are passed on
};
constinit place places[contexts_max];
constinit std::mutex making;
constinit std::atomic<bool> has_complained{false};

void* address_of(device_address number) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number)); }

/// Once, so that a program that runs for days says it once.
void complain(const char* why, const char* consequence) noexcept {
  if (!has_complained.exchange(true)) std::fprintf(stderr, "arcalloc: preload: %s; %s\n", why, consequence);
}

constexpr const char* passing_on = "memory is the driver's alone";

place* place_of(const void* context) noexcept {
  for (place& at : places) {
    void* const known = at.context.load(std::memory_order_acquire);
    if (known == context) return &at;
  }
  return nullptr;
}

/// The environment's settings, ARC_ALLOC_CACHE_TRACE among them; false where calls are to be passed on.
bool read_settings(options& out) noexcept {
  const settings_result read = settings_from_environment(out);
  for (std::size_t i = 0; i < read.warned; ++i) std::fprintf(stderr, "arcalloc: %s\n", read.warnings[i].text);
  if (read.outcome != status::ok) {
    complain(read.refused == 0 ? "the settings are refused" : read.errors[0].text, passing_on);
    return false;
  }
  out.sink = stderr_sink();
  return out.enabled;
}

driver_result result_of(status outcome) noexcept {
  switch (outcome) {
    case status::ok:
      return success;
    case status::capacity_exceeded:
    case status::device_out_of_memory:
      return out_of_memory;
    default:
      return context_memory::passed_on;
  }
}

}  // namespace

bool context_memory::open(const driver_calls& driver, void* context) noexcept {
  options settings;
  if (!read_settings(settings)) return false;
  cuda_options how;
  how.context = cuda_context::current;
  how.driver_path = driver.path.c_str();
  status outcome = device_.open(how);
  if (outcome == status::ok) outcome = allocator::create(device_, settings, memory_);
  if (outcome != status::ok) {
    char why[400];
    device_.below().error_text(why, sizeof why);
    complain(why[0] == '\0' ? status_name(outcome) : why, passing_on);
    return false;
  }
  context_ = context;
  reports_ = settings.stats_every_steps != 0;
  // The primary context goes away by another call than the others.
  unsigned int flags = 0;
  int exists = 0;
  void* primary = nullptr;
  const device_number device = device_.below().ordinal();
  if (driver.primary_state(device, &flags, &exists) == success && exists != 0 &&
      driver.retain_primary(&primary, device) == success) {
    is_primary_ = primary == context;
    (void)driver.leave_primary(device);  // what was retained a moment ago
  }
  return true;
}

context_memory* context_memory::known_of_current(const driver_calls& driver) noexcept {
  void* context = nullptr;
  if (driver.current_context(&context) != success || context == nullptr) return nullptr;
  const place* const known = place_of(context);
  return known == nullptr ? nullptr : known->memory.load(std::memory_order_acquire);
}

context_memory* context_memory::of_current(const driver_calls& driver) noexcept {
  void* context = nullptr;
  if (!driver.is_whole || driver.current_context(&context) != success || context == nullptr) return nullptr;
  if (const place* const known = place_of(context); known != nullptr) {
    return known->memory.load(std::memory_order_acquire);
  }
  const std::lock_guard guard(making);
  if (const place* const known = place_of(context); known != nullptr) return known->memory.load();
  place* const fresh = place_of(nullptr);
  if (fresh == nullptr) return nullptr;
  const inside here;
  auto* made = new (std::nothrow) context_memory;
  if (made != nullptr && !made->open(driver, context)) {
    delete made;
    made = nullptr;
  }
  fresh->memory.store(made, std::memory_order_relaxed);
  fresh->context.store(context, std::memory_order_release);
  return made;
}

bool context_memory::is_within(device_address address, segment_extent& extent) noexcept {
  for (place& at : places) {
    const context_memory* const one = at.memory.load(std::memory_order_acquire);
    if (one != nullptr && one->memory_->locate(address_of(address), extent) == status::ok) return true;
  }
  return false;
}

bool context_memory::note_stream(stream on) noexcept {
  if (on == default_stream || on == per_thread_stream) return true;  // nobody destroys these
  const std::lock_guard guard(mutex_);
  try {
    streams_.insert(static_cast<std::uint64_t>(on));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

driver_result context_memory::allocate(std::size_t bytes, stream on, device_address& out) noexcept {
  const inside here;
  live_block fresh;
  fresh.owner = this;
  fresh.bytes = bytes;
  fresh.is_settled = on == settled_stream;
  if (!fresh.is_settled && !note_stream(on)) return passed_on;
  const driver_result outcome = result_of(memory_->allocate(bytes, on, fresh.piece));
  if (outcome != success) return outcome;
  const auto address = static_cast<device_address>(reinterpret_cast<std::uintptr_t>(fresh.piece.data()));
  if (!live_blocks::all().keep(address, fresh)) {
    (void)memory_->deallocate(fresh.piece);  // never used: nothing can stand in the way
    return passed_on;
  }
  out = address;
  return success;
}

driver_result context_memory::synchronise(const driver_calls& driver) const noexcept {
  void* now = nullptr;
  driver_result outcome = driver.current_context(&now);
  const bool is_elsewhere = now != context_;
  if (outcome == success && is_elsewhere) outcome = driver.push_context(context_);
  if (outcome != success) return outcome;
  outcome = driver.synchronise();
  void* popped = nullptr;
  if (is_elsewhere) (void)driver.pop_context(&popped);
  return outcome;
}

bool context_memory::postpone(const live_block& freed) noexcept {
  const std::lock_guard guard(mutex_);
  try {
    postponed_.push_back(freed);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void context_memory::free_postponed() noexcept {
  std::vector<live_block> due;
  {
    const std::lock_guard guard(mutex_);
    due.swap(postponed_);
  }
  for (const live_block& one : due) (void)memory_->deallocate(one.piece);  // settled: nothing is asked of the driver
}

driver_result context_memory::free(const driver_calls& driver, device_address address) noexcept {
  const inside here;
  const auto known = live_blocks::all().find(address);
  if (!known) return invalid_value;
  // What the driver's own does, and programs rely on: whatever was enqueued before, anywhere, has finished then.
  const driver_result waited = known->is_settled ? synchronise(driver) : success;
  if (waited != success) {
    unsigned int mode = mode_relaxed;
    const bool may_ask = waited == capture_unsupported && driver.exchange_mode(&mode) == success;
    unsigned int ours = mode;
    if (may_ask) (void)driver.exchange_mode(&ours);
    // A free that the driver permits beside a capture, where it lets nobody wait: not given away before somebody can.
    if (!may_ask || mode != mode_relaxed) return waited;
    const auto freed = live_blocks::all().take(address);
    return freed && postpone(*freed) ? success : invalid_value;
  }
  const auto freed = live_blocks::all().take(address);
  if (!freed) return invalid_value;
  if (known->is_settled) free_postponed();
  if (memory_->deallocate(freed->piece) == status::ok) return success;
  return live_blocks::all().keep(address, *freed) ? invalid_value : out_of_memory;
}

driver_result context_memory::free_async(const driver_calls& driver, device_address address, void* on) noexcept {
  const inside here;
  int captured = 0;
  if (driver.is_capturing(on, &captured) != success || captured != 0) return invalid_value;
  const auto freed = live_blocks::all().take(address);
  if (!freed) return invalid_value;
  if (memory_->deallocate(freed->piece, cuda_backend::stream_of(on)) == status::ok) return success;
  // No event could be had: waiting does as well.
  const driver_result waited = driver.synchronise_stream(on);
  if (waited == success && memory_->deallocate(freed->piece) == status::ok) return success;
  if (!live_blocks::all().keep(address, *freed)) return out_of_memory;
  return waited == success ? invalid_value : waited;
}

std::uint64_t context_memory::cached_bytes() const noexcept {
  counters now;
  memory_->read_counters(now);
  return now.cached_bytes;
}

void context_memory::end_stream(void* on) noexcept {
  const inside here;
  for (place& at : places) {
    context_memory* const one = at.memory.load(std::memory_order_acquire);
    if (one == nullptr) continue;
    {
      const std::lock_guard guard(one->mutex_);
      if (one->streams_.erase(reinterpret_cast<std::uintptr_t>(on)) == 0) continue;
    }
    if (one->memory_->end_stream(cuda_backend::stream_of(on)) != status::ok) {
      complain("the end of a stream could not be noted", "its idle memory stays with it");
    }
  }
}

void context_memory::forget() noexcept {
  const inside here;
  device_.forget();
  live_blocks::all().forget(*this);
  allocator::destroy(memory_);
}

void context_memory::forget_context(const void* context) noexcept {
  place* const known = context == nullptr ? nullptr : place_of(context);
  if (known == nullptr) return;
  context_memory* const leaving = known->memory.exchange(nullptr);
  // The place is for another context from now on.
  known->context.store(nullptr, std::memory_order_release);
  if (leaving != nullptr) leaving->forget();
}

void context_memory::forget_primary(device_number device) noexcept {
  for (place& at : places) {
    const context_memory* const one = at.memory.load(std::memory_order_acquire);
    if (one != nullptr && one->is_primary_ && one->device_.below().ordinal() == device) forget_context(one->context_);
  }
}

void context_memory::report() const noexcept {
  counters now;
  memory_->read_counters(now);
  const auto count = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  std::fprintf(
      stderr,
      "arcalloc: preload: device %d: requests %llu, hits %llu, driver allocs %llu, driver frees %llu, reserved "
      "bytes at most %llu, cached bytes at most %llu of %llu\n",
      device_.below().ordinal(), count(now.requests), count(now.hits), count(now.driver_allocs),
      count(now.driver_frees), count(now.reserved_bytes_peak), count(now.cached_bytes_peak),
      count(now.cached_bytes_max));
}

void context_memory::report_all() noexcept {
  for (place& at : places) {
    const context_memory* const one = at.memory.load(std::memory_order_acquire);
    if (one != nullptr && one->reports_) one->report();
  }
}

}  // namespace arcalloc::preload
