// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include "number_text.hpp"

namespace arcalloc::cli {

ordered_json bound_json(std::uint64_t bytes) {
  return bytes == ARCALLOC_NO_BOUND ? ordered_json(nullptr) : ordered_json(bytes);
}

ordered_json cap_json(const cap_arithmetic& cap) {
  return {{"cached_bytes_max", bound_json(cap.cached_bytes_max)},
          {"cap_source", cap_source_name(cap.cap_source)},
          {"driver_free_bytes", cap.driver_free_bytes},
          {"own_cached_bytes", cap.own_cached_bytes},
          {"free_bytes", cap.free_bytes},
          {"reserve_bytes", cap.reserve_bytes},
          {"query", status_name(cap.query)},
          {"arithmetic", cap_text(cap)}};
}

ordered_json counters_json(const counters& values) {
  ordered_json object = ordered_json::object();
  std::size_t count = 0;
  const counter_field* fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = values.*fields[i].value;
    if (fields[i].value == &counters::cap_source) {
      object[fields[i].name] = cap_source_name(value);
    } else if (fields[i].value == &counters::cached_bytes_max || fields[i].value == &counters::capacity_bytes) {
      object[fields[i].name] = bound_json(value);
    } else {
      object[fields[i].name] = value;
    }
  }
  return object;
}

ordered_json settings_json(const std::vector<setting_view>& settings) {
  ordered_json list = ordered_json::array();
  for (const setting_view& row : settings) {
    list.push_back({{"variable", row.variable},
                    {"value", row.value},
                    {"source", row.source},
                    {"meaning", row.meaning},
                    {"refused", row.refusal.empty() ? ordered_json(nullptr) : ordered_json(row.refusal)}});
  }
  return list;
}

ordered_json provenance_json(const provenance& from) {
  return {{"version", from.version},
          {"commit", from.commit},
          {"dirty", from.dirty},
          {"build_id", from.build_id},
          {"compiler", from.compiler},
          {"build_type", from.build_type},
          {"device", from.device},
          {"driver", from.driver},
          {"free_bytes_at_start", from.free_bytes_at_start},
          {"available_bytes_at_start", json_or_null(from.available_bytes_at_start)},
          {"settings", settings_json(from.settings)},
          {"command", from.command},
          {"machine",
           {{"processor", from.processor},
            {"cores", from.cores},
            {"memory_bytes", json_or_null(from.memory_bytes)},
            {"kernel", from.kernel}}},
          {"utc", from.utc}};
}

std::string json_file(const ordered_json& value) {
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace arcalloc::cli
