// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace arcalloc::cli {

/// False where this program was built without prometheus-cpp.
[[nodiscard]] bool has_metrics_server() noexcept;

/// A label of every series: name and value.
struct series_label {
  std::string name;
  std::string value;
};

/// Serves the counters of one allocator at http://127.0.0.1:PORT/metrics while it lives, by prometheus-cpp, which
/// answers on threads of its own. The series are those of format_metrics.
class metrics_server {
 public:
  /// The allocator outlives it. Throws command_failure, exit status 2, where the port cannot be had.
  metrics_server(std::uint16_t port, const allocator& memory, std::vector<series_label> labels);
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;
  ~metrics_server();

 private:
  struct serving;
  std::unique_ptr<serving> serving_;
};

}  // namespace arcalloc::cli
