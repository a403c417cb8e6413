// SPDX-License-Identifier: Apache-2.0
#include "decode/device_model.hpp"

#include <algorithm>
#include <array>

namespace arcalloc::decode {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr double tera = 1e12;

constexpr std::array models{
    device_model{.name = "h200",
                 .memory_bytes = 143'771 * mebibyte,
                 .bytes_per_s = 4.8 * tera,
                 .single_operations_s = 67 * tera,
                 .half_operations_s = 989 * tera,
                 .byte_operations_s = 1979 * tera,
                 .operation_ns = 4'600},
    device_model{.name = "h100",
                 .memory_bytes = 81'559 * mebibyte,
                 .bytes_per_s = 3.35 * tera,
                 .single_operations_s = 67 * tera,
                 .half_operations_s = 989 * tera,
                 .byte_operations_s = 1979 * tera,
                 .operation_ns = 4'600},
    device_model{.name = "a100",
                 .memory_bytes = 81'920 * mebibyte,
                 .bytes_per_s = 2.039 * tera,
                 .single_operations_s = 19.5 * tera,
                 .half_operations_s = 312 * tera,
                 .byte_operations_s = 312 * tera,
                 .operation_ns = 4'600},
    device_model{.name = "4090",
                 .memory_bytes = 24'564 * mebibyte,
                 .bytes_per_s = 1.008 * tera,
                 .single_operations_s = 82.6 * tera,
                 .half_operations_s = 165.2 * tera,
                 .byte_operations_s = 330.3 * tera,
                 .operation_ns = 4'600},
};

}  // namespace

double device_model::operations_per_s(precision with) const noexcept {
  switch (with) {
    case precision::single_32:
      return single_operations_s;
    case precision::half_16:
      return half_operations_s;
    case precision::byte_8:
      return byte_operations_s;
  }
  return single_operations_s;
}

driver_cost cost_of(driver_calls by) noexcept {
  if (by == driver_calls::stream_ordered) return {.allocate_ns = 400, .free_ns = 300};
  return {.allocate_ns = 50'000, .free_ns = 100'000};
}

std::span<const device_model> device_models() noexcept { return models; }

const device_model* find_device_model(const std::string& name) noexcept {
  const auto* found = std::find_if(models.begin(), models.end(), [&](const auto& each) { return name == each.name; });
  return found == models.end() ? nullptr : found;
}

sim_options options_of(const device_model& card, driver_calls by, std::size_t granularity) {
  const driver_cost cost = cost_of(by);
  sim_options device;
  device.memory_bytes = card.memory_bytes;
  device.granularity = granularity;
  device.allocate_ns = cost.allocate_ns;
  device.free_ns = cost.free_ns;
  // The driver orders a stream-ordered free behind the work of its stream: no event is needed for it.
  device.synchronous = by == driver_calls::stream_ordered;
  return device;
}

}  // namespace arcalloc::decode
