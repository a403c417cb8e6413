// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <algorithm>

#include "cli/decode_columns.hpp"
#include "cli/number_text.hpp"
#include "growth_chart.hpp"
#include "markup.hpp"
#include "sections.hpp"

namespace arcalloc::cli::page {

namespace {

constexpr double mebibyte_bytes = 1024.0 * 1024.0;
constexpr chart_shape wide_shape{1024, 400, 62, 200, false};
constexpr chart_shape narrow_shape{368, 330, 44, 108, true};

/// The 2 Hz samples and the deciles of the run that is shown, as one curve.
curve curve_of(const leg_result& leg, std::uint64_t tokens) {
  const leg_run& run = leg.run();
  curve one;
  one.leg = leg_name(leg.which);
  one.died = !leg.figures().completed;
  const auto start = run.decile_bytes.front();
  if (!start) return one;
  const auto add = [&](double at, std::uint64_t bytes) {
    one.points.push_back({at, (static_cast<double>(bytes) - static_cast<double>(*start)) / mebibyte_bytes});
  };
  // A sample falls somewhere within the making of the next token, a decile exactly between two.
  for (std::size_t i = 1; i < run.samples.size(); ++i) {
    add(static_cast<double>(run.samples[i].tokens) + 0.5, run.samples[i].resident_bytes);
  }
  for (std::size_t i = 0; i < decile_count; ++i) {
    if (run.decile_bytes[i]) add(static_cast<double>(decile_tokens(i, tokens)), *run.decile_bytes[i]);
  }
  // What a leg that died had at its end no sample saw; the kernel kept its peak.
  if (one.died && run.resident_bytes_peak) add(static_cast<double>(run.tokens_done) + 0.5, *run.resident_bytes_peak);
  std::stable_sort(one.points.begin(), one.points.end(),
                   [](const curve::point& a, const curve::point& b) { return a.tokens < b.tokens; });
  return one;
}

std::string both_shapes(const std::vector<curve>& curves, const std::string& title) {
  return "<div class=\"wide\">" + growth_chart(curves, wide_shape, title) + "</div><div class=\"narrow\">" +
         growth_chart(curves, narrow_shape, title) + "</div>\n";
}

double highest(const std::vector<curve>& curves) {
  double most = 0;
  for (const curve& one : curves) {
    for (const curve::point& p : one.points) most = std::max(most, p.mib);
  }
  return most;
}

std::string growth_section(const decode_result& result) {
  std::vector<curve> all;
  for (const leg_result& leg : result.legs) all.push_back(curve_of(leg, result.request.session.tokens));
  // Where some legs dwarf the rest, the rest are worth a scale of their own.
  std::vector<curve> low;
  std::string low_names;
  for (const curve& one : all) {
    if (one.points.empty() || highest({one}) >= highest(all) / 4) continue;
    low.push_back(one);
    low_names += (low_names.empty() ? "" : " and ") + one.leg;
  }
  std::string content =
      "<p class=\"note\">Resident memory of each leg's process above its first token, read from /proc by the parent "
      "process twice a second and at every tenth of the tokens.</p>\n" +
      both_shapes(all, "Memory above the start against tokens, all legs");
  if (!low.empty()) {
    content += "<h3>On a finer scale: " + escaped(low_names) + "</h3>\n" +
               both_shapes(low, "Memory above the start against tokens, on a finer scale: " + low_names);
  }
  return section("Memory growth", content);
}

std::string page_title(const decode_result& result) {
  const decode::session_settings& session = result.request.session;
  const std::string input = session.model_path.empty() ? session.config_name : session.model_path;
  return "Decoding " + count_text(session.tokens) + " tokens of " + input.substr(input.rfind('/') + 1);
}

std::string header(const decode_result& result) {
  std::string out = "<header>\n<p class=\"kind\">arcalloc decode report, " + escaped(result.from.utc) + "</p>\n<h1>" +
                    escaped(page_title(result)) + "</h1>\n<p class=\"verdict\">" + escaped(verdict_text(result)) +
                    "</p>\n";
  for (const std::string& line : complaints(result)) out += "<p class=\"bad\">" + escaped(line) + "</p>\n";
  return out + key_figures(result) + "</header>\n";
}

}  // namespace

std::string decode_page(const decode_result& result) {
  return page_around("arcalloc: " + page_title(result), header(result) + growth_section(result) +
                                                            result_sections(result) + bounds_section(result) +
                                                            text_section(result) + provenance_section(result.from));
}

}  // namespace arcalloc::cli::page
