// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "context_device.hpp"
#include "driver_calls.hpp"
#include "live_blocks.hpp"

namespace arcalloc::preload {

/// What a context has under the preload library: an allocator over its device.
///
/// Made at the first request in a context. Called by the functions that stand before the driver's; calls the allocator,
/// and the driver where work has to be waited for. Concurrency: any thread. It outlives its context, so that a program
/// that ends meets no destructor of ours.
class context_memory {
 public:
  /// Of the calling thread's current context; null where calls are passed on: no context, or no allocator was to be
  /// had, which is said once on stderr.
  [[nodiscard]] static context_memory* of_current(const driver_calls& driver) noexcept;
  /// The same, but makes none.
  [[nodiscard]] static context_memory* known_of_current(const driver_calls& driver) noexcept;
  /// Whether the address lies in memory that one of them has from the driver.
  [[nodiscard]] static bool is_within(device_address address, segment_extent& extent) noexcept;
  /// A stream that goes away.
  static void end_stream(void* on) noexcept;
  /// A context, or the primary one of a device, is no more.
  static void forget_context(const void* context) noexcept;
  static void forget_primary(device_number device) noexcept;
  /// One line each on stderr, where the settings ask for reports.
  static void report_all() noexcept;

  /// As the driver would answer, or `passed_on`: then nothing was done, and the call is for the driver.
  static constexpr driver_result passed_on = -1;
  [[nodiscard]] driver_result allocate(std::size_t bytes, stream on, device_address& out) noexcept;
  /// cuMemFree: returns when the context's work has finished, where the block was asked for without a stream.
  [[nodiscard]] driver_result free(const driver_calls& driver, device_address address) noexcept;
  [[nodiscard]] driver_result free_async(const driver_calls& driver, device_address address, void* on) noexcept;
  [[nodiscard]] std::uint64_t cached_bytes() const noexcept;

 private:
  [[nodiscard]] bool open(const driver_calls& driver, void* context) noexcept;
  [[nodiscard]] driver_result synchronise(const driver_calls& driver) const noexcept;
  /// False where the host has no memory.
  [[nodiscard]] bool note_stream(stream on) noexcept;
  [[nodiscard]] bool postpone(const live_block& freed) noexcept;
  void free_postponed() noexcept;
  void forget() noexcept;
  void report() const noexcept;

  context_device device_;
  allocator* memory_ = nullptr;
  void* context_ = nullptr;
  bool is_primary_ = false;
  bool reports_ = false;
  std::mutex mutex_;                           ///< of what follows
  std::unordered_set<std::uint64_t> streams_;  ///< that memory was asked for on, and that can be destroyed
  std::vector<live_block> postponed_;          ///< freed, and the work on them could not be waited for yet
};

}  // namespace arcalloc::preload
