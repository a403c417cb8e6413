// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <arcalloc/backend.hpp>

namespace arcalloc::bench {

/// What a driver was asked for.
struct driver_readings {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t refusals = 0;
  std::uint64_t events = 0;
  std::uint64_t held_bytes = 0;
  std::uint64_t peak_bytes = 0;
};

/// A driver that costs nothing and counts everything: the device below every allocator of device memory.
///
/// Called by the peers' backends. It hands out addresses of a reserved range that nobody may touch, in whole places of
/// 2 MiB, one after another and round again, so that it remembers a size by its place and seldom has to search.
/// Bounds: lends at most device_bytes, refusing what is over; and where a capacity was promised to it, ends the
/// program at the instant at which more is out: whoever promised it has broken its word.
/// Concurrency: any thread, of at most threads_max; one mutex, but for events, which some allocators record at every
/// free: each thread counts its own. It does not round: it lends and counts what it is asked for.
class fake_driver {
 public:
  static constexpr std::size_t threads_max = 256;

  explicit fake_driver(std::uint64_t device_bytes);
  ~fake_driver();
  fake_driver(const fake_driver&) = delete;
  fake_driver& operator=(const fake_driver&) = delete;

  /// Never more than this is out: asserted at every call. 0: nothing was promised.
  void promise_capacity(std::uint64_t bytes) noexcept { promised_bytes_ = bytes; }

  /// Null when the device is full.
  [[nodiscard]] void* lend(std::size_t bytes) noexcept;
  void take_back(void* address) noexcept;
  void note_event() noexcept;

  [[nodiscard]] std::uint64_t device_bytes() const noexcept { return device_bytes_; }
  [[nodiscard]] driver_readings read() const noexcept;

 private:
  [[nodiscard]] std::uint64_t find_room(std::uint64_t places) noexcept;

  const std::uint64_t device_bytes_;
  std::uint64_t promised_bytes_ = 0;
  void* reserved_ = nullptr;
  char* range_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> sizes_;  ///< by place; 0: idle
  std::uint64_t next_place_ = 0;
  driver_readings readings_;

  struct alignas(64) event_count {
    std::atomic<std::uint64_t> events{0};
  };
  std::array<event_count, threads_max> events_of_threads_;
};

/// The same as arcalloc sees a device: like CUDA's, it takes memory in granules of 2 MiB and has events, all of which
/// have passed when they are asked for.
class fake_backend final : public backend {
 public:
  static constexpr std::size_t granule_bytes = std::size_t{2} << 20;

  explicit fake_backend(fake_driver& driver) noexcept : driver_(&driver) {}

  [[nodiscard]] const char* name() const noexcept override { return "fake"; }
  [[nodiscard]] std::size_t granularity() const noexcept override { return granule_bytes; }
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override {
    return allocate(bytes, on, address);
  }
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override;
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override;
  [[nodiscard]] status record_event(stream on, event& out) noexcept override;
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override;
  [[nodiscard]] status wait_event(event point) noexcept override;
  void drop_event(event point) noexcept override;

 private:
  fake_driver* driver_;
};

}  // namespace arcalloc::bench
