// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "segment.hpp"

namespace arcalloc::detail {

/// Address -> segment, for frees by pointer: an open-addressed hash of 2 MiB units for shared
/// segments and of base addresses for those of one block.
///
/// Written by the pool, under its mutex, when a segment comes or goes; read by anybody, without a
/// lock, on every free by pointer. A reader that holds a live block's address always finds it: its
/// entry is not touched while the block is live. For any other address the answer may be stale, and
/// the caller checks it under the segment's lock; segments keep their type, so that is safe.
/// Outgrown tables stay mapped until the end (together no larger than the last).
/// Cost: one or two probes; a write costs one probe per 2 MiB.
class block_table {
 public:
  block_table() noexcept = default;
  ~block_table();
  block_table(const block_table&) = delete;
  block_table& operator=(const block_table&) = delete;

  /// Makes sure that a segment of `bytes` can be inserted. False when the host has no memory.
  [[nodiscard]] bool try_reserve(std::uint64_t bytes) noexcept;

  /// Requires: try_reserve(home.bytes) was true since the last insert.
  void insert(segment& home) noexcept;
  void remove(segment& home) noexcept;

  /// The segment that holds a block starting at `address`, or null.
  [[nodiscard]] segment* find(const void* address) const noexcept;

 private:
  struct entry {
    std::atomic<std::uint64_t> key;  ///< 0: never used; 1: removed
    std::atomic<std::uint64_t> begin;
    std::atomic<std::uint64_t> end;
    std::atomic<segment*> home;
  };
  struct alignas(entry) table {
    table* older;
    std::size_t mapped_bytes;
    std::uint64_t mask;
    /// The entries follow the header in the same mapping: mask + 1 of them, a power of two.
    [[nodiscard]] entry& at(std::uint64_t slot) noexcept { return reinterpret_cast<entry*>(this + 1)[slot & mask]; }
    [[nodiscard]] const entry& at(std::uint64_t slot) const noexcept {
      return reinterpret_cast<const entry*>(this + 1)[slot & mask];
    }
  };

  template <class Visit>
  static void for_each_key(const segment& home, Visit visit) noexcept;
  [[nodiscard]] static segment* probe(const table& in, std::uint64_t key, std::uint64_t address) noexcept;
  void place(table& in, std::uint64_t key, segment& home) noexcept;
  [[nodiscard]] bool grow(std::uint64_t entries_wanted) noexcept;

  std::atomic<table*> current_{nullptr};
  std::uint64_t filled_ = 0;  ///< entries that are not 0: live and removed
  std::uint64_t live_ = 0;
};

}  // namespace arcalloc::detail
