// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace arcalloc::cli::page {

/// One curve: memory above the start against tokens done.
struct curve {
  struct point {
    double tokens = 0;
    double mib = 0;
  };
  std::string leg;            ///< names it, and picks its colour and dash
  std::vector<point> points;  ///< in the order of tokens
  bool died = false;          ///< marks the end
};

/// The size of a drawing and how much room its labels get, in the units of its view box.
struct chart_shape {
  double width = 0;
  double height = 0;
  double left = 0;
  double right = 0;
  bool labels_on_two_lines = false;

  static constexpr double top = 28;
  static constexpr double bottom = 46;
};

/// Growth curves as one inline SVG, labelled directly at the end of each curve. Every curve has its
/// own colour and dash, so that it can be told apart without colours too. `title` is for readers who
/// do not see it.
std::string growth_chart(const std::vector<curve>& curves, const chart_shape& shape, const std::string& title);

/// Round numbers from 0 to at least `most`, about `wanted` steps: 1, 2, 2.5 or 5 times a power of ten.
std::vector<double> axis_ticks(double most, int wanted);

}  // namespace arcalloc::cli::page
