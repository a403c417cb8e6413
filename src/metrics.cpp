// SPDX-License-Identifier: Apache-2.0
// Counters as Prometheus reads them. Pure; any thread; costs a walk of all fields for each source.
#include <arcalloc/metrics.hpp>

#include "counters_text.hpp"

namespace arcalloc {

namespace {

bool begins_a_name(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool continues_a_name(char c) noexcept { return begins_a_name(c) || (c >= '0' && c <= '9'); }

/// Steps over one `name="value"`; null where it is none.
const char* after_label(const char* at) noexcept {
  if (!begins_a_name(*at)) return nullptr;
  while (continues_a_name(*at)) ++at;
  if (at[0] != '=' || at[1] != '"') return nullptr;
  for (at += 2; *at != '"'; ++at) {
    if (*at == '\0' || *at == '\n') return nullptr;
    if (*at != '\\') continue;
    ++at;
    if (*at != '\\' && *at != '"' && *at != 'n') return nullptr;
  }
  return at + 1;
}

void append_name(const counter_field& field, detail::bounded_text& out) noexcept {
  out.append("arcalloc_");
  out.append(field.name);
  if (field.kind == counter_kind::count) out.append("_total");
}

void append_value(const counter_field& field, const counters& values, const char* labels,
                  detail::bounded_text& out) noexcept {
  append_name(field, out);
  if (labels != nullptr && *labels != '\0') {
    out.append("{");
    out.append(labels);
    out.append("}");
  }
  out.append(" ");
  const std::uint64_t value = values.*field.value;
  if (detail::is_bound(field) && value == ARCALLOC_NO_BOUND) {
    out.append("+Inf");
  } else {
    out.append(value);
  }
  out.append("\n");
}

void append_description(const counter_field& field, detail::bounded_text& out) noexcept {
  out.append("# HELP ");
  append_name(field, out);
  out.append(" ");
  out.append(field.meaning);
  out.append("\n# TYPE ");
  append_name(field, out);
  out.append(field.kind == counter_kind::count ? " counter\n" : " gauge\n");
}

const char* nth_of_ours(const void* sources, std::size_t i, counters& values) noexcept {
  const metrics_source& source = static_cast<const metrics_source*>(sources)[i];
  values = source.values;
  return source.labels;
}

}  // namespace

namespace detail {

bool is_bound(const counter_field& field) noexcept {
  return field.value == &counters::cached_bytes_max || field.value == &counters::capacity_bytes;
}

bool has(const counters& values, const counter_field& field) noexcept {
  const auto* const end = reinterpret_cast<const std::byte*>(&(values.*field.value) + 1);
  return end <= reinterpret_cast<const std::byte*>(&values) + values.size;
}

bool well_formed_labels(const char* labels) noexcept {
  if (labels == nullptr || *labels == '\0') return true;
  for (;;) {
    labels = after_label(labels);
    if (labels == nullptr) return false;
    if (*labels == '\0') return true;
    if (*labels++ != ',') return false;
  }
}

void append_metrics(const void* sources, std::size_t count, nth_source nth, bounded_text& out) noexcept {
  std::size_t fields = 0;
  const counter_field* const field = counter_fields(fields);
  for (std::size_t f = 0; f < fields; ++f) {
    // All samples of one name stand together, below one description, as the format demands.
    bool described = false;
    for (std::size_t i = 0; i < count; ++i) {
      counters values;
      const char* const labels = nth(sources, i, values);
      if (!has(values, field[f])) continue;
      if (!described) append_description(field[f], out);
      described = true;
      append_value(field[f], values, labels, out);
    }
  }
}

}  // namespace detail

status format_metrics(const metrics_source* sources, std::size_t count, char* text, std::size_t capacity,
                      std::size_t& length) noexcept {
  if ((text == nullptr && capacity != 0) || (sources == nullptr && count != 0)) return status::invalid_argument;
  for (std::size_t i = 0; i < count; ++i) {
    if (!detail::well_formed_labels(sources[i].labels)) return status::invalid_argument;
  }
  detail::bounded_text out(text, capacity);
  detail::append_metrics(sources, count, &nth_of_ours, out);
  length = out.length();
  return status::ok;
}

}  // namespace arcalloc
