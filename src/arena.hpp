// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "base.hpp"

namespace arcalloc::detail {

/// Host memory for bookkeeping: cut from mapped chunks, never given back before the arena dies.
///
/// Called by segment_source, the pool and thread records for their structures; calls mmap only. What
/// is cut keeps its type for ever (its users recycle it through lists of one type each), so a stale
/// block handle reads an old record, never foreign memory.
/// Concurrency: any thread; its mutex is a leaf, nothing is called while it is held.
/// Cost: a bump of a pointer; one mmap per chunk_bytes. It does not use the C++ heap and cannot throw.
class arena {
 public:
  arena() noexcept = default;
  ~arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Zeroed memory aligned to 128 bytes, or null when the host has none.
  [[nodiscard]] void* cut(std::size_t bytes) noexcept;

  /// Bytes mapped for bookkeeping so far.
  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept;

 private:
  struct chunk {
    chunk* older;
    std::size_t bytes;
  };

  mutable std::mutex mutex_;
  chunk* newest_ = nullptr;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::uint64_t mapped_bytes_ = 0;
};

}  // namespace arcalloc::detail
