// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/cuda_backend.hpp>
#include <atomic>

namespace arcalloc::preload {

/// The stream of memory that was asked for without one: all work on what is idle there has finished. No stream of a
/// driver has this number, since it is nobody's address.
inline constexpr stream settled_stream{16};

/// A context's device, below which nobody waits for settled memory.
///
/// Called by the allocator as any backend; passes on to the cuda backend, but for events of the settled stream, which
/// have all passed, and for a context that is no more: its memory is gone, and nothing is asked. Concurrency: any
/// thread.
class context_device final : public backend {
 public:
  [[nodiscard]] status open(const cuda_options& how) noexcept { return below_->open(how); }
  [[nodiscard]] const cuda_backend& below() const noexcept { return *below_; }
  void forget() noexcept { is_gone_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] const char* name() const noexcept override { return "cuda"; }
  [[nodiscard]] std::size_t granularity() const noexcept override { return below_->granularity(); }
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override;
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override;
  [[nodiscard]] status record_event(stream on, event& out) noexcept override;
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override;
  [[nodiscard]] status wait_event(event point) noexcept override;
  void drop_event(event point) noexcept override;
  void trim() noexcept override;

 private:
  [[nodiscard]] bool is_gone() const noexcept { return is_gone_.load(std::memory_order_relaxed); }

  // Never destroyed: it would call on its context, which may be gone by then.
  cuda_backend* below_ = new cuda_backend;
  std::atomic<bool> is_gone_{false};
};

}  // namespace arcalloc::preload
