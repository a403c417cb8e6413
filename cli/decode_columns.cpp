// SPDX-License-Identifier: Apache-2.0
#include "decode_columns.hpp"

#include <cmath>

#include "number_text.hpp"

namespace arcalloc::cli {

namespace {

constexpr double mib = 1024.0 * 1024.0;
constexpr const char* unknown = "-";

std::string count_cell(const leg_result& leg, std::uint64_t counters::*value) {
  const auto& end = leg.figures().at_end;
  return end ? count_text((*end).*value) : unknown;
}

std::string mib_cell(const leg_result& leg, std::uint64_t counters::*value) {
  const auto& end = leg.figures().at_end;
  if (!end) return unknown;
  const std::uint64_t bytes = (*end).*value;
  if (bytes == ARCALLOC_NO_BOUND) return "none";
  return fixed_text(static_cast<double>(bytes) / mib, 1);
}

std::string slope_cell(const leg_result& leg) {
  const auto& slope = leg.figures().memory_slope_bytes_per_s;
  return slope ? fixed_text(*slope / mib, 2) : unknown;
}

std::string growth_cell(const leg_result& leg) {
  const auto& growth = leg.figures().memory_growth_bytes;
  return growth ? growth_text(*growth) : unknown;
}

std::string leg_sentence(const leg_result& leg) {
  const leg_figures& figures = leg.figures();
  const std::string name = leg_name(leg.which);
  if (!figures.completed) return name + " ended in " + figures.ended;
  if (!figures.memory_growth_bytes || !figures.at_end) return name + " completed";
  const double growth = static_cast<double>(*figures.memory_growth_bytes) / mib;
  return name + (growth < 0 ? " shrank by " : " grew by ") + fixed_text(std::fabs(growth), 0) +
         " MiB and held at most " + fixed_text(static_cast<double>(figures.at_end->held_bytes_peak) / mib, 0) +
         " MiB of idle memory";
}

}  // namespace

const std::vector<leg_column>& result_columns() {
  static const std::vector<leg_column> columns{
      {"leg", "", false, [](const leg_result& leg) { return std::string(leg_name(leg.which)); }},
      {"outcome", "", false, [](const leg_result& leg) { return leg.figures().ended; }},
      {"time", "ms/token", true,
       [](const leg_result& leg) {
         return leg.ms_per_token ? fixed_text(leg.ms_per_token->median, 3) : fixed_text(leg.figures().ms_per_token, 3);
       }},
      {"speed", "tok/s", true,
       [](const leg_result& leg) {
         return leg.ms_per_token ? fixed_text(1000 / leg.ms_per_token->median, 2)
                                 : fixed_text(leg.figures().tokens_per_s, 2);
       }},
      {"memory growth", "MiB", true, growth_cell},
      {"slope, 2nd half", "MiB/s", true, slope_cell},
      {"driver allocs", "per step", true,
       [](const leg_result& leg) { return rate_text(leg.figures().driver_allocs_per_step); }},
      {"driver frees", "per step", true,
       [](const leg_result& leg) { return rate_text(leg.figures().driver_frees_per_step); }},
      {"held peak", "MiB", true, [](const leg_result& leg) { return mib_cell(leg, &counters::held_bytes_peak); }},
      {"hit rate", "", true, [](const leg_result& leg) { return fixed_text(leg.figures().hit_rate, 5); }},
  };
  return columns;
}

const std::vector<leg_column>& step_columns() {
  static const std::vector<leg_column> columns{
      {"leg", "", false, [](const leg_result& leg) { return std::string(leg_name(leg.which)); }},
      {"requests", "per step", true,
       [](const leg_result& leg) { return fixed_text(leg.figures().requests_per_step, 1); }},
      {"allocs, 2nd half", "per step", true,
       [](const leg_result& leg) { return rate_text(leg.figures().driver_allocs_per_step_second_half); }},
      {"frees, 2nd half", "per step", true,
       [](const leg_result& leg) { return rate_text(leg.figures().driver_frees_per_step_second_half); }},
      {"hits", "whole run", true, [](const leg_result& leg) { return count_cell(leg, &counters::hits); }},
      {"misses", "whole run", true, [](const leg_result& leg) { return count_cell(leg, &counters::misses); }},
      {"bypassed", "whole run", true, [](const leg_result& leg) { return count_cell(leg, &counters::bypassed); }},
      {"failed", "whole run", true, [](const leg_result& leg) { return count_cell(leg, &counters::failed); }},
      {"evictions", "whole run", true, [](const leg_result& leg) { return count_cell(leg, &counters::evictions); }},
      {"capture misses", "whole run", true,
       [](const leg_result& leg) { return count_cell(leg, &counters::capture_misses); }},
  };
  return columns;
}

const std::vector<leg_column>& peak_columns() {
  static const std::vector<leg_column> columns{
      {"leg", "", false, [](const leg_result& leg) { return std::string(leg_name(leg.which)); }},
      {"requested", "MiB", true, [](const leg_result& leg) { return mib_cell(leg, &counters::requested_bytes_peak); }},
      {"allocated", "MiB", true, [](const leg_result& leg) { return mib_cell(leg, &counters::allocated_bytes_peak); }},
      {"reserved", "MiB", true, [](const leg_result& leg) { return mib_cell(leg, &counters::reserved_bytes_peak); }},
      {"cached", "MiB", true, [](const leg_result& leg) { return mib_cell(leg, &counters::cached_bytes_peak); }},
      {"slack", "MiB", true, [](const leg_result& leg) { return mib_cell(leg, &counters::slack_bytes_peak); }},
      {"cached max", "MiB", true,
       [](const leg_result& leg) {
         return leg.memory.enabled ? mib_cell(leg, &counters::cached_bytes_max) : std::string(unknown);
       }},
      {"reserved / allocated", "", true,
       [](const leg_result& leg) { return fixed_text(leg.figures().reserved_over_allocated, 3); }},
      {"rounding", "alloc. / req.", true,
       [](const leg_result& leg) { return fixed_text(leg.figures().allocated_over_requested, 3); }},
  };
  return columns;
}

std::string round_heading(std::uint64_t index) { return std::string("#").append(std::to_string(index + 1)); }

std::string bound_cost_text(const decode_result& result) {
  if (!result.bound_cost_ms_per_token) return unknown;
  const double cost = *result.bound_cost_ms_per_token;
  std::string text = signed_text(fixed_text(cost, 3)) + " ms per token over unbounded";
  if (const auto ratios = spread_of(result.bounded_over_unbounded)) {
    text += ", a ratio of " + fixed_text(ratios->median, 3);
    if (result.bounded_over_unbounded.size() > 1) {
      text += " (" + fixed_text(ratios->least, 3) + " to " + fixed_text(ratios->most, 3) + " over " +
              std::to_string(result.bounded_over_unbounded.size()) + " rounds)";
    }
  }
  return text;
}

std::string gain_kept_text(const decode_result& result) {
  if (!result.gain_kept) return unknown;
  return fixed_text(*result.gain_kept * 100, 1) + " % of what unbounded gains over off";
}

std::string tokens_text(const decode_result& result) {
  if (!result.tokens_equal) return "NOT equal: " + result.token_difference;
  const std::string equal = "equal in all legs and rounds, as far as each came";
  switch (result.request.device.kind) {
    case device_kind::sim:
      return equal + "; nothing was computed, and they are seeded numbers";
    case device_kind::cuda:
      return equal + "; memory traffic only: nothing was computed, and each token is its position";
    case device_kind::host:
      break;
  }
  return equal;
}

std::string accounting_text(const decode_result& result) {
  if (!result.accounting.empty()) return "VIOLATED: " + result.accounting;
  return "identities hold";
}

std::string verdict_text(const decode_result& result) {
  std::string text;
  for (const leg which : {leg::bounded, leg::unbounded}) {
    const leg_result* found = result.find(which);
    if (found == nullptr) continue;
    text += text.empty() ? "" : "; ";
    text += leg_sentence(*found);
  }
  if (text.empty() && !result.legs.empty()) text = leg_sentence(result.legs.front());
  return "Over " + count_text(result.request.session.tokens) + " tokens, " + text + ".";
}

std::vector<std::string> complaints(const decode_result& result) {
  std::vector<std::string> lines;
  for (const leg_result& leg : result.legs) {
    if (!must_survive(leg.which) || leg.figures().completed) continue;
    lines.push_back(std::string("leg ") + leg_name(leg.which) + " had to survive and did not: " + leg.figures().ended);
  }
  if (!result.tokens_equal) lines.push_back("tokens are not equal: " + result.token_difference);
  if (!result.accounting.empty()) lines.push_back("accounting does not hold: " + result.accounting);
  return lines;
}

std::string produced_text(const decode_result& result) {
  const leg_run* longest = nullptr;
  for (const leg_result& leg : result.legs) {
    for (const leg_run& run : leg.runs) {
      if (!run.report) continue;
      if (longest == nullptr || run.report->outcome.text.size() > longest->report->outcome.text.size()) longest = &run;
    }
  }
  return longest == nullptr ? std::string() : longest->report->outcome.text;
}

}  // namespace arcalloc::cli
