// SPDX-License-Identifier: Apache-2.0
#include "budget.hpp"

#include <algorithm>

namespace arcalloc::detail {

cap_arithmetic derive_cap(const memory_info& device, std::uint64_t own_cached_bytes) noexcept {
  cap_arithmetic out;
  out.cap_source = ARCALLOC_CAP_DERIVED;
  out.driver_free_bytes = device.free_bytes;
  out.own_cached_bytes = own_cached_bytes;
  // A driver that reports more free than total must not widen the bound, nor may the sum wrap.
  const std::uint64_t free_bytes = std::min(device.free_bytes, device.total_bytes);
  out.free_bytes =
      std::min(free_bytes + std::min(own_cached_bytes, device.total_bytes - free_bytes), device.total_bytes);
  out.reserve_bytes = std::min(256 * mebibyte, out.free_bytes / 4);
  out.cached_bytes_max = std::min(gibibyte, (out.free_bytes - out.reserve_bytes) / 2);
  return out;
}

}  // namespace arcalloc::detail
