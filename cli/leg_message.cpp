// SPDX-License-Identifier: Apache-2.0
#include "leg_message.hpp"

#include <arcalloc/counters.hpp>
#include <nlohmann/json.hpp>

#include "serving_json.hpp"

namespace arcalloc::cli {

namespace {

using json = nlohmann::json;

std::string hex_of(const std::string& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

std::string bytes_of(const json& hex) {
  const auto& text = hex.get_ref<const std::string&>();
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoul(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// A path that may be none.
const char* text_of(const char* path) { return path == nullptr ? "" : path; }

json json_of(const counters& values) {
  std::size_t count = 0;
  const counter_field* fields = counter_fields(count);
  json object{{"size", values.size}, {"version", values.version}};
  for (std::size_t i = 0; i < count; ++i) object[fields[i].name] = values.*fields[i].value;
  return object;
}

counters counters_from(const json& object) {
  counters values{};
  values.size = object.at("size").get<std::uint32_t>();
  values.version = object.at("version").get<std::uint32_t>();
  std::size_t count = 0;
  const counter_field* fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) values.*fields[i].value = object.at(fields[i].name).get<std::uint64_t>();
  return values;
}

json json_of(const cap_arithmetic& cap) {
  return {{"cached_bytes_max", cap.cached_bytes_max},
          {"cap_source", cap.cap_source},
          {"driver_free_bytes", cap.driver_free_bytes},
          {"own_cached_bytes", cap.own_cached_bytes},
          {"free_bytes", cap.free_bytes},
          {"reserve_bytes", cap.reserve_bytes},
          {"query", static_cast<std::int32_t>(cap.query)}};
}

cap_arithmetic cap_from(const json& object) {
  cap_arithmetic cap;
  cap.cached_bytes_max = object.at("cached_bytes_max").get<std::uint64_t>();
  cap.cap_source = object.at("cap_source").get<std::uint64_t>();
  cap.driver_free_bytes = object.at("driver_free_bytes").get<std::uint64_t>();
  cap.own_cached_bytes = object.at("own_cached_bytes").get<std::uint64_t>();
  cap.free_bytes = object.at("free_bytes").get<std::uint64_t>();
  cap.reserve_bytes = object.at("reserve_bytes").get<std::uint64_t>();
  cap.query = static_cast<status>(object.at("query").get<std::int32_t>());
  return cap;
}

json json_of(const options& memory) {
  return {{"enabled", memory.enabled},
          {"bound_mode", static_cast<int>(memory.cached_bytes_max.mode)},
          {"bound_bytes", memory.cached_bytes_max.bytes},
          {"bound_from_environment", memory.cached_bytes_max.from_environment},
          {"capacity_bytes", memory.capacity_bytes},
          {"geometry", static_cast<int>(memory.classes)},
          {"oom_retry", memory.oom_retry},
          {"capture_miss", static_cast<int>(memory.capture_miss)},
          {"cache_in_prefill", memory.cache_in_prefill},
          {"stats_every_steps", memory.stats_every_steps}};
}

options options_from(const json& object) {
  options memory;
  memory.enabled = object.at("enabled").get<bool>();
  memory.cached_bytes_max.mode = static_cast<bound_mode>(object.at("bound_mode").get<int>());
  memory.cached_bytes_max.bytes = object.at("bound_bytes").get<std::uint64_t>();
  memory.cached_bytes_max.from_environment = object.at("bound_from_environment").get<bool>();
  memory.capacity_bytes = object.at("capacity_bytes").get<std::uint64_t>();
  memory.classes = static_cast<geometry>(object.at("geometry").get<int>());
  memory.oom_retry = object.at("oom_retry").get<bool>();
  memory.capture_miss = static_cast<capture_policy>(object.at("capture_miss").get<int>());
  memory.cache_in_prefill = object.at("cache_in_prefill").get<bool>();
  memory.stats_every_steps = object.at("stats_every_steps").get<std::uint32_t>();
  return memory;
}

json json_of(const std::optional<decode::serving_settings>& how) {
  if (!how) return nullptr;
  return {hex_of(how->requests_path), how->batch, how->chunk_rows, how->draft, how->window_s, how->stop_after_s};
}

std::optional<decode::serving_settings> serving_settings_from(const json& list) {
  if (list.is_null()) return std::nullopt;
  const auto at = [&](std::size_t i) { return list.at(i).get<std::uint64_t>(); };
  return decode::serving_settings{bytes_of(list.at(0)), at(1), at(2), at(3), at(4), at(5)};
}

json json_of(const decode::session_settings& session) {
  return {{"model", hex_of(session.model_path)},
          {"tokenizer", hex_of(session.tokenizer_path)},
          {"config", hex_of(session.config_name)},
          {"prompt", hex_of(session.prompt)},
          {"tokens", session.tokens},
          {"context", session.context},
          {"kv", static_cast<int>(session.kv)},
          {"ranks", session.ranks},
          {"layers", session.layers},
          {"serving", json_of(session.serving)},
          {"capture", session.capture},
          {"prewarm", session.prewarm},
          {"profile", hex_of(session.profile_path)},
          {"profile_record", hex_of(session.profile_record_path)}};
}

decode::session_settings session_from(const json& object) {
  decode::session_settings session;
  session.model_path = bytes_of(object.at("model"));
  session.tokenizer_path = bytes_of(object.at("tokenizer"));
  session.config_name = bytes_of(object.at("config"));
  session.prompt = bytes_of(object.at("prompt"));
  session.tokens = object.at("tokens").get<std::size_t>();
  session.context = object.at("context").get<std::size_t>();
  session.kv = static_cast<decode::kv_mode>(object.at("kv").get<int>());
  session.ranks = object.at("ranks").get<std::size_t>();
  session.layers = object.at("layers").get<std::size_t>();
  session.serving = serving_settings_from(object.at("serving"));
  session.capture = object.at("capture").get<bool>();
  session.prewarm = object.at("prewarm").get<bool>();
  session.profile_path = bytes_of(object.at("profile"));
  session.profile_record_path = bytes_of(object.at("profile_record"));
  return session;
}

json json_of(const std::vector<profile_entry>& entries) {
  json list = json::array();
  for (const profile_entry& each : entries) list.push_back({each.on, each.bytes, each.blocks});
  return list;
}

std::vector<profile_entry> entries_from(const json& list) {
  std::vector<profile_entry> entries;
  for (const json& each : list) {
    entries.push_back({each.at(0).get<stream>(), each.at(1).get<std::uint64_t>(), each.at(2).get<std::uint64_t>()});
  }
  return entries;
}

json json_of(const std::vector<capture_miss_record>& misses) {
  json list = json::array();
  for (const auto& each : misses) list.push_back({each.requested_bytes, each.class_bytes, each.on, each.count});
  return list;
}

std::vector<capture_miss_record> misses_from(const json& list) {
  std::vector<capture_miss_record> misses;
  for (const json& each : list) {
    misses.push_back({each.at(0).get<std::uint64_t>(), each.at(1).get<std::uint64_t>(), each.at(2).get<stream>(),
                      each.at(3).get<std::uint64_t>()});
  }
  return misses;
}

json json_of(const std::optional<status>& value) {
  return value ? json(static_cast<std::int32_t>(*value)) : json(nullptr);
}

std::optional<status> status_from(const json& value) {
  if (value.is_null()) return std::nullopt;
  return static_cast<status>(value.get<std::int32_t>());
}

json json_of(const std::optional<std::uint64_t>& value) { return value ? json(*value) : json(nullptr); }

std::optional<std::uint64_t> bytes_or_nothing(const json& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<std::uint64_t>();
}

json json_of(const std::optional<decode::capture_report>& capture) {
  if (!capture) return nullptr;
  return {{"warm_up_steps", capture->warm_up_steps},
          {"profile", json_of(capture->profile)},
          {"prewarm", json_of(capture->prewarm)},
          {"verified", json_of(capture->verified)},
          {"missing", json_of(capture->missing)},
          {"window", json_of(capture->window)},
          {"misses", json_of(capture->misses)},
          {"pinned_bytes", capture->pinned_bytes},
          {"operations", capture->operations},
          {"replays", capture->replays},
          {"requests_in_replays", capture->requests_in_replays},
          {"driver_calls_in_replays", capture->driver_calls_in_replays}};
}

std::optional<decode::capture_report> capture_from(const json& object) {
  if (object.is_null()) return std::nullopt;
  decode::capture_report capture;
  capture.warm_up_steps = object.at("warm_up_steps").get<std::size_t>();
  capture.profile = entries_from(object.at("profile"));
  capture.prewarm = status_from(object.at("prewarm"));
  capture.verified = status_from(object.at("verified"));
  capture.missing = entries_from(object.at("missing"));
  capture.window = status_from(object.at("window"));
  capture.misses = misses_from(object.at("misses"));
  capture.pinned_bytes = object.at("pinned_bytes").get<std::uint64_t>();
  capture.operations = object.at("operations").get<std::size_t>();
  capture.replays = object.at("replays").get<std::size_t>();
  capture.requests_in_replays = object.at("requests_in_replays").get<std::uint64_t>();
  capture.driver_calls_in_replays = object.at("driver_calls_in_replays").get<std::uint64_t>();
  return capture;
}

json json_of(const std::optional<sim_choice>& sim) {
  if (!sim) return nullptr;
  return {{"model", sim->model},
          {"calls", static_cast<int>(sim->calls)},
          {"granule_bytes", sim->granule_bytes},
          {"free_bytes", json_of(sim->free_bytes)}};
}

std::optional<sim_choice> sim_from(const json& object) {
  if (object.is_null()) return std::nullopt;
  return sim_choice{object.at("model").get<std::string>(),
                    static_cast<decode::driver_calls>(object.at("calls").get<int>()),
                    object.at("granule_bytes").get<std::size_t>(), bytes_or_nothing(object.at("free_bytes"))};
}

json json_of(const std::optional<device_report>& device) {
  if (!device) return nullptr;
  json samples = json::array();
  for (const memory_sample& each : device->samples) {
    samples.push_back({each.seconds, each.tokens, each.resident_bytes});
  }
  return {{"samples", std::move(samples)},
          {"used_bytes_peak", device->used_bytes_peak},
          {"conviction", hex_of(device->conviction)}};
}

std::optional<device_report> device_from(const json& object) {
  if (object.is_null()) return std::nullopt;
  device_report device;
  for (const json& each : object.at("samples")) {
    device.samples.push_back(
        {each.at(0).get<double>(), each.at(1).get<std::uint64_t>(), each.at(2).get<std::uint64_t>()});
  }
  device.used_bytes_peak = object.at("used_bytes_peak").get<std::uint64_t>();
  device.conviction = bytes_of(object.at("conviction"));
  return device;
}

json json_of(const std::optional<decode::load_report>& load) {
  if (!load) return nullptr;
  return {load->ranks,
          load->slowest_rank,
          load->weight_bytes,
          load->step_ns_worst,
          load->driver_ns_step_worst,
          load->driver_ns_step_p99,
          load->reserved_bytes_peak_most,
          serving_json(load->serving)};
}

std::optional<decode::load_report> load_from(const json& list) {
  if (list.is_null()) return std::nullopt;
  const auto at = [&](std::size_t i) { return list.at(i).get<std::uint64_t>(); };
  return decode::load_report{at(0), at(1), at(2), at(3), at(4), at(5), at(6), serving_from(list.at(7))};
}

json json_of(const leg_report& report) {
  const decode::session_outcome& outcome = report.outcome;
  return {{"outcome", static_cast<std::int32_t>(outcome.outcome)},
          {"tokens_done", outcome.tokens_done},
          {"tokens", outcome.tokens},
          {"text", hex_of(outcome.text)},
          {"decode_seconds", outcome.decode_seconds},
          {"at_decode_start", json_of(outcome.at_decode_start)},
          {"at_half", json_of(outcome.at_half)},
          {"at_end", json_of(outcome.at_end)},
          {"capture", json_of(outcome.capture)},
          {"load", json_of(outcome.load)},
          {"cap", json_of(report.cap)},
          {"device", json_of(report.device)}};
}

leg_report report_from(const json& object) {
  leg_report report;
  decode::session_outcome& outcome = report.outcome;
  outcome.outcome = static_cast<status>(object.at("outcome").get<std::int32_t>());
  outcome.tokens_done = object.at("tokens_done").get<std::size_t>();
  outcome.tokens = object.at("tokens").get<std::vector<std::int32_t>>();
  outcome.text = bytes_of(object.at("text"));
  outcome.decode_seconds = object.at("decode_seconds").get<double>();
  outcome.at_decode_start = counters_from(object.at("at_decode_start"));
  outcome.at_half = counters_from(object.at("at_half"));
  outcome.at_end = counters_from(object.at("at_end"));
  outcome.capture = capture_from(object.at("capture"));
  outcome.load = load_from(object.at("load"));
  report.cap = cap_from(object.at("cap"));
  report.device = device_from(object.at("device"));
  return report;
}

}  // namespace

std::string request_line(const leg_request& request) {
  return json{{"session", json_of(request.session)},
              {"device_bytes", request.device_bytes},
              {"cuda_ordinal", request.cuda_ordinal ? json(*request.cuda_ordinal) : json(nullptr)},
              {"is_stream_ordered", request.is_stream_ordered},
              {"memory", json_of(request.memory)},
              {"memory_profile", hex_of(text_of(request.memory.profile_path))},
              {"memory_trace", hex_of(text_of(request.memory.trace_path))},
              {"sim", json_of(request.sim)},
              {"metrics_port", request.metrics_port},
              {"name", request.name}}
      .dump();
}

std::string word_line(const leg_word& word) {
  if (const auto* mark = std::get_if<leg_mark>(&word)) {
    json said{{"mark", mark->tokens}};
    if (mark->used_bytes) said["used_bytes"] = *mark->used_bytes;
    return said.dump();
  }
  if (const auto* report = std::get_if<leg_report>(&word)) return json{{"report", json_of(*report)}}.dump();
  return json{{"refusal", hex_of(std::get<leg_refusal>(word).message)}}.dump();
}

std::optional<leg_request> request_from(const std::string& line) try {
  const json object = json::parse(line);
  leg_request request{session_from(object.at("session")), object.at("device_bytes").get<std::uint64_t>(),
                      options_from(object.at("memory")), bytes_of(object.at("memory_profile")),
                      bytes_of(object.at("memory_trace"))};
  const json& ordinal = object.at("cuda_ordinal");
  if (!ordinal.is_null()) request.cuda_ordinal = ordinal.get<int>();
  request.is_stream_ordered = object.at("is_stream_ordered").get<bool>();
  request.sim = sim_from(object.at("sim"));
  request.metrics_port = object.at("metrics_port").get<std::uint16_t>();
  request.name = object.at("name").get<std::string>();
  return request;
} catch (const json::exception&) {
  return std::nullopt;
}

std::optional<leg_word> word_from(const std::string& line) try {
  const json object = json::parse(line);
  if (object.contains("mark")) {
    leg_mark mark{object.at("mark").get<std::uint64_t>()};
    if (object.contains("used_bytes")) mark.used_bytes = object.at("used_bytes").get<std::uint64_t>();
    return mark;
  }
  if (object.contains("report")) return report_from(object.at("report"));
  return leg_refusal{bytes_of(object.at("refusal"))};
} catch (const json::exception&) {
  return std::nullopt;
}

}  // namespace arcalloc::cli
