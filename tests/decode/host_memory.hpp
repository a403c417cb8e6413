// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace arcalloc::decode {

/// Counts what this program asks of the host's heap while it lives: operator new everywhere, and
/// malloc and its kin in what is linked statically, which are the decoder and the allocator.
class host_memory_watch {
 public:
  host_memory_watch() noexcept;
  ~host_memory_watch();
  host_memory_watch(const host_memory_watch&) = delete;
  host_memory_watch& operator=(const host_memory_watch&) = delete;

  [[nodiscard]] std::size_t requests() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
};

}  // namespace arcalloc::decode
