// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/options.hpp>
#include <bit>
#include <iterator>

#include "base.hpp"

namespace arcalloc::detail {

/// Blocks of at most this size come in runs of their class.
inline constexpr std::uint64_t run_block_bytes_max = mebibyte;

/// Larger ones, to this size, are cut from divided segments; above it a block has a segment to itself.
inline constexpr std::uint64_t shared_bytes_max = 16 * mebibyte;

/// The finest step between classes, and the alignment of every block.
inline constexpr std::uint64_t class_step_min = 512;

/// The coarsest step: above 16 MiB times the classes per doubling, sizes round to this.
inline constexpr std::uint64_t class_step_max = 16 * mebibyte;

/// Shared classes of the finest geometry (16 per doubling): 16 below 8 KiB, then 11 doublings.
inline constexpr std::uint32_t shared_classes_max = 192;

/// Those of them that come in runs: to 1 MiB, 7 doublings.
inline constexpr std::uint32_t run_classes_max = 128;

/// Stands for "no class that comes in runs": its bin is always empty.
inline constexpr std::uint32_t no_class = run_classes_max;

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
    const auto doubling = static_cast<std::uint32_t>(std::bit_width(last | floor_mask_)) - 1;
    return ((doubling - log2_per_doubling_ - log2_step_min) << log2_per_doubling_) +
           static_cast<std::uint32_t>(last >> (doubling - log2_per_doubling_));
  }

  /// The same for any request, from two tables; no_class where no run serves it: zero bytes, more than
  /// run_block_bytes_max, and every request under `exact`.
  [[nodiscard]] std::uint32_t look_up(std::uint64_t bytes) const noexcept {
    if (bytes <= small_max) [[likely]]
      return small_[(bytes + small_step - 1) / small_step];
    return bytes <= run_block_bytes_max ? large_[(bytes + large_step - 1) / large_step] : no_class;
  }

  /// The size of a shared class: the inverse of index_of.
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t index) const noexcept;

  /// How many classes come in runs.
  [[nodiscard]] std::uint32_t run_count() const noexcept { return run_count_; }

  /// True where a divided segment serves the request.
  [[nodiscard]] bool is_divided(std::uint64_t bytes) const noexcept {
    return bytes > run_block_bytes_max && bytes <= shared_max_;
  }

  /// The size class of any request, shared or not. Requires: 0 < bytes <= request_bytes_max.
  [[nodiscard]] std::uint64_t rounded(std::uint64_t bytes) const noexcept;

  /// The largest class that is not above `bytes`: where a tight block is filed. Requires: bytes >= 512.
  [[nodiscard]] std::uint64_t rounded_down(std::uint64_t bytes) const noexcept;

 private:
  static constexpr std::uint32_t log2_step_min = 9;
  // Every class of every geometry is a multiple of the small step, and above 256 KiB of the large one.
  static constexpr std::uint64_t small_step = class_step_min;
  static constexpr std::uint64_t small_max = 256 * kibibyte;
  static constexpr std::uint64_t large_step = 16 * kibibyte;

  [[nodiscard]] std::uint64_t step_at(std::uint64_t last) const noexcept;

  geometry shape_;
  std::uint32_t log2_per_doubling_;
  std::uint64_t floor_mask_;
  std::uint64_t shared_max_;
  std::uint32_t run_count_;
  std::uint8_t small_[small_max / small_step + 1];            ///< the class of so many small steps
  std::uint8_t large_[run_block_bytes_max / large_step + 1];  ///< and of so many large ones
};

}  // namespace arcalloc::detail
