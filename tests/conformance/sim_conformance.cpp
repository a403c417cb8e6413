// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/sim_backend.hpp>

#include "backend_conformance.hpp"

namespace arcalloc::testing {
namespace {

backend_candidate simulated(const std::string& name, const sim_options& settings) {
  return {.name = name,
          .make = [settings] { return std::make_unique<sim_backend>(settings); },
          .complaints =
              [](backend& device) {
                auto& simulated_device = static_cast<sim_backend&>(device);
                simulated_device.convict_leaks();
                return simulated_device.convictions();
              }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(sim, backend_conformance,
                         ::testing::Values(simulated("sim", {.memory_bytes = std::uint64_t{64} << 20}),
                                           simulated("sim_small_granule",
                                                     {.memory_bytes = std::uint64_t{64} << 20, .granularity = 64}),
                                           simulated("sim_large_granule", {.memory_bytes = std::uint64_t{1} << 30,
                                                                           .others_bytes = std::uint64_t{100} << 20,
                                                                           .granularity = std::size_t{2} << 20})),
                         name_of);

}  // namespace arcalloc::testing
