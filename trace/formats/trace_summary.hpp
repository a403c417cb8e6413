// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "trace/formats/event.hpp"
#include "trace/formats/live_table.hpp"

namespace arcalloc::trace {

/// Counts what a trace holds, and passes it on. Concurrency: one thread. Cost: a live_table.
///
/// `blocks_hash` is over the allocates and frees in their order: which block (by the number of its allocate), bytes,
/// stream, microsecond. Two formats that tell the same life of an allocator come to the same, whatever their ids.
class trace_summary final : public trace_sink {
 public:
  /// `next` may be null.
  explicit trace_summary(trace_sink* next = nullptr) : next_(next) {}
  void take(const event& what) override;

  [[nodiscard]] std::uint64_t count(event_kind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t allocates_before() const noexcept { return allocates_before_; }
  [[nodiscard]] std::uint64_t blocks_at_end() const noexcept { return live_.size(); }
  /// Over all devices together. Reserved is what the trace's own allocator says it had; 0 where it says nothing.
  [[nodiscard]] std::uint64_t requested_bytes_peak() const noexcept { return requested_peak_; }
  [[nodiscard]] std::uint64_t reserved_bytes_peak() const noexcept { return reserved_peak_; }
  [[nodiscard]] std::uint64_t blocks_hash() const noexcept { return hash_; }

 private:
  void count_block(const event& what);
  void mix(std::uint64_t value);

  trace_sink* next_;
  std::array<std::uint64_t, event_kind_count> counts_{};
  live_table live_;
  std::uint64_t events_ = 0;
  std::uint64_t allocates_before_ = 0;
  std::uint64_t next_ordinal_ = 0;
  std::uint64_t requested_ = 0;
  std::uint64_t requested_peak_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t reserved_peak_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace arcalloc::trace
