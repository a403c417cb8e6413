// SPDX-License-Identifier: Apache-2.0
#include "serving_json.hpp"

#include <utility>

namespace arcalloc::cli {

namespace {

using decode::serving_report;
using decode::serving_window;

struct window_count {
  const char* name;
  std::uint64_t serving_window::*value;
};

constexpr window_count window_counts[] = {
    {"steps", &serving_window::steps},
    {"tokens", &serving_window::tokens},
    {"prompt_tokens", &serving_window::prompt_tokens},
    {"requests_done", &serving_window::requests_done},
    {"sequences_most", &serving_window::sequences_most},
    {"waiting_most", &serving_window::waiting_most},
    {"requested_bytes_most", &serving_window::requested_bytes_most},
    {"allocated_bytes_most", &serving_window::allocated_bytes_most},
    {"held_bytes_most", &serving_window::held_bytes_most},
    {"held_bytes_least", &serving_window::held_bytes_least},
    {"reserved_bytes_most", &serving_window::reserved_bytes_most},
    {"reserved_bytes_least", &serving_window::reserved_bytes_least},
    {"driver_allocs", &serving_window::driver_allocs},
    {"driver_frees", &serving_window::driver_frees},
    {"steps_with_driver_calls", &serving_window::steps_with_driver_calls},
    {"step_ns_worst", &serving_window::step_ns_worst},
    {"step_ns_p99", &serving_window::step_ns_p99},
    {"pause_ns_worst", &serving_window::pause_ns_worst},
    {"pause_ns_p99", &serving_window::pause_ns_p99},
};

ordered_json window_json(const serving_window& window) {
  ordered_json object{{"end_s", window.end_s}};
  for (const window_count& each : window_counts) object[each.name] = window.*each.value;
  object["reserved_bytes_between"] = json_or_null(window.reserved_bytes_between);
  return object;
}

serving_window window_from(const nlohmann::json& object) {
  serving_window window;
  window.end_s = object.at("end_s").get<double>();
  for (const window_count& each : window_counts) window.*each.value = object.at(each.name).get<std::uint64_t>();
  const nlohmann::json& between = object.at("reserved_bytes_between");
  if (!between.is_null()) window.reserved_bytes_between = between.get<std::uint64_t>();
  return window;
}

}  // namespace

ordered_json serving_json(const std::optional<serving_report>& report) {
  if (!report) return nullptr;
  ordered_json windows = ordered_json::array();
  for (const serving_window& each : report->windows) windows.push_back(window_json(each));
  return {{"requests", report->requests}, {"done", report->done},         {"skipped", report->skipped},
          {"seconds", report->seconds},   {"waited_s", report->waited_s}, {"windows", std::move(windows)}};
}

std::optional<serving_report> serving_from(const nlohmann::json& object) {
  if (object.is_null()) return std::nullopt;
  serving_report report;
  report.requests = object.at("requests").get<std::uint64_t>();
  report.done = object.at("done").get<std::uint64_t>();
  report.skipped = object.at("skipped").get<std::uint64_t>();
  report.seconds = object.at("seconds").get<double>();
  report.waited_s = object.at("waited_s").get<double>();
  for (const nlohmann::json& each : object.at("windows")) report.windows.push_back(window_from(each));
  return report;
}

}  // namespace arcalloc::cli
