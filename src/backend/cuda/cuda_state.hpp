// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <arcalloc/cuda_backend.hpp>
#include <atomic>
#include <mutex>

#include "driver_library.hpp"
#include "error_text.hpp"
#include "event_store.hpp"

namespace arcalloc {

/// What an open device is, and what is made of the driver's answers.
///
/// Of cuda_backend alone. Constant once it is open, but for the atomics, the events and the sentence, which have a
/// mutex each.
struct cuda_backend::state {
  /// Takes what `how` names. On failure `last_error` says why, and nothing is held.
  [[nodiscard]] status open(const cuda_options& how) noexcept;
  void close() noexcept;

  /// ok, or why no driver call will be made: this process was forked, the driver is gone, or it is beyond help.
  [[nodiscard]] status usable() noexcept;

  /// The status of what `call` answered. Keeps a sentence of a failure, but not of memory that is not there.
  [[nodiscard]] status answer(cuda::result outcome, const char* call) noexcept;
  void note(const char* call, const char* what) noexcept;

  /// The driver's handle of a stream, as this thread has to say it; false for an identity that no stream has.
  [[nodiscard]] static bool handle_of(stream said, cuda::stream_handle*& out) noexcept;

  /// The same stream may be captured without the allocator's knowledge.
  [[nodiscard]] cuda::result capture_of(cuda::stream_handle* on, cuda::capture_status& out) const noexcept;

  /// The address, if it is aligned as it must be; else the memory goes back at once.
  [[nodiscard]] status accept(cuda::device_address lent, void*& address) noexcept;
  /// A point in the work of the stream; shutting_down where there is no work any more.
  [[nodiscard]] status record(stream on, event& out) noexcept;
  [[nodiscard]] cuda::result lend_from_pool(std::size_t bytes, stream on, cuda::device_address& out) noexcept;
  /// What the pool keeps of freed memory goes back to the device.
  [[nodiscard]] cuda::result trim_pool() noexcept;

  cuda::driver_library driver;
  cuda::context_handle* context = nullptr;
  cuda::device_number device = 0;
  int ordinal = 0;
  bool is_retained = false;
  std::size_t granularity = 512;
  cuda::pool_handle* pool = nullptr;  ///< null: cuMemAlloc lends
  pid_t process = 0;                  ///< that opened it
  char device_name[128] = "";

  std::atomic<bool> is_gone{false};         ///< the driver was unloaded, or the context destroyed
  std::atomic<bool> is_beyond_help{false};  ///< an error that stays until the process ends
  std::atomic<bool> pool_keeps{false};      ///< memory was freed to the pool since it was trimmed
  cuda::event_store events;
  mutable std::mutex text_mutex;
  cuda::error_text last_error;

 private:
  [[nodiscard]] status open_context(const cuda_options& how) noexcept;
  [[nodiscard]] status open_primary(int ordinal) noexcept;
  [[nodiscard]] status open_pool() noexcept;
};

/// While it lives the calling thread is in the device's context, and in relaxed capture mode.
///
/// Relaxed, since nothing here is meant for a capture: in the mode that threads have otherwise, a cuMemAlloc fails
/// while any thread captures, and invalidates that capture.
class cuda_scope {
 public:
  explicit cuda_scope(const cuda::driver_library& driver, cuda::context_handle* context) noexcept;
  ~cuda_scope();
  cuda_scope(const cuda_scope&) = delete;
  cuda_scope& operator=(const cuda_scope&) = delete;

  /// What the calls that make the context current answered.
  [[nodiscard]] cuda::result entered() const noexcept { return entered_; }

 private:
  const cuda::driver_library& driver_;
  cuda::result entered_ = cuda::result::success;
  bool is_pushed_ = false;
  bool is_exchanged_ = false;
  cuda::capture_mode mode_ = cuda::capture_mode::relaxed;
};

}  // namespace arcalloc
