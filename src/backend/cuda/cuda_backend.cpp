// SPDX-License-Identifier: Apache-2.0
// The backend's calls: each looks whether the driver may be asked, enters the context, asks, and says what came of it.
#include <arcalloc/cuda_backend.hpp>

#include <cstdlib>
#include <new>

#include "cuda_state.hpp"

namespace arcalloc {

using cuda::result;

namespace {

// What stands for any point once the driver is gone: all work there ever was is over.
constexpr event long_past{1};

}  // namespace

cuda_backend::~cuda_backend() {
  if (state_ == nullptr) return;
  state_->close();
  state_->~state();
  std::free(state_);
}

status cuda_backend::open(const cuda_options& how) noexcept {
  if (state_ != nullptr && state_->context != nullptr) return status::invalid_argument;
  if (state_ == nullptr) {
    void* const room = std::malloc(sizeof(state));
    if (room == nullptr) return status::backend_failed;
    state_ = ::new (room) state;
  }
  const status opened = state_->open(how);
  if (opened != status::ok) state_->context = nullptr;
  return opened;
}

// 0 is no granularity: an allocator over a device that is not open is refused.
std::size_t cuda_backend::granularity() const noexcept {
  return state_ != nullptr && state_->context != nullptr ? state_->granularity : 0;
}

status cuda_backend::allocate(std::size_t bytes, stream on, void*& address) noexcept {
  state& at = *state_;
  address = nullptr;
  if (const status may = at.usable(); may != status::ok) return may;
  const cuda_scope scope(at.driver, at.context);
  if (scope.entered() != result::success) return at.answer(scope.entered(), "cuCtxPushCurrent");
  cuda::device_address lent = 0;
  const bool from_pool = at.pool != nullptr;
  const result asked = from_pool ? at.lend_from_pool(bytes, on, lent) : at.driver.allocate(&lent, bytes);
  const status outcome = at.answer(asked, from_pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc");
  return outcome == status::ok ? at.accept(lent, address) : outcome;
}

status cuda_backend::allocate_beside_capture(std::size_t bytes, stream, void*& address) noexcept {
  state& at = *state_;
  address = nullptr;
  if (const status may = at.usable(); may != status::ok) return may;
  const cuda_scope scope(at.driver, at.context);
  if (scope.entered() != result::success) return at.answer(scope.entered(), "cuCtxPushCurrent");
  cuda::device_address lent = 0;
  // Never from the pool: whatever it hands out for a captured stream belongs to the graph.
  const result asked = at.driver.allocate(&lent, bytes);
  if (asked == result::capture_unsupported) return status::capture_miss;
  const status outcome = at.answer(asked, "cuMemAlloc");
  return outcome == status::ok ? at.accept(lent, address) : outcome;
}

status cuda_backend::free(void* address, std::size_t bytes) noexcept {
  state& at = *state_;
  if (address == nullptr || bytes == 0) return status::invalid_argument;
  const status may = at.usable();
  if (may != status::ok) return may == status::shutting_down ? status::ok : may;
  const cuda_scope scope(at.driver, at.context);
  result asked = scope.entered();
  const bool entered = asked == result::success;
  // cuMemFree for memory of the pool, too: there it does not synchronise, and nobody works on the memory any more.
  if (entered) asked = at.driver.free(reinterpret_cast<std::uintptr_t>(address));
  if (asked == result::success && at.pool != nullptr) at.pool_keeps.store(true, std::memory_order_relaxed);
  const status outcome = at.answer(asked, entered ? "cuMemFree" : "cuCtxPushCurrent");
  return outcome == status::shutting_down ? status::ok : outcome;
}

status cuda_backend::query_memory(memory_info& out) const noexcept {
  state& at = *state_;
  if (const status may = at.usable(); may != status::ok) return may;
  const cuda_scope scope(at.driver, at.context);
  if (scope.entered() != result::success) return at.answer(scope.entered(), "cuCtxPushCurrent");
  // What the pool keeps is idle, and the driver counts it as taken.
  if (const status trimmed = at.answer(at.trim_pool(), "cuMemPoolTrimTo"); trimmed != status::ok) return trimmed;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  const status outcome = at.answer(at.driver.memory_info(&free_bytes, &total_bytes), "cuMemGetInfo");
  if (outcome == status::ok) out = {free_bytes, total_bytes};
  return outcome;
}

status cuda_backend::record_event(stream on, event& out) noexcept {
  out = event::none;
  const status outcome = state_->record(on, out);
  if (outcome != status::shutting_down) return outcome;
  out = long_past;
  return status::ok;
}

status cuda_backend::query_event(event point, bool& finished) noexcept {
  state& at = *state_;
  finished = false;
  const status may = at.usable();
  finished = may == status::shutting_down || (may == status::ok && point == long_past);
  if (finished || may != status::ok) return finished ? status::ok : may;
  const cuda_scope scope(at.driver, at.context);
  result asked = scope.entered();
  if (asked == result::success) asked = at.driver.event_query(cuda::event_store::handle_of(point));
  if (asked == result::not_ready) return status::ok;
  const status outcome = at.answer(asked, "cuEventQuery");
  finished = outcome == status::ok || outcome == status::shutting_down;
  return finished ? status::ok : outcome;
}

status cuda_backend::wait_event(event point) noexcept {
  state& at = *state_;
  const status may = at.usable();
  if (may == status::shutting_down || (may == status::ok && point == long_past)) return status::ok;
  if (may != status::ok) return may;
  const cuda_scope scope(at.driver, at.context);
  result asked = scope.entered();
  if (asked == result::success) asked = at.driver.event_wait(cuda::event_store::handle_of(point));
  const status outcome = at.answer(asked, "cuEventSynchronize");
  return outcome == status::shutting_down ? status::ok : outcome;
}

void cuda_backend::drop_event(event point) noexcept {
  if (point != long_past && point != event::none) state_->events.put(point);
}

void cuda_backend::trim() noexcept {
  if (state_ == nullptr || state_->usable() != status::ok || state_->pool == nullptr) return;
  const cuda_scope scope(state_->driver, state_->context);
  result asked = scope.entered();
  if (asked == result::success) asked = state_->trim_pool();
  (void)state_->answer(asked, "cuMemPoolTrimTo");  // what is kept is counted as taken by the driver, and tried again
}

status cuda_backend::query_capture(stream on, cuda_capture& out) noexcept {
  state& at = *state_;
  out = {};
  if (const status may = at.usable(); may != status::ok) return may;
  cuda::stream_handle* handle = nullptr;
  if (!state::handle_of(on, handle)) return status::invalid_argument;
  const cuda_scope scope(at.driver, at.context);
  result asked = scope.entered();
  cuda::capture_status captured = cuda::capture_status::none;
  std::uint64_t id = 0;
  if (asked == result::success) asked = at.driver.capture_info(handle, captured, id);
  const status outcome = at.answer(asked, "cuStreamGetCaptureInfo");
  if (outcome != status::ok || captured == cuda::capture_status::none) return outcome;
  out.now = captured == cuda::capture_status::ongoing ? cuda_capture::state::ongoing : cuda_capture::state::invalidated;
  out.id = out.now == cuda_capture::state::ongoing ? id : 0;
  return status::ok;
}

int cuda_backend::error_text(char* text, std::size_t capacity) const noexcept {
  if (state_ == nullptr) return std::snprintf(text, capacity, "%s", "");
  const std::lock_guard guard(state_->text_mutex);
  return std::snprintf(text, capacity, "%s", state_->last_error.text());
}

int cuda_backend::ordinal() const noexcept { return state_->ordinal; }
int cuda_backend::driver_version() const noexcept { return state_->driver.version; }
const char* cuda_backend::device_name() const noexcept { return state_->device_name; }
void* cuda_backend::context() const noexcept { return state_->context; }
std::uint64_t cuda_backend::events_out() const noexcept { return state_->events.out(); }

}  // namespace arcalloc
