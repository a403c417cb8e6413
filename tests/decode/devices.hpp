// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>

namespace arcalloc::decode {

/// A host device to derive from, for one that behaves otherwise in some call.
class altered_host : public backend {
 public:
  explicit altered_host(std::uint64_t size_bytes) noexcept : host_(size_bytes) {}

  [[nodiscard]] const char* name() const noexcept override { return "altered"; }
  [[nodiscard]] std::size_t granularity() const noexcept override { return host_.granularity(); }
  [[nodiscard]] bool synchronous() const noexcept override { return true; }
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override {
    return host_.allocate(bytes, on, address);
  }
  [[nodiscard]] status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override {
    return allocate(bytes, on, address);
  }
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override { return host_.free(address, bytes); }
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override { return host_.query_memory(out); }
  [[nodiscard]] status record_event(stream on, event& out) noexcept override { return host_.record_event(on, out); }
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override {
    return host_.query_event(point, finished);
  }
  [[nodiscard]] status wait_event(event point) noexcept override { return host_.wait_event(point); }
  void drop_event(event point) noexcept override { host_.drop_event(point); }
  [[nodiscard]] std::uint64_t lent_bytes() const noexcept { return host_.lent_bytes(); }

 private:
  host_backend host_;
};

/// Refuses the n-th request for memory, counted from 1, and all after it.
class refusing_backend final : public altered_host {
 public:
  refusing_backend(std::uint64_t size_bytes, std::uint64_t refuse_from) noexcept
      : altered_host(size_bytes), refuse_from_(refuse_from) {}

  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;

 private:
  std::uint64_t refuse_from_;
  std::uint64_t asked_ = 0;
};

/// An allocator over `device`; the test fails where there can be none.
[[nodiscard]] allocator_ptr make_allocator(backend& device, const options& settings = {});

[[nodiscard]] counters counters_of(const allocator& memory);

/// The legs of a decode run.
[[nodiscard]] options options_off();
[[nodiscard]] options options_unbounded();

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

}  // namespace arcalloc::decode
