// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/formats/address_layout.hpp"
#include "trace/formats/byte_sink.hpp"
#include "trace/formats/event.hpp"
#include "trace/formats/live_table.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/pickle_writer.hpp"
#include "trace/formats/range_set.hpp"
#include "trace/formats/spool.hpp"

namespace arcalloc::trace {

/// Writes a memory snapshot as PyTorch does, for its viewer and its tools.
///
/// Written are allocates, frees (as asked for and completed), segments, refusals and snapshots; other kinds of event
/// are left out and counted. Stacks of frames are empty. Blocks that are live at the end stand in their segments; what
/// was there before the recording stands nowhere else, as in PyTorch's own. The viewer needs a segment around every
/// block: blocks whose trace names none are put into segments that are there from beginning to end, and blocks without
/// addresses get some, one after the other.
///
/// A snapshot has a list per device, so events are put aside in the own format until the end. Concurrency: one thread.
/// Cost: what is live, the segments, and a temporary file of about ten bytes an event.
class snapshot_writer final : public trace_sink {
 public:
  explicit snapshot_writer(byte_sink& out) : out_(out) {}
  void take(const event& what) override;
  /// Writes the file.
  void finish();
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  static constexpr std::uint32_t devices_max = 1024;

  /// What is put aside of one device, and what is there now.
  struct device_state {
    spool aside;
    own_writer events{aside};
    address_layout layout;
    std::map<std::uint64_t, event> segments;  ///< by address, as they were obtained; mapped ones in `mapped`
    range_set reserved;                       ///< segments and mapped parts of segments
    range_set mapped;
    range_set made_up;  ///< where blocks are and no segment was
  };

  void take_allocate(event what, device_state& device);
  void take_free(const event& what, device_state& device);
  void take_segment(const event& what, device_state& device);
  [[nodiscard]] device_state& device_of(const event& what);

  byte_sink& out_;
  std::map<std::uint32_t, device_state> devices_;
  live_table live_;  ///< with the addresses they are written with
  std::uint64_t events_ = 0;
  std::uint64_t left_out_ = 0;

  friend class snapshot_text;
};

}  // namespace arcalloc::trace
