// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <arcalloc/sim_backend.hpp>

namespace arcalloc::decode {

/// What operations compute with; it decides at which peak.
enum class precision { single_32, half_16, byte_8 };

/// A card in numbers. docs/decode.md says where each is from.
struct device_model {
  const char* name;
  std::uint64_t memory_bytes;
  double bytes_per_s;          ///< of its memory
  double single_operations_s;  ///< peak, dense: single precision, without tensor cores
  double half_operations_s;    ///< bf16
  double byte_operations_s;    ///< fp8, or bf16 where the card has no fp8
  std::uint64_t operation_ns;  ///< what an operation costs the host: the engine's part and the launch

  [[nodiscard]] double operations_per_s(precision with) const noexcept;
};

/// Which of the driver's calls memory comes from, and so what it costs.
enum class driver_calls {
  stream_ordered,  ///< cuMemAllocAsync and its like
  synchronous,     ///< cuMemAlloc and cuMemFree
};

struct driver_cost {
  std::uint64_t allocate_ns;
  std::uint64_t free_ns;
};

[[nodiscard]] driver_cost cost_of(driver_calls by) noexcept;

/// All of them.
[[nodiscard]] std::span<const device_model> device_models() noexcept;

/// Null where none has the name.
[[nodiscard]] const device_model* find_device_model(const std::string& name) noexcept;

/// The simulated device that the card is, with nobody else on it.
[[nodiscard]] sim_options options_of(const device_model& card, driver_calls by, std::size_t granularity);

}  // namespace arcalloc::decode
