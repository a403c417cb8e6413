// SPDX-License-Identifier: Apache-2.0
#include "report_json.hpp"

#include <arcalloc/counters.hpp>
#include <arcalloc/status.hpp>
#include <fstream>

#include "json_text.hpp"

namespace arcalloc::cli {

namespace {

ordered_json json_of(const trace::life_stretch& one) {
  const trace::life_bytes& peaks = one.peaks;
  return {{"last_event", one.last_event},
          {"time_ns", one.time_ns == trace::no_time ? ordered_json(nullptr) : ordered_json(one.time_ns)},
          {"requested_bytes_peak", peaks.requested},
          {"allocated_bytes_peak", peaks.allocated},
          {"pending_bytes_peak", peaks.pending},
          {"cached_bytes_peak", peaks.cached},
          {"slack_bytes_peak", peaks.slack},
          {"pinned_bytes_peak", peaks.pinned},
          {"reserved_bytes_peak", peaks.reserved}};
}

ordered_json json_of(const trace::life_steps& one) {
  return {{"first", one.first},
          {"count", one.count},
          {"requests", one.requests},
          {"hits", one.hits},
          {"misses", one.misses},
          {"driver_allocs", one.driver_allocs},
          {"driver_frees", one.driver_frees},
          {"evictions", one.evictions},
          {"driver_calls_most", one.driver_calls_most},
          {"reserved_bytes_most", one.reserved_bytes_most},
          {"requested_bytes_most", one.requested_bytes_most}};
}

ordered_json json_of(std::uint64_t class_bytes, const trace::life_class& one) {
  return {{"class_bytes", class_bytes}, {"requests", one.requests}, {"misses", one.misses},
          {"bytes", one.bytes},         {"live", one.live},         {"live_most", one.live_most}};
}

ordered_json json_of(const trace::life_growth& one) {
  return {{"ordinal", one.ordinal},       {"first_bytes", one.first_bytes},
          {"last_bytes", one.last_bytes}, {"steps", one.steps},
          {"grown", one.grown},           {"shrunk", one.shrunk}};
}

template <class List>
ordered_json list_of(const List& list) {
  ordered_json all = ordered_json::array();
  for (const auto& one : list) all.push_back(json_of(one));
  return all;
}

ordered_json json_of(const trace::replay_result& played) {
  ordered_json refusal = nullptr;
  if (played.refusal) {
    refusal = {{"event", played.refusal->event},
               {"status", status_name(played.refusal->outcome)},
               {"requested_bytes", played.refusal->bytes}};
  }
  return {{"refusal", refusal},
          {"convictions", played.convictions},
          {"requested_bytes_peak", played.requested_bytes_peak},
          {"refusals_recorded", played.refusals_recorded},
          {"refusals_served", played.refusals_served},
          {"steps", played.steps},
          {"driver_calls_step_max", played.driver_calls_step_max},
          {"device_ns", played.device_ns},
          {"cached_bytes_max_wanted", played.cached_bytes_max_wanted},
          {"counters", counters_json(played.last)}};
}

}  // namespace

std::string report_json(const page::trace_page_content& content, const std::string& page) {
  const trace::life_report& life = content.life;
  ordered_json facts;
  for (const auto& [name, value] : content.facts) facts[name] = value;
  ordered_json classes = ordered_json::array();
  for (const auto& [bytes, one] : life.classes) classes.push_back(json_of(bytes, one));
  const std::uint64_t reserved = content.trace_reserved_bytes_peak;
  return json_file({{"schema", "arcalloc.report/1"},
                    {"provenance", provenance_json(content.from)},
                    {"file", content.file},
                    {"format", content.format},
                    {"page", page},
                    {"events", content.events},
                    {"facts", facts},
                    {"policy", content.policy},
                    {"device_bytes", content.device_bytes},
                    {"trace_reserved_bytes_peak", reserved == 0 ? ordered_json(nullptr) : ordered_json(reserved)},
                    {"cached_bytes_max", bound_json(life.cached_bytes_max)},
                    {"capacity_bytes", bound_json(life.capacity_bytes)},
                    {"events_per_stretch", life.events_per_stretch},
                    {"timeline", list_of(life.timeline)},
                    {"steps", list_of(life.steps)},
                    {"classes", classes},
                    {"growing", list_of(life.growing)},
                    {"distinct_growing", life.distinct_growing},
                    {"played", json_of(life.played)}});
}

std::string report_json_of_result(const std::string& file, const std::string& page, const provenance& from) {
  std::ifstream in(file, std::ios::binary);
  ordered_json result = ordered_json::parse(in);
  const std::string format = result.at("schema").get<std::string>();
  return json_file({{"schema", "arcalloc.report/1"},
                    {"provenance", provenance_json(from)},
                    {"file", file},
                    {"format", format},
                    {"page", page},
                    {"result", std::move(result)}});
}

}  // namespace arcalloc::cli
