// SPDX-License-Identifier: Apache-2.0
// The texts of the C ABI: a failure, a step report and the counters as JSON, written as snprintf does.
// Pure; any thread; nothing is kept. The whole text is gone through whatever the capacity, since its
// length is the answer.
#include <arcalloc/allocator.hpp>
#include <arcalloc/counters.hpp>

#include "bounded_text.hpp"
#include "c_struct.hpp"
#include "counters_text.hpp"

namespace {

using arcalloc::counter_field;
using arcalloc::counters;
using arcalloc::failure_record;
using arcalloc::detail::bounded_text;

bool writable(const char* text, std::size_t capacity) noexcept { return text != nullptr || capacity == 0; }

/// Reads counters that were filled by this library, or by one with the same layout.
bool read_counters(const arcalloc_counters* given, counters& out) noexcept {
  return arcalloc::detail::read_struct(given, out) && out.version == ARCALLOC_COUNTERS_VERSION;
}

/// What a C caller passes to arcalloc_metrics_text.
struct c_sources {
  const arcalloc_counters* const* counters_read;
  const char* const* labels;
};

const char* nth_of_theirs(const void* sources, std::size_t i, counters& values) noexcept {
  const auto& given = *static_cast<const c_sources*>(sources);
  // Read once before, and found to be readable.
  if (!read_counters(given.counters_read[i], values)) values = {};
  return given.labels == nullptr ? nullptr : given.labels[i];
}

}  // namespace

extern "C" {

int arcalloc_failure_text(const arcalloc_failure* failure, char* text, std::size_t capacity) noexcept {
  arcalloc_failure given;
  if (!writable(text, capacity) || !arcalloc::detail::read_struct(failure, given)) return -ARCALLOC_INVALID_ARGUMENT;
  if (given.outcome < ARCALLOC_OK || given.outcome > ARCALLOC_SHUTTING_DOWN) return -ARCALLOC_INVALID_ARGUMENT;
  failure_record record;
  record.outcome = static_cast<arcalloc::status>(given.outcome);
  record.requested_bytes = given.requested_bytes;
  record.class_bytes = given.class_bytes;
  record.on = arcalloc::stream{given.stream};
  record.allocated_bytes = given.allocated_bytes;
  record.pending_bytes = given.pending_bytes;
  record.cached_bytes = given.cached_bytes;
  record.slack_bytes = given.slack_bytes;
  record.pinned_bytes = given.pinned_bytes;
  record.stuck_bytes = given.stuck_bytes;
  record.reserved_bytes = given.reserved_bytes;
  record.cached_bytes_max = given.cached_bytes_max;
  record.capacity_bytes = given.capacity_bytes;
  record.driver_free_bytes = given.driver_free_bytes;
  record.largest_idle_bytes = given.largest_idle_bytes;
  char line[1024];  // 14 numbers of at most 20 digits, and their names
  arcalloc::format_failure(record, line, sizeof line);
  bounded_text out(text, capacity);
  out.append(line);
  return static_cast<int>(out.length());
}

int arcalloc_step_report_text(const arcalloc_counters* window, std::uint64_t steps, char* text,
                              std::size_t capacity) noexcept {
  counters given;
  if (!writable(text, capacity) || !read_counters(window, given)) return -ARCALLOC_INVALID_ARGUMENT;
  char line[1024];  // ten numbers of at most 24 characters, and their names
  arcalloc::format_step_report(given, steps, line, sizeof line);
  bounded_text out(text, capacity);
  out.append(line);
  return static_cast<int>(out.length());
}

int arcalloc_counters_json(const arcalloc_counters* counters_read, char* text, std::size_t capacity) noexcept {
  counters given;
  if (!writable(text, capacity) || !read_counters(counters_read, given)) return -ARCALLOC_INVALID_ARGUMENT;
  bounded_text out(text, capacity);
  std::size_t count = 0;
  const counter_field* const fields = arcalloc::counter_fields(count);
  const char* separator = "{\"";
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const value = &(given.*fields[i].value);
    if (!arcalloc::detail::has(given, fields[i])) continue;
    out.append(separator);
    out.append(fields[i].name);
    out.append("\":");
    if (fields[i].value == &counters::cap_source) {
      out.append("\"");
      out.append(arcalloc::cap_source_name(*value));
      out.append("\"");
    } else if (arcalloc::detail::is_bound(fields[i]) && *value == ARCALLOC_NO_BOUND) {
      out.append("null");
    } else {
      out.append(*value);
    }
    separator = ",\"";
  }
  out.append("}");
  return static_cast<int>(out.length());
}

int arcalloc_metrics_text(const arcalloc_counters* const* counters_read, const char* const* labels, std::size_t count,
                          char* text, std::size_t capacity) noexcept {
  if (!writable(text, capacity) || (counters_read == nullptr && count != 0)) return -ARCALLOC_INVALID_ARGUMENT;
  for (std::size_t i = 0; i < count; ++i) {
    counters values;
    if (!read_counters(counters_read[i], values)) return -ARCALLOC_INVALID_ARGUMENT;
    if (labels != nullptr && !arcalloc::detail::well_formed_labels(labels[i])) return -ARCALLOC_INVALID_ARGUMENT;
  }
  const c_sources sources{counters_read, labels};
  bounded_text out(text, capacity);
  arcalloc::detail::append_metrics(&sources, count, &nth_of_theirs, out);
  return static_cast<int>(out.length());
}

}  // extern "C"
