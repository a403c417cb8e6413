// SPDX-License-Identifier: Apache-2.0
#include "decode_json.hpp"

#include "decode_columns.hpp"
#include "json_text.hpp"
#include "serving_json.hpp"

namespace arcalloc::cli {

namespace {

ordered_json spread_json(const std::optional<spread>& value) {
  if (!value) return nullptr;
  return {{"median", value->median}, {"least", value->least}, {"most", value->most}};
}

ordered_json deciles_json(const leg_figures& figures) {
  ordered_json list = ordered_json::array();
  for (const auto& bytes : figures.memory_deciles_bytes) list.push_back(json_or_null(bytes));
  return list;
}

ordered_json end_json(const leg_figures& figures, std::uint64_t counters::*value) {
  return figures.at_end ? ordered_json((*figures.at_end).*value) : ordered_json(nullptr);
}

/// Adds the figures of one run: a leg has those of the run that is shown, and each round its own.
void add_figures(ordered_json& object, const leg_figures& figures) {
  object["memory_growth_bytes"] = json_or_null(figures.memory_growth_bytes);
  object["memory_slope_bytes_per_s"] = json_or_null(figures.memory_slope_bytes_per_s);
  object["memory_deciles_bytes"] = deciles_json(figures);
  object["hit_rate"] = json_or_null(figures.hit_rate);
  object["driver_allocs_per_step"] = json_or_null(figures.driver_allocs_per_step);
  object["driver_frees_per_step"] = json_or_null(figures.driver_frees_per_step);
  object["second_half"] = {{"driver_allocs_per_step", json_or_null(figures.driver_allocs_per_step_second_half)},
                           {"driver_frees_per_step", json_or_null(figures.driver_frees_per_step_second_half)}};
  object["requests_per_step"] = json_or_null(figures.requests_per_step);
  object["held_bytes_peak"] = end_json(figures, &counters::held_bytes_peak);
  object["cached_bytes_peak"] = end_json(figures, &counters::cached_bytes_peak);
  object["cached_bytes_max"] = figures.at_end ? bound_json(figures.at_end->cached_bytes_max) : ordered_json(nullptr);
  object["reserved_bytes_peak"] = end_json(figures, &counters::reserved_bytes_peak);
  object["allocated_bytes_peak"] = end_json(figures, &counters::allocated_bytes_peak);
  object["bypassed"] = end_json(figures, &counters::bypassed);
  object["capture_misses"] = end_json(figures, &counters::capture_misses);
  object["accounting"] = figures.accounting.empty() ? "identities hold" : figures.accounting;
}

ordered_json round_json(const leg_figures& figures, std::size_t number) {
  ordered_json object{{"round", number},
                      {"outcome", figures.outcome},
                      {"tokens_done", figures.tokens_done},
                      {"ms_per_token", json_or_null(figures.ms_per_token)},
                      {"tokens_per_s", json_or_null(figures.tokens_per_s)}};
  add_figures(object, figures);
  return object;
}

ordered_json entries_json(const std::vector<profile_entry>& entries) {
  ordered_json list = ordered_json::array();
  for (const profile_entry& each : entries) {
    list.push_back({{"stream", static_cast<std::uint64_t>(each.on)}, {"bytes", each.bytes}, {"blocks", each.blocks}});
  }
  return list;
}

ordered_json status_json(const std::optional<status>& value) {
  return value ? ordered_json(status_name(*value)) : ordered_json(nullptr);
}

ordered_json capture_json(const std::optional<decode::capture_report>& report) {
  if (!report) return nullptr;
  ordered_json misses = ordered_json::array();
  for (const capture_miss_record& each : report->misses) {
    misses.push_back({{"bytes", each.requested_bytes},
                      {"class_bytes", each.class_bytes},
                      {"stream", static_cast<std::uint64_t>(each.on)},
                      {"count", each.count}});
  }
  ordered_json profile{{"warm_up_steps", report->warm_up_steps},
                       {"entries", entries_json(report->profile)},
                       {"prewarm", status_json(report->prewarm)},
                       {"verify", status_json(report->verified)},
                       {"missing", entries_json(report->missing)}};
  return {{"outcome", status_json(report->window)},
          {"operations", report->operations},
          {"misses", std::move(misses)},
          {"replays", report->replays},
          {"requests_in_replays", report->requests_in_replays},
          {"driver_calls_in_replays", report->driver_calls_in_replays},
          {"pinned_bytes", report->pinned_bytes},
          {"profile", std::move(profile)}};
}

ordered_json options_json(const options& memory) {
  const char* mode = "derived";
  if (memory.cached_bytes_max.mode == bound_mode::explicit_bytes) mode = "explicit_bytes";
  if (memory.cached_bytes_max.mode == bound_mode::unbounded) mode = "unbounded";
  return {{"enabled", memory.enabled},
          {"geometry", geometry_name(memory.classes)},
          {"cached_bytes_max_mode", mode},
          {"capacity_bytes", memory.capacity_bytes == 0 ? ordered_json(nullptr) : ordered_json(memory.capacity_bytes)},
          {"oom_retry", memory.oom_retry},
          {"capture_miss", memory.capture_miss == capture_policy::refuse ? "refuse" : "grow"},
          {"profile", memory.profile_path == nullptr ? ordered_json(nullptr) : ordered_json(memory.profile_path)}};
}

ordered_json samples_json(const std::vector<memory_sample>& samples) {
  ordered_json list = ordered_json::array();
  for (const memory_sample& sample : samples) {
    list.push_back({{"seconds", sample.seconds}, {"tokens", sample.tokens}, {"resident_bytes", sample.resident_bytes}});
  }
  return list;
}

ordered_json load_json(const std::optional<decode::load_report>& load) {
  if (!load) return nullptr;
  return {{"ranks", load->ranks},
          {"slowest_rank", load->slowest_rank},
          {"weight_bytes", load->weight_bytes},
          {"step_ns_worst", load->step_ns_worst},
          {"driver_ns_step_worst", load->driver_ns_step_worst},
          {"driver_ns_step_p99", load->driver_ns_step_p99},
          {"reserved_bytes_peak_most", load->reserved_bytes_peak_most},
          {"serving", serving_json(load->serving)}};
}

ordered_json leg_json(const leg_result& leg) {
  const leg_figures& figures = leg.figures();
  const leg_run& run = leg.run();
  const auto times = leg.ms_per_token ? std::optional<double>(leg.ms_per_token->median) : figures.ms_per_token;
  ordered_json object{{"leg", leg_name(leg.which)},
                      {"outcome", figures.outcome},
                      {"death", run.death.empty() ? ordered_json(nullptr) : ordered_json(run.death)},
                      {"tokens_done", figures.tokens_done},
                      {"ms_per_token", json_or_null(times)},
                      {"tokens_per_s", times ? ordered_json(1000 / *times) : ordered_json(nullptr)},
                      {"text", run.report ? ordered_json(run.report->outcome.text) : ordered_json(nullptr)}};
  add_figures(object, figures);
  object["counters"] = figures.at_end ? counters_json(*figures.at_end) : ordered_json(nullptr);
  object["cap"] = run.report ? cap_json(run.report->cap) : ordered_json(nullptr);
  object["capture"] = run.report ? capture_json(run.report->outcome.capture) : ordered_json(nullptr);
  object["load"] = run.report ? load_json(run.report->outcome.load) : ordered_json(nullptr);
  object["options"] = options_json(leg.memory);
  object["ms_per_token_spread"] = spread_json(leg.ms_per_token);
  object["memory_growth_bytes_spread"] = spread_json(leg.memory_growth_bytes);
  object["shown_round"] = leg.shown + 1;
  object["memory_samples"] = samples_json(run.samples);
  ordered_json rounds = ordered_json::array();
  for (std::size_t i = 0; i < leg.rounds.size(); ++i) rounds.push_back(round_json(leg.rounds[i], i + 1));
  object["rounds"] = std::move(rounds);
  return object;
}

ordered_json sim_json(const std::optional<sim_choice>& sim) {
  if (!sim) return nullptr;
  const decode::driver_cost cost = decode::cost_of(sim->calls);
  return {{"model", sim->model},
          {"alloc", driver_calls_name(sim->calls)},
          {"allocate_ns", cost.allocate_ns},
          {"free_ns", cost.free_ns},
          {"granule_bytes", sim->granule_bytes},
          {"free_bytes", json_or_null(sim->free_bytes)}};
}

ordered_json text_or_null(const std::string& text) { return text.empty() ? ordered_json(nullptr) : ordered_json(text); }

const char* work_name(device_kind kind) {
  switch (kind) {
    case device_kind::sim:
      return "virtual time";
    case device_kind::cuda:
      return "memory traffic";
    case device_kind::host:
      break;
  }
  return "arithmetic";
}

ordered_json serving_input_json(const std::optional<decode::serving_settings>& how) {
  if (!how) return nullptr;
  return {{"requests", how->requests_path}, {"batch", how->batch},
          {"chunk", how->chunk_rows},       {"draft", how->draft},
          {"every", how->window_s},         {"seconds", how->stop_after_s}};
}

ordered_json input_json(const decode_request& request) {
  const decode::session_settings& session = request.session;
  return {{"config", text_or_null(session.config_name)},
          {"model", text_or_null(session.model_path)},
          {"tokenizer", text_or_null(session.tokenizer_path)},
          {"prompt", session.prompt},
          {"tokens", session.tokens},
          {"context", session.context},
          {"kv", session.kv == decode::kv_mode::concat ? "concat" : "preallocated"},
          {"ranks", session.ranks},
          {"layers", session.layers == 0 ? ordered_json(nullptr) : ordered_json(session.layers)},
          {"serving", serving_input_json(session.serving)},
          {"capture", session.capture},
          {"work", work_name(request.device.kind)},
          {"stream_ordered", request.device.is_stream_ordered},
          {"sim", sim_json(request.sim)},
          {"device_bytes", request.device.size_bytes},
          {"rounds", request.rounds}};
}

}  // namespace

std::string decode_json(const decode_result& result) {
  ordered_json legs = ordered_json::array();
  for (const leg_result& leg : result.legs) legs.push_back(leg_json(leg));
  ordered_json ratio = spread_json(spread_of(result.bounded_over_unbounded));
  if (!ratio.is_null()) ratio["rounds"] = result.bounded_over_unbounded;
  const ordered_json whole{{"schema", "arcalloc.decode/1"},
                           {"provenance", provenance_json(result.from)},
                           {"input", input_json(result.request)},
                           {"legs", std::move(legs)},
                           {"bound_cost_ms_per_token", json_or_null(result.bound_cost_ms_per_token)},
                           {"gain_kept", json_or_null(result.gain_kept)},
                           {"bounded_over_unbounded", std::move(ratio)},
                           {"tokens_equal", result.tokens_equal},
                           {"accounting", accounting_text(result)},
                           {"exit_status", static_cast<int>(result.status)}};
  return json_file(whole);
}

}  // namespace arcalloc::cli
