// SPDX-License-Identifier: Apache-2.0
#include "size_class.hpp"

#include <algorithm>

namespace arcalloc {

const char* geometry_name(geometry value) noexcept {
  switch (value) {
    case geometry::classes_1:
      return "1";
    case geometry::classes_2:
      return "2";
    case geometry::classes_4:
      return "4";
    case geometry::classes_8:
      return "8";
    case geometry::classes_16:
      return "16";
    case geometry::exact:
      return "exact";
  }
  return "unknown_geometry";
}

}  // namespace arcalloc

namespace arcalloc::detail {

namespace {

std::uint32_t log2_classes(geometry shape) noexcept {
  switch (shape) {
    case geometry::classes_1:
      return 0;
    case geometry::classes_2:
      return 1;
    case geometry::classes_4:
      return 2;
    case geometry::classes_8:
      return 3;
    case geometry::classes_16:
      return 4;
    case geometry::exact:
      return 0;
  }
  return 3;
}

}  // namespace

size_classes::size_classes(geometry shape) noexcept
    : shape_(shape),
      log2_per_doubling_(log2_classes(shape)),
      floor_mask_(class_step_min << log2_per_doubling_),
      shared_max_(shape == geometry::exact ? 0 : shared_bytes_max),
      run_count_(shared_max_ == 0 ? 0 : index_of(run_block_bytes_max) + 1) {
  ARCALLOC_ASSERT(run_count_ <= run_classes_max);
  ARCALLOC_ASSERT(shared_max_ == 0 || index_of(shared_max_) < shared_classes_max);
  const auto class_of = [this](std::uint64_t bytes) {
    return static_cast<std::uint8_t>(bytes != 0 && bytes <= std::min(shared_max_, run_block_bytes_max) ? index_of(bytes)
                                                                                                       : no_class);
  };
  for (std::uint64_t steps = 0; steps < std::size(small_); ++steps) small_[steps] = class_of(steps * small_step);
  for (std::uint64_t steps = 0; steps < std::size(large_); ++steps) large_[steps] = class_of(steps * large_step);
}

std::uint64_t size_classes::bytes_of(std::uint32_t index) const noexcept {
  const std::uint32_t per_doubling = 1U << log2_per_doubling_;
  // The first two doublings' worth of classes are 512 bytes apart; each further doubling doubles the step.
  const std::uint32_t doubling = index < 2 * per_doubling ? 0 : (index >> log2_per_doubling_) - 1;
  const std::uint64_t steps = index - (doubling << log2_per_doubling_) + 1;
  return steps << (log2_step_min + doubling);
}

std::uint64_t size_classes::step_at(std::uint64_t last) const noexcept {
  if (shape_ == geometry::exact) return class_step_min;
  const auto log2_step = static_cast<std::uint32_t>(std::bit_width(last | floor_mask_)) - 1 - log2_per_doubling_;
  return std::min(std::uint64_t{1} << log2_step, class_step_max);
}

std::uint64_t size_classes::rounded(std::uint64_t bytes) const noexcept { return round_up(bytes, step_at(bytes - 1)); }

std::uint64_t size_classes::rounded_down(std::uint64_t bytes) const noexcept {
  const std::uint64_t step = step_at(bytes);
  return bytes / step * step;
}

}  // namespace arcalloc::detail
