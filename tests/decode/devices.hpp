// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>

namespace arcalloc::decode {

/// A host device that refuses the n-th request for memory, counted from 1, and all after it.
class refusing_backend final : public backend {
 public:
  refusing_backend(std::uint64_t size_bytes, std::uint64_t refuse_from) noexcept
      : host_(size_bytes), refuse_from_(refuse_from) {}

  [[nodiscard]] const char* name() const noexcept override { return "refusing"; }
  [[nodiscard]] std::size_t granularity() const noexcept override { return host_.granularity(); }
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override { return host_.free(address, bytes); }
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override { return host_.query_memory(out); }
  [[nodiscard]] std::uint64_t lent_bytes() const noexcept { return host_.lent_bytes(); }

 private:
  host_backend host_;
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
