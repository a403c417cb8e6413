// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <compare>
#include <string>
#include <vector>

namespace arcalloc::testing {

/// A live block as its record has it.
struct audited_block {
  const void* address = nullptr;
  std::uint64_t requested_bytes = 0;
  friend auto operator<=>(const audited_block&, const audited_block&) = default;
};

/// What an independent walk over every segment, run and block record finds. Bytes.
struct audit_result {
  std::vector<std::string> violations;  ///< empty: all structures agree with each other
  std::vector<audited_block> live;      ///< by address
  std::uint64_t requested_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t cached_bytes = 0;
  std::uint64_t slack_bytes = 0;
  std::uint64_t pending_bytes = 0;
  std::uint64_t pinned_bytes = 0;
  std::uint64_t stuck_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t blocks_live = 0;
  std::uint64_t blocks_pending = 0;
  std::uint64_t blocks_idle = 0;
  std::uint64_t segments = 0;
  std::uint64_t largest_segment_bytes = 0;
  bool capturing = false;               ///< a window is open: the cached max binds again when it closes
  std::uint64_t oversize_bytes = 0;     ///< of live large blocks, beyond what their requests need
  std::uint64_t slack_bound_bytes = 0;  ///< the most that its blocks allow, see docs/statistics.md
};

/// Walks without using any counter. Requires quiescence: no other thread is in a call.
[[nodiscard]] audit_result audit(const allocator& subject);

/// The counters, read at the time of the walk, against it. Every disagreement is a line, after those of the walk.
[[nodiscard]] std::vector<std::string> disagreements(audit_result walk, const counters& said);

/// What the bookkeeping says of the block that starts at an address. All 0 where none does; nothing requested where it
/// is idle or pending.
struct block_reading {
  std::uint64_t requested_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t on = 0;  ///< the stream of its segment
};
[[nodiscard]] block_reading read_block(const allocator& subject, const void* address);

/// Host memory mapped for bookkeeping, the block table's aside.
[[nodiscard]] std::uint64_t bookkeeping_bytes(const allocator& subject);

/// audit(), and I1, I2 and I3 of the counters against it. Every disagreement is a line. For a capacity that
/// was never lowered: the peak of reserved is held against it.
[[nodiscard]] std::vector<std::string> check_invariants(const allocator& subject);

}  // namespace arcalloc::testing
