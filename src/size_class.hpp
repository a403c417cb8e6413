// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/options.hpp>
#include <bit>

#include "base.hpp"

namespace arcalloc::detail {

/// Blocks of at most this size share segments; larger ones have a segment each.
inline constexpr std::uint64_t shared_bytes_max = 16 * mebibyte;

/// The finest step between classes, and the alignment of every block.
inline constexpr std::uint64_t class_step_min = 512;

/// The coarsest step: above 16 MiB times the classes per doubling, sizes round to this.
inline constexpr std::uint64_t class_step_max = 16 * mebibyte;

/// Shared classes of the finest geometry (16 per doubling): 16 below 8 KiB, then 11 doublings.
inline constexpr std::uint32_t shared_classes_max = 192;

/// Which size a request is rounded to: (P + k) * 2^n / P for P classes per doubling, 0 <= k < P,
/// in steps of at least 512 bytes and at most 16 MiB.
///
/// Called on every request; calls nothing. Immutable, any thread. Rounding is below 1/P for requests
/// above 512 * P bytes. Geometry `exact` has no shared classes: its only step is 512 bytes.
class size_classes {
 public:
  explicit size_classes(geometry shape) noexcept;

  [[nodiscard]] geometry shape() const noexcept { return shape_; }

  /// The largest request that is served from shared segments; 0 under `exact`.
  [[nodiscard]] std::uint64_t shared_max() const noexcept { return shared_max_; }

  /// The shared class of a request. Requires: 0 < bytes <= shared_max().
  [[nodiscard]] std::uint32_t index_of(std::uint64_t bytes) const noexcept {
    const std::uint64_t last = bytes - 1;
    const auto shift = static_cast<std::uint32_t>(std::bit_width(last | floor_mask_)) - 1 - log2_per_doubling_;
    return ((shift - log2_step_min) << log2_per_doubling_) + static_cast<std::uint32_t>(last >> shift);
  }

  /// The size of a shared class: the inverse of index_of.
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t index) const noexcept;

  [[nodiscard]] std::uint32_t shared_count() const noexcept { return shared_count_; }

  /// The size class of any request, shared or not. Requires: 0 < bytes <= request_bytes_max.
  [[nodiscard]] std::uint64_t rounded(std::uint64_t bytes) const noexcept;

  /// The largest class that is not above `bytes`: where a tight block is filed. Requires: bytes >= 512.
  [[nodiscard]] std::uint64_t rounded_down(std::uint64_t bytes) const noexcept;

 private:
  static constexpr std::uint32_t log2_step_min = 9;

  [[nodiscard]] std::uint64_t step_at(std::uint64_t last) const noexcept;

  geometry shape_;
  std::uint32_t log2_per_doubling_;
  std::uint64_t floor_mask_;
  std::uint64_t shared_max_;
  std::uint32_t shared_count_;
};

}  // namespace arcalloc::detail
