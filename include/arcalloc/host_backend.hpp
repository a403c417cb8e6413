// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include <arcalloc/backend.hpp>

namespace arcalloc {

/// A device made of host memory: mmap lends, munmap takes back, so a driver call costs a system call
/// and its page faults, and the memory of the process grows and shrinks as a device's would.
///
/// The embedded default. It enforces a device size, so that running out is real: the sum of what is
/// lent never exceeds size_bytes, even for an instant. Streams mean nothing here: work is finished
/// when the host has done it.
/// Concurrency: any thread; one atomic holds the bytes lent.
class host_backend final : public backend {
 public:
  /// A device of `size_bytes`, rounded down to whole pages. Nothing is mapped yet.
  explicit host_backend(std::uint64_t size_bytes) noexcept;

  [[nodiscard]] const char* name() const noexcept override { return "host"; }
  [[nodiscard]] std::size_t granularity() const noexcept override { return page_bytes_; }
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;
  /// There is no capture that it could disturb.
  [[nodiscard]] status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override {
    return allocate(bytes, on, address);
  }
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override;
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override;

  [[nodiscard]] bool synchronous() const noexcept override { return true; }
  // Work is finished when the host has done it: any point has passed.
  [[nodiscard]] status record_event(stream on, event& out) noexcept override;
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override;
  [[nodiscard]] status wait_event(event point) noexcept override;
  void drop_event(event point) noexcept override;

  /// Bytes lent now: what the allocator above must account for to the byte.
  [[nodiscard]] std::uint64_t lent_bytes() const noexcept { return lent_bytes_.load(std::memory_order_relaxed); }

 private:
  std::size_t page_bytes_;
  std::uint64_t size_bytes_;
  std::atomic<std::uint64_t> lent_bytes_{0};
};

}  // namespace arcalloc
