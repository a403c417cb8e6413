// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace arcalloc::trace {

/// The texts of a snapshot that mean something to us: keys, actions and states.
enum class snapshot_word : std::uint8_t {
  other,
  // keys
  segments,
  device_traces,
  blocks,
  action,
  addr,
  address,
  size,
  total_size,
  requested_size,
  stream,
  time_us,
  device,
  device_free,
  is_expandable,
  state,
  // actions
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
  // states of a block; "active" is PyTorch's word for what a caller has
  allocated_state,
  pending_state,
  idle_state,
};

[[nodiscard]] snapshot_word snapshot_word_of(std::string_view text) noexcept;

}  // namespace arcalloc::trace
