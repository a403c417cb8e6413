// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "decode/serving_report.hpp"

namespace arcalloc::decode {

/// What only a load on simulated cards has to say of itself.
struct load_report {
  std::uint64_t ranks = 1;
  std::uint64_t slowest_rank = 0;              ///< the one that the others waited for longest
  std::uint64_t weight_bytes = 0;              ///< of all ranks, as requested
  std::uint64_t step_ns_worst = 0;             ///< of a decode step
  std::uint64_t driver_ns_step_worst = 0;      ///< the driver's calls in a step, on one rank
  std::uint64_t driver_ns_step_p99 = 0;        ///< of a hundred steps, 99 had no more
  std::uint64_t reserved_bytes_peak_most = 0;  ///< of one rank
  std::optional<serving_report> serving{};
};

}  // namespace arcalloc::decode
