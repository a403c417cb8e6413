// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace arcalloc::bench {

namespace {

constexpr std::uint64_t place_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t places_max = std::uint64_t{15} << 10;  // 30 GiB of addresses; valgrind 3.19 grants up to 32
// One place more, so that the first address can be moved up to a border.
constexpr std::uint64_t reserved_bytes = (places_max + 1) * place_bytes;
constexpr std::uint64_t continued = UINT64_MAX;  // a place that is not the first of its block

[[noreturn]] void stop(const char* why) noexcept {
  std::fprintf(stderr, "arcalloc_bench: fake driver: %s\n", why);
  std::abort();
}

}  // namespace

fake_driver::fake_driver(std::uint64_t device_bytes) : device_bytes_(device_bytes), sizes_(places_max) {
  reserved_ = ::mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved_ == MAP_FAILED) stop("no addresses to reserve");
  const auto base = reinterpret_cast<std::uintptr_t>(reserved_);
  range_ = reinterpret_cast<char*>((base + place_bytes - 1) / place_bytes * place_bytes);
}

fake_driver::~fake_driver() { ::munmap(reserved_, reserved_bytes); }

/// The first of so many idle places in a row, from where the last search ended.
std::uint64_t fake_driver::find_room(std::uint64_t places) noexcept {
  std::uint64_t idle = 0;
  for (std::uint64_t looked_at = 0; looked_at < 2 * places_max; ++looked_at) {
    if (next_place_ == places_max) next_place_ = idle = 0;
    idle = sizes_[next_place_++] == 0 ? idle + 1 : 0;
    if (idle == places) return next_place_ - places;
  }
  stop("out of addresses");
}

void* fake_driver::lend(std::size_t bytes) noexcept {
  const std::lock_guard held(mutex_);
  if (readings_.held_bytes + bytes > device_bytes_) {
    ++readings_.refusals;
    return nullptr;
  }
  const std::uint64_t places = (bytes + place_bytes - 1) / place_bytes;
  const std::uint64_t place = find_room(places);
  std::fill_n(sizes_.begin() + static_cast<std::ptrdiff_t>(place), places, continued);
  sizes_[place] = bytes;
  ++readings_.allocs;
  readings_.held_bytes += bytes;
  readings_.peak_bytes = std::max(readings_.peak_bytes, readings_.held_bytes);
  if (promised_bytes_ != 0 && readings_.held_bytes > promised_bytes_) stop("more is out than was promised");
  return range_ + place * place_bytes;
}

void fake_driver::take_back(void* address) noexcept {
  const std::lock_guard held(mutex_);
  const auto offset = static_cast<std::uint64_t>(static_cast<char*>(address) - range_);
  std::uint64_t place = offset / place_bytes;
  if (offset % place_bytes != 0 || place >= places_max || sizes_[place] == 0 || sizes_[place] == continued) {
    stop("free of what is not lent");
  }
  ++readings_.frees;
  readings_.held_bytes -= sizes_[place];
  do {
    sizes_[place++] = 0;
  } while (place < places_max && sizes_[place] == continued);
}

void fake_driver::note_event() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t own = threads++;
  if (own >= threads_max) stop("more threads than it has counters for");
  std::atomic<std::uint64_t>& events = events_of_threads_[own].events;
  events.store(events.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

driver_readings fake_driver::read() const noexcept {
  const std::lock_guard held(mutex_);
  driver_readings out = readings_;
  for (const event_count& of : events_of_threads_) out.events += of.events.load(std::memory_order_relaxed);
  return out;
}

status fake_backend::allocate(std::size_t bytes, stream, void*& address) noexcept {
  address = driver_->lend(bytes);
  return address != nullptr ? status::ok : status::device_out_of_memory;
}

status fake_backend::free(void* address, std::size_t) noexcept {
  driver_->take_back(address);
  return status::ok;
}

status fake_backend::query_memory(memory_info& out) const noexcept {
  out.total_bytes = driver_->device_bytes();
  out.free_bytes = out.total_bytes - driver_->read().held_bytes;
  return status::ok;
}

status fake_backend::record_event(stream, event& out) noexcept {
  driver_->note_event();
  out = event{1};
  return status::ok;
}

status fake_backend::query_event(event, bool& finished) noexcept {
  finished = true;
  return status::ok;
}

status fake_backend::wait_event(event) noexcept { return status::ok; }

void fake_backend::drop_event(event) noexcept {}

}  // namespace arcalloc::bench
