// SPDX-License-Identifier: Apache-2.0
#include "device_memory.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <arcalloc/counters.hpp>
#include <arcalloc/settings.hpp>
#include <cstdio>
#include <new>

namespace arcalloc::torch {

namespace {

struct place {
  std::atomic<device_memory*> memory{nullptr};
  bool is_tried = false;
};
constinit place places[device_memory::devices_max];
constinit std::mutex making;

/// The environment's settings; a refused one is said, and the safe default stays in force.
options settings_of_environment() noexcept {
  options out;
  const settings_result read = settings_from_environment(out);
  for (std::size_t i = 0; i < read.refused; ++i) {
    std::fprintf(stderr, "arcalloc: %s; the default is in force\n", read.errors[i].text);
  }
  for (std::size_t i = 0; i < read.warned; ++i) std::fprintf(stderr, "arcalloc: %s\n", read.warnings[i].text);
  out.sink = stderr_sink();
  return out;
}

}  // namespace

bool device_memory::open(int ordinal) noexcept {
  cuda_options how;
  how.ordinal = ordinal;
  status outcome = device_.open(how);
  if (outcome == status::ok) outcome = allocator::create(device_, settings_of_environment(), memory_);
  if (outcome != status::ok) {
    char why[400];
    device_.error_text(why, sizeof why);
    std::fprintf(stderr, "arcalloc: device %d: %s\n", ordinal, why[0] == '\0' ? status_name(outcome) : why);
    return false;
  }
  // The library is loaded by now.
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library != nullptr) {
    is_capturing_ = reinterpret_cast<is_capturing_function*>(::dlsym(library, "cuStreamIsCapturing"));
  }
  if (is_capturing_ == nullptr) std::fprintf(stderr, "arcalloc: the driver has no cuStreamIsCapturing\n");
  return is_capturing_ != nullptr;
}

device_memory* device_memory::known(int device) noexcept {
  const bool is_number = device >= 0 && device < devices_max;
  return is_number ? places[device].memory.load(std::memory_order_acquire) : nullptr;
}

device_memory* device_memory::of(int device) noexcept {
  if (device_memory* const found = known(device); found != nullptr) return found;
  if (device < 0 || device >= devices_max) return nullptr;
  const std::lock_guard guard(making);
  place& at = places[device];
  if (at.memory.load() != nullptr || at.is_tried) return at.memory.load();
  at.is_tried = true;
  auto* made = new (std::nothrow) device_memory;
  if (made != nullptr && !made->open(device)) {
    delete made;
    made = nullptr;
  }
  at.memory.store(made, std::memory_order_release);
  return made;
}

void device_memory::complain(const char* what, status why) const noexcept {
  std::fprintf(stderr, "arcalloc: device %d: %s: %s\n", device_.ordinal(), what, status_name(why));
}

bool device_memory::is_captured(stream on) const noexcept {
  if (on == default_stream) return false;
  const auto number = on == per_thread_stream ? std::uint64_t{2} : static_cast<std::uint64_t>(on);
  int state = 0;
  return is_capturing_(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(number)), &state) == 0 && state != 0;
}

void device_memory::close_ended() noexcept {
  std::erase_if(windows_, [this](window& open) {
    cuda_capture now;
    if (device_.query_capture(open.origin, now) != status::ok) return false;
    if (now.now == cuda_capture::state::invalidated) open.is_invalid = true;
    if (now.now == cuda_capture::state::invalidated || (now.now == cuda_capture::state::ongoing && now.id == open.id)) {
      return false;
    }
    graph_id graph = graph_id::none;
    const status closed =
        open.is_invalid ? memory_->abort_capture(open.origin) : memory_->end_capture(open.origin, graph);
    if (closed != status::ok) complain("the end of a capture", closed);
    if (graph != graph_id::none) graphs_.push_back(graph);
    return true;
  });
  windows_open_.store(windows_.size(), std::memory_order_release);
}

void device_memory::enter_window(stream on, std::uint64_t id) noexcept {
  const auto same = std::find_if(windows_.begin(), windows_.end(), [id](const window& open) { return open.id == id; });
  const bool is_new = same == windows_.end();
  const status entered = is_new ? memory_->begin_capture(on) : memory_->join_capture(on, same->origin);
  if (entered != status::ok) return complain("a capture", entered);
  if (is_new) windows_.push_back({on, id, false});
  windows_open_.store(windows_.size(), std::memory_order_release);
}

void device_memory::follow_captures(stream on) noexcept {
  close_ended();
  cuda_capture now;
  if (on == default_stream || memory_->is_capturing(on)) return;
  if (device_.query_capture(on, now) != status::ok || now.now != cuda_capture::state::ongoing) return;
  enter_window(on, now.id);
}

template <class Body>
auto device_memory::ordered(stream on, Body body) noexcept {
  if (windows_open_.load(std::memory_order_acquire) == 0 && !is_captured(on)) return body();
  const std::lock_guard guard(mutex_);
  follow_captures(on);
  return body();
}

void* device_memory::allocate(std::size_t bytes, stream on) noexcept {
  block piece;
  const status outcome = ordered(on, [&] { return memory_->allocate(bytes, on, piece); });
  if (outcome == status::ok) return piece.data();
  char why[512];
  (void)format_failure(memory_->last_failure(), why, sizeof why);
  const bool is_recorded = outcome == status::capacity_exceeded || outcome == status::device_out_of_memory ||
                           outcome == status::capture_miss;
  std::fprintf(stderr, "arcalloc: device %d: %s\n", device_.ordinal(), is_recorded ? why : status_name(outcome));
  return nullptr;
}

void device_memory::free(void* address, stream on) noexcept {
  const status outcome = ordered(on, [&] { return memory_->deallocate(address, on); });
  if (outcome != status::ok) complain("a free", outcome);
}

bool device_memory::note_use(void* address, stream on) noexcept {
  const status outcome = ordered(on, [&] { return memory_->note_use(address, on); });
  if (outcome != status::ok && outcome != status::unknown_pointer) complain("the use of a block on a stream", outcome);
  return outcome != status::unknown_pointer;
}

std::size_t device_memory::forget_graphs() noexcept {
  const std::lock_guard guard(mutex_);
  close_ended();
  for (const graph_id graph : graphs_) {
    if (const status given_up = memory_->release_graph(graph); given_up != status::ok) complain("a graph", given_up);
  }
  const std::size_t count = graphs_.size();
  graphs_.clear();
  return count;
}

int device_memory::report(char* text, std::size_t capacity) const noexcept {
  counters now;
  memory_->read_counters(now);
  const auto count = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  return std::snprintf(text, capacity,
                       "device %d: requests %llu hits %llu driver_allocs %llu driver_frees %llu allocated_bytes %llu "
                       "reserved_bytes %llu reserved_bytes_peak %llu cached_bytes %llu pinned_bytes %llu "
                       "cached_bytes_max %llu",
                       device_.ordinal(), count(now.requests), count(now.hits), count(now.driver_allocs),
                       count(now.driver_frees), count(now.allocated_bytes), count(now.reserved_bytes),
                       count(now.reserved_bytes_peak), count(now.cached_bytes), count(now.pinned_bytes),
                       count(now.cached_bytes_max));
}

}  // namespace arcalloc::torch
