// SPDX-License-Identifier: Apache-2.0
#include "result_reading.hpp"

#include <algorithm>
#include <arcalloc/counters.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace arcalloc::cli {

namespace {

using nlohmann::json;

/// What is wrong with a file, without its name.
struct unreadable {
  std::string why;
};

template <class Value>
std::optional<Value> maybe(const json& from, const char* name) {
  const json& value = from.at(name);
  return value.is_null() ? std::nullopt : std::optional<Value>(value.get<Value>());
}

std::string text_or_empty(const json& from, const char* name) { return maybe<std::string>(from, name).value_or(""); }

/// The one of `count` values that is called so.
template <class Value, class Name>
Value named(const json& from, const char* member, int count, const Name& name_of) {
  const auto text = from.at(member).get<std::string>();
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<Value>(i);
    if (text == name_of(value)) return value;
  }
  throw unreadable{std::string(member) + " is \"" + text + "\""};
}

std::optional<status> status_or_nothing(const json& from, const char* member) {
  if (from.at(member).is_null()) return std::nullopt;
  return named<status>(from, member, status_count, status_name);
}

std::uint64_t read_cap_source(const json& from) {
  return named<std::uint64_t>(from, "cap_source", ARCALLOC_CAP_UNBOUNDED + 1, cap_source_name);
}

std::uint64_t read_bound(const json& from, const char* member) {
  return maybe<std::uint64_t>(from, member).value_or(ARCALLOC_NO_BOUND);
}

counters read_written_counters(const json& from) {
  counters values{};
  values.size = sizeof values;
  values.version = ARCALLOC_COUNTERS_VERSION;
  std::size_t count = 0;
  const counter_field* fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t& value = values.*fields[i].value;
    if (fields[i].value == &counters::cap_source) {
      value = read_cap_source(from);
    } else if (fields[i].value == &counters::cached_bytes_max || fields[i].value == &counters::capacity_bytes) {
      value = read_bound(from, fields[i].name);
    } else {
      value = from.at(fields[i].name).get<std::uint64_t>();
    }
  }
  return values;
}

provenance read_provenance(const json& from) {
  provenance made;
  made.version = from.at("version").get<std::string>();
  made.commit = from.at("commit").get<std::string>();
  made.dirty = from.at("dirty").get<std::string>();
  made.build_id = from.at("build_id").get<std::string>();
  made.compiler = from.at("compiler").get<std::string>();
  made.build_type = from.at("build_type").get<std::string>();
  made.device = from.at("device").get<std::string>();
  made.driver = from.at("driver").get<std::string>();
  made.free_bytes_at_start = from.at("free_bytes_at_start").get<std::uint64_t>();
  made.available_bytes_at_start = maybe<std::uint64_t>(from, "available_bytes_at_start");
  for (const json& row : from.at("settings")) {
    made.settings.push_back({row.at("variable").get<std::string>(), row.at("value").get<std::string>(),
                             row.at("source").get<std::string>(), row.at("meaning").get<std::string>(),
                             text_or_empty(row, "refused")});
  }
  made.command = from.at("command").get<std::string>();
  const json& machine = from.at("machine");
  made.processor = machine.at("processor").get<std::string>();
  made.cores = machine.at("cores").get<std::uint64_t>();
  made.memory_bytes = maybe<std::uint64_t>(machine, "memory_bytes");
  made.kernel = machine.at("kernel").get<std::string>();
  made.utc = from.at("utc").get<std::string>();
  return made;
}

decode_request read_input(const json& from) {
  decode_request made;
  decode::session_settings& session = made.session;
  session.config_name = text_or_empty(from, "config");
  session.model_path = text_or_empty(from, "model");
  session.tokenizer_path = text_or_empty(from, "tokenizer");
  session.prompt = from.at("prompt").get<std::string>();
  session.tokens = from.at("tokens").get<std::size_t>();
  session.context = from.at("context").get<std::size_t>();
  session.kv = from.at("kv") == "concat" ? decode::kv_mode::concat : decode::kv_mode::preallocated;
  session.capture = from.at("capture").get<bool>();
  const auto work = from.at("work").get<std::string>();
  if (work == "virtual time") made.device.kind = device_kind::sim;
  if (work == "memory traffic") made.device.kind = device_kind::cuda;
  made.device.size_bytes = from.at("device_bytes").get<std::uint64_t>();
  return made;
}

options read_options(const json& from) {
  options made;
  made.enabled = from.at("enabled").get<bool>();
  made.classes = named<geometry>(from, "geometry", static_cast<int>(geometry::exact) + 1, geometry_name);
  made.capacity_bytes = maybe<std::size_t>(from, "capacity_bytes").value_or(0);
  made.oom_retry = from.at("oom_retry").get<bool>();
  return made;
}

cap_arithmetic read_cap(const json& from) {
  cap_arithmetic made{};
  made.cached_bytes_max = read_bound(from, "cached_bytes_max");
  made.cap_source = static_cast<decltype(made.cap_source)>(read_cap_source(from));
  made.driver_free_bytes = from.at("driver_free_bytes").get<std::uint64_t>();
  made.own_cached_bytes = from.at("own_cached_bytes").get<std::uint64_t>();
  made.free_bytes = from.at("free_bytes").get<std::uint64_t>();
  made.reserve_bytes = from.at("reserve_bytes").get<std::uint64_t>();
  made.query = named<status>(from, "query", status_count, status_name);
  return made;
}

std::vector<profile_entry> read_entries(const json& list) {
  std::vector<profile_entry> made;
  for (const json& each : list) {
    profile_entry one{};
    one.on = stream{each.at("stream").get<std::uint64_t>()};
    one.bytes = each.at("bytes").get<decltype(one.bytes)>();
    one.blocks = each.at("blocks").get<decltype(one.blocks)>();
    made.push_back(one);
  }
  return made;
}

std::optional<decode::capture_report> read_capture(const json& from) {
  if (from.is_null()) return std::nullopt;
  decode::capture_report made;
  made.window = status_or_nothing(from, "outcome");
  made.operations = from.at("operations").get<std::size_t>();
  for (const json& each : from.at("misses")) {
    capture_miss_record one{};
    one.requested_bytes = each.at("bytes").get<decltype(one.requested_bytes)>();
    one.class_bytes = each.at("class_bytes").get<decltype(one.class_bytes)>();
    one.on = stream{each.at("stream").get<std::uint64_t>()};
    one.count = each.at("count").get<decltype(one.count)>();
    made.misses.push_back(one);
  }
  made.replays = from.at("replays").get<std::size_t>();
  made.requests_in_replays = from.at("requests_in_replays").get<std::uint64_t>();
  made.driver_calls_in_replays = from.at("driver_calls_in_replays").get<std::uint64_t>();
  made.pinned_bytes = from.at("pinned_bytes").get<std::uint64_t>();
  const json& profile = from.at("profile");
  made.warm_up_steps = profile.at("warm_up_steps").get<std::size_t>();
  made.profile = read_entries(profile.at("entries"));
  made.prewarm = status_or_nothing(profile, "prewarm");
  made.verified = status_or_nothing(profile, "verify");
  made.missing = read_entries(profile.at("missing"));
  return made;
}

/// Of one round, which is an object of its own; `death` stands beside the rounds.
leg_figures read_figures(const json& from, std::uint64_t tokens, const std::string& death) {
  leg_figures made;
  made.outcome = from.at("outcome").get<std::string>();
  made.completed = made.outcome == "completed";
  made.tokens_done = from.at("tokens_done").get<std::uint64_t>();
  made.ms_per_token = maybe<double>(from, "ms_per_token");
  made.tokens_per_s = maybe<double>(from, "tokens_per_s");
  made.memory_growth_bytes = maybe<std::int64_t>(from, "memory_growth_bytes");
  made.memory_slope_bytes_per_s = maybe<double>(from, "memory_slope_bytes_per_s");
  const json& deciles = from.at("memory_deciles_bytes");
  if (deciles.size() != decile_count) throw unreadable{"memory_deciles_bytes has not 11 entries"};
  for (std::size_t i = 0; i < decile_count; ++i) {
    if (!deciles[i].is_null()) made.memory_deciles_bytes[i] = deciles[i].get<std::int64_t>();
  }
  made.hit_rate = maybe<double>(from, "hit_rate");
  made.driver_allocs_per_step = maybe<double>(from, "driver_allocs_per_step");
  made.driver_frees_per_step = maybe<double>(from, "driver_frees_per_step");
  made.driver_allocs_per_step_second_half = maybe<double>(from.at("second_half"), "driver_allocs_per_step");
  made.driver_frees_per_step_second_half = maybe<double>(from.at("second_half"), "driver_frees_per_step");
  made.requests_per_step = maybe<double>(from, "requests_per_step");
  made.ended = made.outcome;
  if (!made.completed) {
    made.ended +=
        made.memory_deciles_bytes[0] ? " at token " + std::to_string(made.tokens_done + 1) : " before token 1";
    if (!death.empty()) made.ended += ", " + death;
  } else if (made.tokens_done < tokens) {
    made.ended += " early, after token " + std::to_string(made.tokens_done);
  }
  return made;
}

std::optional<double> ratio_of(std::uint64_t over, std::uint64_t under) {
  if (under == 0) return std::nullopt;
  return static_cast<double>(over) / static_cast<double>(under);
}

std::optional<spread> read_spread(const json& from) {
  if (from.is_null()) return std::nullopt;
  return spread{from.at("median").get<double>(), from.at("least").get<double>(), from.at("most").get<double>()};
}

/// The run that is shown. Only what is above its start is known of its memory, unless samples say more.
leg_run read_run(const json& from, const leg_figures& figures) {
  leg_run made;
  made.death = text_or_empty(from, "death");
  made.outcome = figures.completed ? status::ok : named<status>(from, "outcome", status_count, status_name);
  made.tokens_done = figures.tokens_done;
  for (const json& each : from.at("memory_samples")) {
    made.samples.push_back({each.at("seconds").get<double>(), each.at("tokens").get<std::uint64_t>(),
                            each.at("resident_bytes").get<std::uint64_t>()});
  }
  made.started = figures.memory_deciles_bytes.front().has_value();
  // A start above what a leg can fall below: only differences to it are shown.
  const std::uint64_t start = made.samples.empty() ? std::uint64_t{1} << 62 : made.samples.front().resident_bytes;
  for (std::size_t i = 0; i < decile_count; ++i) {
    const auto& above = figures.memory_deciles_bytes[i];
    if (above) made.decile_bytes[i] = start + static_cast<std::uint64_t>(*above);
  }
  if (!figures.completed && made.started && figures.memory_growth_bytes) {
    made.resident_bytes_peak = start + static_cast<std::uint64_t>(*figures.memory_growth_bytes);
  }
  if (from.at("text").is_null()) return made;
  leg_report& report = made.report.emplace();
  report.outcome.text = from.at("text").get<std::string>();
  report.outcome.tokens_done = static_cast<std::size_t>(figures.tokens_done);
  report.outcome.capture = read_capture(from.at("capture"));
  report.cap = read_cap(from.at("cap"));
  return made;
}

leg_result read_leg(const json& from, std::uint64_t tokens) {
  leg_result made;
  made.which = named<leg>(from, "leg", static_cast<int>(leg::bounded) + 1, leg_name);
  made.memory = read_options(from.at("options"));
  made.ms_per_token = read_spread(from.at("ms_per_token_spread"));
  made.memory_growth_bytes = read_spread(from.at("memory_growth_bytes_spread"));
  const json& rounds = from.at("rounds");
  const auto shown = from.at("shown_round").get<std::uint64_t>();
  if (shown == 0 || shown > rounds.size()) throw unreadable{"shown_round is none of the rounds"};
  made.shown = static_cast<std::size_t>(shown - 1);
  for (const json& each : rounds) made.rounds.push_back(read_figures(each, tokens, text_or_empty(from, "death")));
  leg_figures& figures = made.rounds[made.shown];
  if (!from.at("counters").is_null()) {
    const counters end = read_written_counters(from.at("counters"));
    figures.at_end = end;
    figures.reserved_over_allocated = ratio_of(end.reserved_bytes_peak, end.allocated_bytes_peak);
    figures.allocated_over_requested = ratio_of(end.allocated_bytes_peak, end.requested_bytes_peak);
  }
  made.runs.resize(made.rounds.size());
  made.runs[made.shown] = read_run(from, figures);
  return made;
}

decode_result result_from(const json& from) {
  decode_result made;
  made.from = read_provenance(from.at("provenance"));
  made.request = read_input(from.at("input"));
  for (const json& each : from.at("legs")) {
    made.legs.push_back(read_leg(each, made.request.session.tokens));
    made.request.legs.push_back(made.legs.back().which);
    made.request.rounds = std::max<std::uint64_t>(made.request.rounds, made.legs.back().rounds.size());
  }
  made.bound_cost_ms_per_token = maybe<double>(from, "bound_cost_ms_per_token");
  made.gain_kept = maybe<double>(from, "gain_kept");
  if (!from.at("bounded_over_unbounded").is_null()) {
    made.bounded_over_unbounded = from.at("bounded_over_unbounded").at("rounds").get<std::vector<double>>();
  }
  made.tokens_equal = from.at("tokens_equal").get<bool>();
  if (!made.tokens_equal) made.token_difference = "the file does not say where";
  const std::string violated = "VIOLATED: ";
  const auto accounting = from.at("accounting").get<std::string>();
  if (accounting.starts_with(violated)) made.accounting = accounting.substr(violated.size());
  return made;
}

}  // namespace

std::optional<std::string> schema_of(const std::string& file) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) return std::nullopt;
  std::string head(256, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  std::string_view rest = head;
  for (const std::string_view token : {"{", "\"schema\"", ":", "\""}) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    if (!rest.starts_with(token)) return std::nullopt;
    rest.remove_prefix(token.size());
  }
  const std::size_t end = rest.find('"');
  if (end == std::string_view::npos || !rest.starts_with("arcalloc.")) return std::nullopt;
  return std::string(rest.substr(0, end));
}

decode_result read_decode_result(const std::string& file) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(file, failed);
  if (failed || bytes > result_bytes_max) {
    throw command_failure{exit_status::bad_usage,
                          file + ": " + (failed ? failed.message() : std::string("larger than any result"))};
  }
  std::ifstream in(file, std::ios::binary);
  try {
    return result_from(json::parse(in));
  } catch (const json::exception& error) {
    throw command_failure{exit_status::bad_usage, file + ": no result of arcalloc decode: " + error.what()};
  } catch (const unreadable& found) {
    throw command_failure{exit_status::bad_usage, file + ": no result of arcalloc decode: " + found.why};
  }
}

}  // namespace arcalloc::cli
