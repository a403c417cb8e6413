// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <arcalloc/counters.hpp>
#include <arcalloc/status.hpp>

namespace arcalloc {

/// The counters of one allocator, and how its series are told from those of others.
struct metrics_source {
  counters values{};
  /// Labels as Prometheus writes them between braces, such as `device="0",rank="1"`; null or empty: none. Within the
  /// quotes a backslash, a quote and a newline are written \\, \" and \n.
  const char* labels = nullptr;
};

/// Writes the counters of several allocators in Prometheus' text format 0.0.4, for the engine's own /metrics page. A
/// count is `arcalloc_NAME_total`, a gauge `arcalloc_NAME`, bytes as they are; a bound that is not set is +Inf.
/// Writes as snprintf does: at most `capacity` bytes with the final zero, the whole text's length in `length`; null
/// with capacity 0 asks for the length. invalid_argument, and nothing written, where labels are not well-formed or
/// `text` or `sources` is null and may not be.
/// Format: https://prometheus.io/docs/instrumenting/exposition_formats/
[[nodiscard]] status format_metrics(const metrics_source* sources, std::size_t count, char* text, std::size_t capacity,
                                    std::size_t& length) noexcept;

}  // namespace arcalloc
