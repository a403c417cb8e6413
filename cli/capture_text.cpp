// SPDX-License-Identifier: Apache-2.0
#include "capture_text.hpp"

#include <algorithm>

#include "number_text.hpp"

namespace arcalloc::cli {

namespace {

constexpr const char* no_figure = "-";

const decode::capture_report* capture_of(const leg_result& leg) {
  const auto& report = leg.run().report;
  return report && report->outcome.capture ? &*report->outcome.capture : nullptr;
}

template <class Cell>
std::string capture_cell(const leg_result& leg, const Cell& cell) {
  const decode::capture_report* found = capture_of(leg);
  return found == nullptr ? std::string(no_figure) : cell(*found);
}

std::uint64_t missed(const decode::capture_report& report) {
  std::uint64_t count = 0;
  for (const capture_miss_record& miss : report.misses) count += miss.count;
  return count;
}

std::string times_text(std::uint64_t bytes, std::uint64_t count) {
  return count_text(bytes) + " bytes x " + count_text(count);
}

/// The greatest first: they cost most.
std::string missing_text(std::vector<profile_entry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::string text;
  for (const profile_entry& each : entries) {
    text += text.empty() ? "" : ", ";
    text += times_text(each.bytes, each.blocks);
  }
  return text;
}

std::string misses_text(std::vector<capture_miss_record> misses) {
  std::stable_sort(misses.begin(), misses.end(),
                   [](const auto& a, const auto& b) { return a.requested_bytes > b.requested_bytes; });
  std::string text;
  for (const capture_miss_record& each : misses) {
    text += text.empty() ? "" : ", ";
    text += times_text(each.requested_bytes, each.count);
    if (each.class_bytes != each.requested_bytes) text += " (class " + count_text(each.class_bytes) + ")";
  }
  return text.empty() ? "none" : text;
}

std::string profile_text(const decode::capture_report& report) {
  if (report.profile.empty()) return "none";
  std::uint64_t blocks = 0;
  for (const profile_entry& each : report.profile) blocks += each.blocks;
  std::string text = count_text(report.profile.size()) + " sizes, " + count_text(blocks) + " blocks, ";
  text += report.warm_up_steps > 0 ? "over " + count_text(report.warm_up_steps) + " warm-up steps" : "from a file";
  if (report.prewarm) text += std::string("; prewarm ") + status_name(*report.prewarm);
  if (report.verified) text += std::string("; verify ") + status_name(*report.verified);
  if (!report.missing.empty()) text += ", short of " + missing_text(report.missing);
  return text;
}

}  // namespace

std::string capture_outcome_text(const decode::capture_report& report) {
  if (!report.window) return "none: ended before";
  if (*report.window == status::ok) return "replayed";
  return std::string("eager: ") + status_name(*report.window);
}

bool has_captures(const decode_result& result) {
  return std::any_of(result.legs.begin(), result.legs.end(),
                     [](const leg_result& leg) { return capture_of(leg) != nullptr; });
}

const std::vector<leg_column>& capture_columns() {
  using decode::capture_report;
  static const std::vector<leg_column> columns{
      {"leg", "", false, [](const leg_result& leg) { return std::string(leg_name(leg.which)); }},
      {"capture", "", false, [](const leg_result& leg) { return capture_cell(leg, capture_outcome_text); }},
      {"operations", "recorded", true,
       [](const leg_result& leg) {
         return capture_cell(leg, [](const capture_report& report) { return count_text(report.operations); });
       }},
      {"replays", "tokens", true,
       [](const leg_result& leg) {
         return capture_cell(leg, [](const capture_report& report) { return count_text(report.replays); });
       }},
      {"requests", "in replays", true,
       [](const leg_result& leg) {
         return capture_cell(leg, [](const capture_report& report) { return count_text(report.requests_in_replays); });
       }},
      {"driver calls", "in replays", true,
       [](const leg_result& leg) {
         return capture_cell(leg,
                             [](const capture_report& report) { return count_text(report.driver_calls_in_replays); });
       }},
      {"pinned", "MiB", true,
       [](const leg_result& leg) {
         return capture_cell(leg, [](const capture_report& report) { return mib_text(report.pinned_bytes); });
       }},
      {"capture misses", "in the window", true,
       [](const leg_result& leg) {
         return capture_cell(leg, [](const capture_report& report) { return count_text(missed(report)); });
       }},
  };
  return columns;
}

std::vector<std::string> capture_notes(const decode_result& result) {
  std::vector<std::string> notes;
  for (const leg_result& leg : result.legs) {
    const decode::capture_report* found = capture_of(leg);
    if (found == nullptr) continue;
    notes.push_back(std::string("profile of ") + leg_name(leg.which) + ": " + profile_text(*found));
    notes.push_back(std::string("capture misses of ") + leg_name(leg.which) + ": " + misses_text(found->misses));
  }
  return notes;
}

}  // namespace arcalloc::cli
