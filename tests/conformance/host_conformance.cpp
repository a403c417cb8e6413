// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/host_backend.hpp>

#include "backend_conformance.hpp"

namespace arcalloc::testing {

INSTANTIATE_TEST_SUITE_P(host, backend_conformance,
                         ::testing::Values(backend_candidate{
                             .name = "host",
                             .make = [] { return std::make_unique<host_backend>(std::uint64_t{64} << 20); },
                             .complaints =
                                 [](backend& device) {
                                   std::vector<std::string> found;
                                   if (static_cast<host_backend&>(device).lent_bytes() != 0) {
                                     found.emplace_back("memory is still lent");
                                   }
                                   return found;
                                 },
                         }),
                         name_of);

}  // namespace arcalloc::testing
