// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>

#include "arena.hpp"
#include "segment.hpp"

namespace arcalloc::detail {

/// Where segments come from: one driver allocation each. The seam for a source that maps pages.
///
/// Called by the pool on a miss and by trim; calls the backend. blank and discard: pool's mutex.
/// lend and take_back: no lock at all, since a driver call may block for as long as it likes.
/// It keeps no list and counts nothing; bytes are rounded to what the device really takes.
class segment_source {
 public:
  segment_source(backend& device, arena& memory) noexcept : device_(device), memory_(memory) {}

  [[nodiscard]] backend& device() const noexcept { return device_; }

  /// `bytes` in the device's granules, and at least in steps of 512.
  [[nodiscard]] std::uint64_t granules(std::uint64_t bytes) const noexcept;

  /// A segment without memory yet; null when the host has none for bookkeeping.
  [[nodiscard]] segment* blank(segment_use use) noexcept;
  void discard(segment& dead) noexcept;

  /// Asks the driver for `bytes` (from granules()) and makes `home` stand for them.
  [[nodiscard]] status lend(segment& home, std::uint64_t bytes, stream on, bool beside_capture) noexcept;
  [[nodiscard]] status take_back(segment& home) noexcept;

 private:
  [[nodiscard]] segment*& spare_of(segment_use use) noexcept {
    return use == segment_use::shared ? spare_shared_ : use == segment_use::divided ? spare_divided_ : spare_single_;
  }

  backend& device_;
  arena& memory_;
  segment* spare_shared_ = nullptr;  // chained through in_all
  segment* spare_divided_ = nullptr;
  segment* spare_single_ = nullptr;
};

}  // namespace arcalloc::detail
