// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/formats/event.hpp"
#include "trace/formats/live_table.hpp"
#include "trace/formats/range_set.hpp"
#include "trace/formats/trace_facts.hpp"

namespace arcalloc::trace {

/// Stands between a reader, which says what its file says, and a sink, which is told only what is consistent.
///
/// A recording may begin in the middle of an allocator's life. Readers that can go through their file twice do so: the
/// first time is a survey, which finds the blocks that are freed and were never allocated, and is told which blocks and
/// segments are there at the end; what of these was not allocated in the file was there before it. The second time
/// those come first, in the order of their addresses, marked before_recording, and then the file's own events.
/// Without a survey (from_empty, or a format that is read once) a free of what was never seen is skipped and counted.
///
/// Concurrency: one thread. Cost: a look-up or two an event, and a live_table; a survey needs besides what was there
/// before and the addresses that segments ever had.
class event_ledger {
 public:
  event_ledger(const read_options& options, trace_sink& sink, trace_facts& facts)
      : options_(options), sink_(sink), facts_(facts) {}

  [[nodiscard]] bool wants_survey() const noexcept { return !options_.from_empty; }
  [[nodiscard]] bool looks_at(std::uint32_t device) const { return !options_.device || device == *options_.device; }
  [[nodiscard]] bool is_surveying() const noexcept { return surveying_; }
  void begin_survey();
  /// While surveying, after the last event: a block or a segment that is there at the end.
  void there_at_end(const event& what);
  /// While surveying: requested bytes of the blocks of a device that were there before, as far as is known.
  [[nodiscard]] std::uint64_t bytes_before(std::uint32_t device) const;
  /// Ends a survey, if there was one, and tells the sink what was there before.
  void begin_delivery();

  /// One event as the file has it. A free and a use may leave out everything but device and id.
  /// False where it allocates an id that is live: nothing has been done then.
  [[nodiscard]] bool add(const event& what);

  /// The same for files whose ids are addresses: the block that was live there has gone without its free being
  /// recorded. It is freed now, and counted.
  void add_over(const event& what);

  /// The block that is live under that name; null where none is. For readers that check what a file says of it.
  [[nodiscard]] const live_block* find(std::uint32_t device, std::uint64_t id) const { return live_.find(device, id); }

 private:
  [[nodiscard]] bool is_left_out(const event& what);
  [[nodiscard]] bool add_block(const event& what);
  void add_free(event what);
  void add_use(event what);
  void add_segment(const event& what);
  void deliver(const event& what) {
    if (!surveying_) sink_.take(what);
  }

  const read_options& options_;
  trace_sink& sink_;
  trace_facts& facts_;
  bool surveying_ = false;
  live_table live_;
  live_table blocks_before_;  ///< while surveying
  std::vector<event> segments_before_;
  std::map<std::uint32_t, range_set> touched_;  ///< while surveying: by device, addresses that segments had so far
};

}  // namespace arcalloc::trace
