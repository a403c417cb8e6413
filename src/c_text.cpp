// SPDX-License-Identifier: Apache-2.0
// The texts of the C ABI: a failure, a step report and the counters as JSON, written as snprintf does.
// Pure; any thread; nothing is kept. The whole text is gone through whatever the capacity, since its
// length is the answer.
#include <arcalloc/allocator.hpp>
#include <arcalloc/counters.hpp>
#include <cstdio>
#include <cstring>

#include "c_struct.hpp"

namespace {

using arcalloc::counter_field;
using arcalloc::counters;
using arcalloc::failure_record;

/// Takes a text piece by piece, keeps what fits with the final zero, and counts all of it.
class bounded_text {
 public:
  bounded_text(char* text, std::size_t capacity) noexcept : text_(text), capacity_(capacity) {
    if (capacity_ != 0) text_[0] = '\0';
  }

  void append(const char* piece) noexcept {
    const std::size_t bytes = std::strlen(piece);
    if (length_ + 1 < capacity_) {
      const std::size_t kept = std::min(bytes, capacity_ - 1 - length_);
      std::memcpy(text_ + length_, piece, kept);
      text_[length_ + kept] = '\0';
    }
    length_ += bytes;
  }

  void append(std::uint64_t number) noexcept {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(number));
    append(digits);
  }

  [[nodiscard]] int length() const noexcept { return static_cast<int>(length_); }

 private:
  char* text_;
  std::size_t capacity_;
  std::size_t length_ = 0;
};

bool writable(const char* text, std::size_t capacity) noexcept { return text != nullptr || capacity == 0; }

/// Reads counters that were filled by this library, or by one with the same layout.
bool read_counters(const arcalloc_counters* given, counters& out) noexcept {
  return arcalloc::detail::read_struct(given, out) && out.version == ARCALLOC_COUNTERS_VERSION;
}

bool is_bound(const counter_field& field) noexcept {
  return field.value == &counters::cached_bytes_max || field.value == &counters::capacity_bytes;
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
  return out.length();
}

int arcalloc_step_report_text(const arcalloc_counters* window, std::uint64_t steps, char* text,
                              std::size_t capacity) noexcept {
  counters given;
  if (!writable(text, capacity) || !read_counters(window, given)) return -ARCALLOC_INVALID_ARGUMENT;
  char line[1024];  // ten numbers of at most 24 characters, and their names
  arcalloc::format_step_report(given, steps, line, sizeof line);
  bounded_text out(text, capacity);
  out.append(line);
  return out.length();
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
    // A field that a shortened struct lacks is left out: a zero would claim that it was read.
    const auto* const end = reinterpret_cast<const unsigned char*>(value + 1);
    if (end > reinterpret_cast<const unsigned char*>(&given) + given.size) continue;
    out.append(separator);
    out.append(fields[i].name);
    out.append("\":");
    if (fields[i].value == &counters::cap_source) {
      out.append("\"");
      out.append(arcalloc::cap_source_name(*value));
      out.append("\"");
    } else if (is_bound(fields[i]) && *value == ARCALLOC_NO_BOUND) {
      out.append("null");
    } else {
      out.append(*value);
    }
    separator = ",\"";
  }
  out.append("}");
  return out.length();
}

}  // extern "C"
