// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "growth_chart.hpp"

namespace arcalloc::cli::page {

/// Bytes over the events of a trace: point i is the most over the i-th of equally long stretches.
struct series {
  std::string name;  ///< labels it, and picks its colour and dash
  std::vector<double> mib;
};

/// A level that a series is to stay below.
struct bound_line {
  std::string name;
  double mib = 0;
};

/// Several series over one axis, as one inline SVG. Where there are more points than the drawing has room for, the most
/// of neighbours is drawn: no peak is left out. A bound far above everything is said in words instead of drawn.
/// `events`: at the right end. `title` is for readers who do not see it.
std::string timeline_chart(const std::vector<series>& all, const std::vector<bound_line>& bounds, double events,
                           const chart_shape& shape, const std::string& title);

}  // namespace arcalloc::cli::page
