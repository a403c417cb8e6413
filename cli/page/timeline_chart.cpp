// SPDX-License-Identifier: Apache-2.0
#include "timeline_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/number_text.hpp"
#include "markup.hpp"

namespace arcalloc::cli::page {

namespace {

/// A bound this many times above the highest point would flatten what is below it.
constexpr double drawn_bound_max = 2.5;

/// How many decimals tell all of them apart: the same for each, so that they line up.
int decimals_of(const std::vector<double>& ticks) {
  int most = 0;
  for (const double value : ticks) {
    int digits = 0;
    for (double scaled = value; digits < 4 && std::fabs(scaled - std::round(scaled)) > 1e-6; scaled *= 10) ++digits;
    most = std::max(most, digits);
  }
  return most;
}

double highest(const series& one) { return one.mib.empty() ? 0 : *std::max_element(one.mib.begin(), one.mib.end()); }

/// The most of each of `columns` neighbourhoods.
std::vector<double> thinned(const std::vector<double>& from, std::size_t columns) {
  if (from.size() <= columns) return from;
  std::vector<double> to(columns, 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    double& at = to[i * columns / from.size()];
    at = std::max(at, from[i]);
  }
  return to;
}

struct frame {
  chart_shape shape;
  double mib_most = 1;

  [[nodiscard]] double x(double share) const { return shape.left + share * (shape.width - shape.left - shape.right); }
  [[nodiscard]] double y(double mib) const {
    return chart_shape::top + (mib_most - mib) / mib_most * (shape.height - chart_shape::top - chart_shape::bottom);
  }
};

std::string axes(const frame& at, const std::vector<double>& y_ticks, double events) {
  const std::string right = coordinate(at.x(1));
  const int decimals = decimals_of(y_ticks);
  std::string out;
  for (const double mib : y_ticks) {
    const std::string y = coordinate(at.y(mib));
    out += std::string("<line class=\"") + (mib == 0 ? "zero" : "grid") + "\" x1=\"" + coordinate(at.shape.left) +
           "\" x2=\"" + right + "\" y1=\"" + y + "\" y2=\"" + y + "\"/><text class=\"tick\" text-anchor=\"end\" x=\"" +
           coordinate(at.shape.left - 8) + "\" y=\"" + coordinate(at.y(mib) + 4) + "\">" + fixed_text(mib, decimals) +
           "</text>\n";
  }
  const double floor = at.y(0);
  std::vector<double> x_ticks = axis_ticks(events, at.shape.labels_on_two_lines ? 3 : 6);
  while (x_ticks.size() > 1 && x_ticks.back() > events) x_ticks.pop_back();
  for (const double event : x_ticks) {
    const std::string x = coordinate(at.x(event / events));
    out += "<line class=\"zero\" x1=\"" + x + "\" x2=\"" + x + "\" y1=\"" + coordinate(floor) + "\" y2=\"" +
           coordinate(floor + 4) + "\"/><text class=\"tick\" text-anchor=\"middle\" x=\"" + x + "\" y=\"" +
           coordinate(floor + 18) + "\">" + fixed_text(event, 0) + "</text>\n";
  }
  return out + "<text class=\"axis\" x=\"0\" y=\"12\">MiB</text><text class=\"axis\" text-anchor=\"end\" x=\"" + right +
         "\" y=\"" + coordinate(at.shape.height - 6) + "\">events</text>\n";
}

std::string line_of(const series& one, const frame& at) {
  const std::vector<double> mib = thinned(one.mib, at.shape.labels_on_two_lines ? 200 : 480);
  std::string points;
  for (std::size_t i = 0; i < mib.size(); ++i) {
    // The level of a stretch, from where it begins to where it ends.
    const auto share = [&](std::size_t place) { return static_cast<double>(place) / static_cast<double>(mib.size()); };
    const std::string y = coordinate(at.y(mib[i]));
    points += coordinate(at.x(share(i))) + "," + y + " " + coordinate(at.x(share(i + 1))) + "," + y + " ";
  }
  if (!points.empty()) points.pop_back();
  return "<polyline class=\"curve s-" + escaped(one.name) + "\" points=\"" + points + "\"/>\n";
}

/// Names and peaks to the right, one below the other, the highest first.
std::string labels(std::vector<const series*> all, const frame& at) {
  std::stable_sort(all.begin(), all.end(), [](const series* a, const series* b) { return highest(*a) > highest(*b); });
  const double distance = at.shape.labels_on_two_lines ? 34 : 20;
  const std::string x = coordinate(at.x(1) + 12);
  double y = chart_shape::top + 6;
  std::string out;
  for (const series* one : all) {
    out += "<text class=\"label st-" + escaped(one->name) + "\" x=\"" + x + "\" y=\"" + coordinate(y) + "\">" +
           escaped(one->name);
    const std::string value = fixed_text(highest(*one), 2) + " MiB";
    out += at.shape.labels_on_two_lines
               ? "</text><text class=\"value\" x=\"" + x + "\" y=\"" + coordinate(y + 14) + "\">" + value + "</text>\n"
               : "<tspan class=\"value\" dx=\"6\">" + value + "</tspan></text>\n";
    y += distance;
  }
  return out;
}

}  // namespace

std::string timeline_chart(const std::vector<series>& all, const std::vector<bound_line>& bounds, double events,
                           const chart_shape& shape, const std::string& title) {
  double most = 0;
  for (const series& one : all) most = std::max(most, highest(one));
  std::vector<bound_line> drawn;
  for (const bound_line& one : bounds) {
    if (one.mib <= std::max(most, 1e-6) * drawn_bound_max) drawn.push_back(one);
  }
  for (const bound_line& one : drawn) most = std::max(most, one.mib);
  const std::vector<double> y_ticks = axis_ticks(std::max(most, 1e-3), 5);
  const frame at{shape, y_ticks.back()};
  std::string out = "<svg role=\"img\" viewBox=\"0 0 " + coordinate(shape.width) + " " + coordinate(shape.height) +
                    "\"><title>" + escaped(title) + "</title>\n" + axes(at, y_ticks, std::max(events, 1.0));
  for (const bound_line& one : drawn) {
    const std::string y = coordinate(at.y(one.mib));
    out += "<line class=\"bound\" x1=\"" + coordinate(shape.left) + "\" x2=\"" + coordinate(at.x(1)) + "\" y1=\"" + y +
           "\" y2=\"" + y + "\"/><text class=\"axis\" x=\"" + coordinate(shape.left + 6) + "\" y=\"" +
           coordinate(at.y(one.mib) - 5) + "\">" + escaped(one.name) + "</text>\n";
  }
  std::vector<const series*> named;
  for (const series& one : all) {
    out += line_of(one, at);
    named.push_back(&one);
  }
  return out + labels(std::move(named), at) + "</svg>\n";
}

}  // namespace arcalloc::cli::page
