// SPDX-License-Identifier: Apache-2.0
// Stands in for metrics_server.cpp where prometheus-cpp is not installed.
#include "exit_status.hpp"
#include "metrics_server.hpp"

namespace arcalloc::cli {

struct metrics_server::serving {};

bool has_metrics_server() noexcept { return false; }

metrics_server::metrics_server(std::uint16_t, const allocator&, std::vector<series_label>) {
  throw command_failure{exit_status::bad_usage, "--metrics: this program was built without prometheus-cpp"};
}

metrics_server::~metrics_server() = default;

}  // namespace arcalloc::cli
