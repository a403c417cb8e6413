// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/cuda_backend.hpp>
#include <atomic>
#include <mutex>
#include <vector>

namespace arcalloc::torch {

/// A device's memory as PyTorch asks for it.
///
/// Called by the exported functions. PyTorch does not say when it captures a graph, so each call asks the driver
/// whether its stream is being captured: one driver call, and none on the legacy default stream, which cannot be. The
/// first request or free in a capture opens a window on the allocator; a window closes at the first call after the
/// capture's end, whatever its stream. What it pinned stays until forget_graphs, since nobody says either when a graph
/// is gone. Concurrency: any thread; calls are under a mutex while a window is open. It lives until the process ends.
class device_memory {
 public:
  /// Made at the first call for the device; null where that has no driver or allocator: the reason is on stderr, once.
  [[nodiscard]] static device_memory* of(int device) noexcept;
  /// Those that were made.
  static constexpr int devices_max = 64;
  [[nodiscard]] static device_memory* known(int device) noexcept;

  [[nodiscard]] void* allocate(std::size_t bytes, stream on) noexcept;
  void free(void* address, stream on) noexcept;
  /// False where the address is none of this device's.
  [[nodiscard]] bool note_use(void* address, stream on) noexcept;
  std::size_t forget_graphs() noexcept;
  void end_step() noexcept { memory_->end_step(); }
  int report(char* text, std::size_t capacity) const noexcept;

 private:
  struct window {
    stream origin = default_stream;
    std::uint64_t id = 0;  ///< the driver's
    bool is_invalid = false;
  };
  using is_capturing_function = int(const void* on, int* state);

  [[nodiscard]] bool open(int ordinal) noexcept;
  [[nodiscard]] bool is_captured(stream on) const noexcept;
  /// Opens, joins and closes windows until they are as the driver's captures are.
  void follow_captures(stream on) noexcept;
  void close_ended() noexcept;
  void enter_window(stream on, std::uint64_t id) noexcept;
  /// Keeps order with captures, and runs `body`.
  template <class Body>
  auto ordered(stream on, Body body) noexcept;
  void complain(const char* what, status why) const noexcept;

  cuda_backend device_;
  allocator* memory_ = nullptr;
  is_capturing_function* is_capturing_ = nullptr;
  std::atomic<std::size_t> windows_open_{0};
  std::mutex mutex_;  ///< of what follows
  std::vector<window> windows_;
  std::vector<graph_id> graphs_;
};

}  // namespace arcalloc::torch
