// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace arcalloc::trace {

/// What is remembered of a live block.
struct live_block {
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint64_t ordinal = 0;  ///< the how manieth allocate of the trace it was, where someone counts
  std::uint32_t device = 0;
};

/// The blocks that are live at one moment of a trace, by device and id.
///
/// Called for every allocate and free of readers, counters and writers. Concurrency: one thread. Cost: one probe or a
/// few in one array, 56 bytes a slot, twice as many slots as blocks were ever live at once; nothing is kept of the
/// dead. Pointers that it returns are good until the next insert or take_out.
class live_table {
 public:
  /// The block; null where none of that name is live.
  [[nodiscard]] const live_block* find(std::uint32_t device, std::uint64_t id) const noexcept;
  /// False, and nothing is changed, where one of that name is live.
  bool insert(const live_block& what);
  /// Takes the block out; nothing where none of that name is live.
  std::optional<live_block> take_out(std::uint32_t device, std::uint64_t id) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void clear();

  template <class Visitor>
  void for_each(Visitor visit) const {
    for (const slot& one : slots_) {
      if (one.is_live) visit(one.block);
    }
  }

 private:
  struct slot {
    live_block block;
    bool is_live = false;
  };

  [[nodiscard]] std::size_t home_of(std::uint32_t device, std::uint64_t id) const noexcept;
  /// Where the block is, or the free slot where it would go.
  [[nodiscard]] std::size_t place_of(std::uint32_t device, std::uint64_t id) const noexcept;
  void grow();

  std::vector<slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace arcalloc::trace
