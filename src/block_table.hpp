// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "segment.hpp"

namespace arcalloc::detail {

/// Address -> segment, for frees by pointer: an open-addressed hash of 2 MiB units for shared
/// segments and of base addresses for those of one block. Neighbouring units have neighbouring slots.
///
/// Written by the pool, under its mutex, when a segment comes or goes; read by anybody, without a
/// lock, on every free by pointer. A reader that holds a live block's address always finds it: its
/// entry is not touched while the block is live. For any other address the answer may be stale, and
/// the caller checks it under the segment's lock; segments keep their type, so that is safe.
/// Outgrown tables stay mapped until drop_outgrown: somebody may be reading one.
/// Cost: one or two probes; a write costs one probe per 2 MiB.
class block_table {
 public:
  block_table() noexcept;
  ~block_table();
  block_table(const block_table&) = delete;
  block_table& operator=(const block_table&) = delete;

  /// Makes sure that a segment of `bytes` can be inserted. False when the host has no memory.
  [[nodiscard]] bool try_reserve(std::uint64_t bytes) noexcept;

  /// Requires: try_reserve(home.bytes) was true since the last insert.
  void insert(segment& home) noexcept;
  void remove(segment& home) noexcept;

  [[nodiscard]] bool has_outgrown() const noexcept {
    const table* const now = current_.load(std::memory_order_relaxed);
    return now->older != nullptr && now->older->older != nullptr;
  }
  /// Requires: nobody reads meanwhile.
  void drop_outgrown() noexcept;

  /// The segment that holds a block starting at `address`, or null.
  [[nodiscard]] segment* find(const void* address) const noexcept;

  /// The segment whose entry is the first that is looked at for `address`; no_segment where there is none. The
  /// caller sees whether it is the right one, by whose it is and whether the address lies in it.
  [[nodiscard]] segment& first_for(const void* address) const noexcept {
    const table& in = *current_.load(std::memory_order_acquire);
    return *in.homes()[(reinterpret_cast<std::uint64_t>(address) >> unit_shift) & in.mask].load(
        std::memory_order_acquire);
  }

 private:
  static constexpr std::uint32_t unit_shift = 21;  // 2 MiB: the smallest shared segment

  /// Odd and above 1; the keys of base addresses are even.
  [[nodiscard]] static std::uint64_t unit_key(std::uint64_t unit) noexcept { return 2 * unit + 3; }

  /// What a slot says of its segment, which stands at the same place of homes().
  struct entry {
    std::atomic<std::uint64_t> key{0};  ///< 0: never used; 1: removed
    std::atomic<std::uint64_t> begin{0};
    std::atomic<std::uint64_t> end{0};
  };
  using segment_slot = std::atomic<segment*>;

  /// mask + 1 slots, a power of two. Their homes and then their entries follow the header in the same mapping.
  struct alignas(entry) table {
    table* older;
    std::size_t mapped_bytes;
    std::uint64_t mask;
    [[nodiscard]] const segment_slot* homes() const noexcept { return reinterpret_cast<const segment_slot*>(this + 1); }
    [[nodiscard]] segment_slot* homes() noexcept { return reinterpret_cast<segment_slot*>(this + 1); }
    [[nodiscard]] const entry* entries() const noexcept { return reinterpret_cast<const entry*>(homes() + mask + 1); }
    [[nodiscard]] entry* entries() noexcept { return reinterpret_cast<entry*>(homes() + mask + 1); }
  };

  struct empty_table;
  static empty_table nothing;  ///< what a block table looks in before its first segment; the oldest of all

  template <class Visit>
  static void for_each_key(const segment& home, Visit visit) noexcept;
  [[nodiscard]] static std::uint64_t slot_of(std::uint64_t key) noexcept;
  [[nodiscard]] static segment* probe(const table& in, std::uint64_t key, std::uint64_t address) noexcept;
  void place(table& in, std::uint64_t key, segment& home) noexcept;
  [[nodiscard]] bool grow(std::uint64_t entries_wanted) noexcept;

  std::atomic<table*> current_;
  std::uint64_t filled_ = 0;  ///< entries that are not 0: live and removed
  std::uint64_t live_ = 0;
};

}  // namespace arcalloc::detail
