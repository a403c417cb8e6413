// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/provenance.hpp"
#include "trace/replay/life_report.hpp"

namespace arcalloc::cli::page {

/// What the page of a trace shows.
struct trace_page_content {
  std::string file;
  std::string format;
  std::uint64_t events = 0;
  std::uint64_t trace_reserved_bytes_peak = 0;             ///< of the trace's own allocator; 0: it does not say
  std::vector<std::pair<std::string, std::string>> facts;  ///< what was read, and what was left out
  std::string policy;                                      ///< what it was played under, in words
  std::uint64_t device_bytes = 0;
  trace::life_report life;
  provenance from;
};

/// The trace's life under arcalloc as one HTML page that stands alone: it fetches nothing and runs no script.
std::string trace_page(const trace_page_content& content);

}  // namespace arcalloc::cli::page
