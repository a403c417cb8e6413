// SPDX-License-Identifier: Apache-2.0
#include "growth_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/number_text.hpp"
#include "markup.hpp"

namespace arcalloc::cli::page {

namespace {

std::string tick_text(double value) {
  const bool whole = std::fabs(value - std::round(value)) < 1e-9;
  return fixed_text(value, whole ? 0 : 1);
}

/// Where the data lies on the drawing.
class plot_area {
 public:
  plot_area(const std::vector<curve>& curves, const chart_shape& shape) : shape_(shape) {
    double tokens_most = 1;
    double mib_most = 1;
    for (const curve& one : curves) {
      for (const curve::point& p : one.points) {
        tokens_most = std::max(tokens_most, p.tokens);
        mib_most = std::max(mib_most, p.mib);
        mib_least_ = std::min(mib_least_, p.mib);
      }
    }
    // The last token is where the curves end, so the tokens' axis ends there, not at a round number.
    tokens_most_ = tokens_most;
    x_ticks = axis_ticks(tokens_most, shape.labels_on_two_lines ? 4 : 8);
    while (x_ticks.back() > tokens_most) x_ticks.pop_back();
    y_ticks = axis_ticks(mib_most, 5);
    mib_most_ = y_ticks.back();
  }

  [[nodiscard]] double x(double tokens) const {
    return shape_.left + tokens / tokens_most_ * (shape_.width - shape_.left - shape_.right);
  }
  [[nodiscard]] double y(double mib) const {
    return chart_shape::top +
           (mib_most_ - mib) / (mib_most_ - mib_least_) * (shape_.height - chart_shape::top - chart_shape::bottom);
  }

  std::vector<double> x_ticks;
  std::vector<double> y_ticks;

 private:
  chart_shape shape_;
  double tokens_most_ = 1;
  double mib_most_ = 1;
  double mib_least_ = 0;
};

std::string axes(const plot_area& area, const chart_shape& shape) {
  const double end = shape.width - shape.right;
  std::string out;
  for (const double mib : area.y_ticks) {
    const std::string y = coordinate(area.y(mib));
    out += "<line class=\"" + std::string(mib == 0 ? "zero" : "grid") + "\" x1=\"" + coordinate(shape.left) +
           "\" x2=\"" + coordinate(end) + "\" y1=\"" + y + "\" y2=\"" + y + "\"/>";
    out += "<text class=\"tick\" text-anchor=\"end\" x=\"" + coordinate(shape.left - 8) + "\" y=\"" +
           coordinate(area.y(mib) + 4) + "\">" + tick_text(mib) + "</text>\n";
  }
  const double floor = shape.height - chart_shape::bottom;
  for (const double tokens : area.x_ticks) {
    const std::string x = coordinate(area.x(tokens));
    out += "<line class=\"zero\" x1=\"" + x + "\" x2=\"" + x + "\" y1=\"" + coordinate(floor) + "\" y2=\"" +
           coordinate(floor + 4) + "\"/>";
    out += "<text class=\"tick\" text-anchor=\"middle\" x=\"" + x + "\" y=\"" + coordinate(floor + 18) + "\">" +
           tick_text(tokens) + "</text>\n";
  }
  out += "<text class=\"axis\" x=\"0\" y=\"12\">MiB above the start</text>";
  out += "<text class=\"axis\" text-anchor=\"end\" x=\"" + coordinate(end) + "\" y=\"" + coordinate(shape.height - 6) +
         "\">tokens generated</text>\n";
  return out;
}

std::string line_of(const curve& one, const plot_area& area) {
  std::string points;
  for (const curve::point& p : one.points)
    points += coordinate(area.x(p.tokens)) + "," + coordinate(area.y(p.mib)) + " ";
  if (!points.empty()) points.pop_back();
  std::string out = "<polyline class=\"curve c-" + escaped(one.leg) + "\" points=\"" + points + "\"/>";
  const double x = area.x(one.points.back().tokens);
  const double y = area.y(one.points.back().mib);
  if (one.died) {
    out += "<path class=\"end c-" + escaped(one.leg) + "\" d=\"M" + coordinate(x - 5) + " " + coordinate(y - 5) +
           "l10 10m0 -10l-10 10\"/>";
  } else {
    out += "<circle class=\"dot k-" + escaped(one.leg) + "\" cx=\"" + coordinate(x) + "\" cy=\"" + coordinate(y) +
           "\" r=\"3.5\"/>";
  }
  return out + '\n';
}

struct label {
  const curve* of = nullptr;
  double x = 0;  ///< the end of the curve
  double y = 0;
  double text_y = 0;  ///< where there is room for the text
};

/// Moves labels apart until none overlaps another, keeping their order and the drawing's frame.
void spread_apart(std::vector<label>& labels, double distance, double lowest) {
  std::stable_sort(labels.begin(), labels.end(), [](const label& a, const label& b) { return a.y < b.y; });
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i].text_y = labels[i].y;
    if (i > 0) labels[i].text_y = std::max(labels[i].text_y, labels[i - 1].text_y + distance);
  }
  double below = lowest;
  for (std::size_t i = labels.size(); i-- > 0;) {
    labels[i].text_y = std::min(labels[i].text_y, below);
    below = labels[i].text_y - distance;
  }
}

std::string label_text(const label& one, const chart_shape& shape) {
  const curve& of = *one.of;
  // A curve that ends early is labelled at its end, unless there is no room to the right of it.
  const double text_x = shape.width - shape.right + 14;
  const std::string x = coordinate(text_x);
  const double mib = of.points.back().mib;
  const std::string value = growth_text(static_cast<std::int64_t>(mib * 1024 * 1024)) + " MiB";
  std::string out = "<line class=\"lead\" x1=\"" + coordinate(one.x + 6) + "\" y1=\"" + coordinate(one.y) + "\" x2=\"" +
                    coordinate(text_x - 3) + "\" y2=\"" + coordinate(one.text_y) + "\"/>";
  out += "<text class=\"label t-" + escaped(of.leg) + "\" x=\"" + x + "\" y=\"" + coordinate(one.text_y + 4) + "\">" +
         escaped(of.leg);
  if (shape.labels_on_two_lines) {
    out +=
        "</text><text class=\"value\" x=\"" + x + "\" y=\"" + coordinate(one.text_y + 18) + "\">" + value + "</text>\n";
  } else {
    out += "<tspan class=\"value\" dx=\"6\">" + value + (of.died ? ", died" : "") + "</tspan></text>\n";
  }
  return out;
}

}  // namespace

std::vector<double> axis_ticks(double most, int wanted) {
  const double rough = std::max(most, 1e-9) / std::max(wanted, 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (int i = 0; ticks.empty() || ticks.back() < most * (1 - 1e-9); ++i) ticks.push_back(i * step);
  return ticks;
}

std::string growth_chart(const std::vector<curve>& curves, const chart_shape& shape, const std::string& title) {
  std::vector<curve> drawn;
  for (const curve& one : curves) {
    if (!one.points.empty()) drawn.push_back(one);
  }
  if (drawn.empty()) return "<p>No leg reached its first token: there is nothing to draw.</p>\n";
  const plot_area area(drawn, shape);
  std::string out = "<svg role=\"img\" viewBox=\"0 0 " + coordinate(shape.width) + " " + coordinate(shape.height) +
                    "\"><title>" + escaped(title) + "</title>\n" + axes(area, shape);
  std::vector<label> labels;
  for (const curve& one : drawn) {
    out += line_of(one, area);
    const curve::point& end = one.points.back();
    labels.push_back({&one, area.x(end.tokens), area.y(end.mib), 0});
  }
  const double distance = shape.labels_on_two_lines ? 34 : 19;
  spread_apart(labels, distance, shape.height - chart_shape::bottom - (shape.labels_on_two_lines ? 10 : 0));
  for (const label& one : labels) out += label_text(one, shape);
  return out + "</svg>\n";
}

}  // namespace arcalloc::cli::page
