// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/arcalloc.h>
#include <arcalloc/backend.hpp>

namespace arcalloc::detail {

/// A device whose calls are a C caller's functions.
///
/// Made by arcalloc_device_create, called by the allocator as any backend.
/// Concurrency: any thread; it is constant after its creation.
/// It believes the caller's functions no more than it must: a status that no device can mean, a null
/// or misaligned address, event 0 and an answer that is no truth value are backend_failed.
/// Cost: one indirect call more. It does not count, cache or lock.
class caller_backend final : public backend {
 public:
  /// Whether the functions that a device needs are there, and its granule and flags are possible.
  [[nodiscard]] static bool complete(const arcalloc_backend& functions) noexcept;

  /// Requires: complete(functions).
  explicit caller_backend(const arcalloc_backend& functions) noexcept;

  [[nodiscard]] const char* name() const noexcept override { return name_; }
  [[nodiscard]] std::size_t granularity() const noexcept override {
    return static_cast<std::size_t>(functions_.granularity);
  }
  [[nodiscard]] bool synchronous() const noexcept override { return functions_.synchronous != 0; }
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override;
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override;
  [[nodiscard]] status record_event(stream on, event& out) noexcept override;
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override;
  [[nodiscard]] status wait_event(event point) noexcept override;
  void drop_event(event point) noexcept override;

 private:
  using lending_function = decltype(arcalloc_backend::allocate);
  [[nodiscard]] status lend(lending_function from, std::size_t bytes, stream on, void*& address) noexcept;

  arcalloc_backend functions_;
  char name_[64];
};

}  // namespace arcalloc::detail
