// SPDX-License-Identifier: Apache-2.0
// The log of RMM's logging adaptor: `Thread,Time,Action,Pointer,Size,Stream`. Actions are `allocate`, `allocate
// failure` and `free`, which its guide writes `deallocate`. A null pointer prints as (nil) or 0x0: a failure has one,
// and so have requests of zero bytes, which are skipped and counted. The time is that of the day, HH:MM:SS and a
// fraction behind a point or a colon, or seconds since some beginning; where the day ends in a log, the next one
// follows.
#include <optional>
#include <string_view>

#include "trace/formats/csv_columns.hpp"
#include "trace/formats/readers.hpp"
#include "trace/formats/text_rows.hpp"
#include "trace/size_text.hpp"

namespace arcalloc::trace {

namespace {

enum column : std::size_t { thread_column, time_column, action_column, pointer_column, size_column, stream_column };

constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::uint64_t ns_per_day = 86'400 * ns_per_s;

/// Hexadecimal behind 0x, decimal without, or (nil).
std::optional<std::uint64_t> pointer_from(std::string_view text) {
  if (text == "(nil)" || text == "nullptr") return 0;
  if (!text.starts_with("0x")) return count_from(text, UINT64_MAX);
  text.remove_prefix(2);
  if (text.empty() || text.size() > 16) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9'                     ? c - '0'
                      : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                               : -1;
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(digit);
  }
  return value;
}

/// Digits alone, with or without leading zeros; at most nine.
std::optional<std::uint64_t> digits_from(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

/// A fraction of a second, as nanoseconds: up to nine digits, the first the tenths.
std::optional<std::uint64_t> fraction_from(std::string_view text) {
  auto value = digits_from(text);
  for (std::size_t i = text.size(); value && i < 9; ++i) *value *= 10;
  return value;
}

struct moment {
  std::uint64_t ns = 0;
  bool is_of_a_day = false;
};

std::optional<moment> moment_from(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const std::size_t point = text.find('.');
    const auto seconds = count_from(text.substr(0, point), time_us_max / 1'000'000);
    const auto fraction = point == std::string_view::npos ? 0 : fraction_from(text.substr(point + 1));
    if (!seconds || !fraction) return std::nullopt;
    return moment{*seconds * ns_per_s + *fraction, false};
  }
  // HH:MM:SS, then a point or a colon.
  if (text.size() < 8 || colon != 2 || text[5] != ':') return std::nullopt;
  const auto hours = digits_from(text.substr(0, 2));
  const auto minutes = digits_from(text.substr(3, 2));
  const auto seconds = digits_from(text.substr(6, 2));
  const bool has_fraction = text.size() > 8;
  if (has_fraction && text[8] != '.' && text[8] != ':') return std::nullopt;
  const auto fraction = has_fraction ? fraction_from(text.substr(9)) : 0;
  if (!hours || !minutes || !seconds || !fraction || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  return moment{((*hours * 60 + *minutes) * 60 + *seconds) * ns_per_s + *fraction, true};
}

/// Time goes on at midnight. A step back of half a day or more is one; a smaller one is two threads' doing.
class days {
 public:
  std::uint64_t place(const moment& now) {
    if (!now.is_of_a_day) return now.ns;
    if (last_ns_ > now.ns && last_ns_ - now.ns > ns_per_day / 2) before_ns_ += ns_per_day;
    last_ns_ = now.ns;
    return before_ns_ + now.ns;
  }

 private:
  std::uint64_t last_ns_ = 0;
  std::uint64_t before_ns_ = 0;
};

void add_row(const text_rows& rows, days& calendar, event_ledger& ledger, trace_facts& facts) {
  event what;
  const auto time = moment_from(rows.field(time_column));
  if (!time) rows.refuse_field(time_column, "a time, as in 13:45:01.123456");
  what.time_ns = calendar.place(*time);
  if (what.time_ns > time_ns_max) rows.refuse_field(time_column, "a time that is not too far from the first");
  const auto pointer = pointer_from(rows.field(pointer_column));
  if (!pointer) rows.refuse_field(pointer_column, "a pointer, as in 0x7f0000000000 or (nil)");
  what.id = what.address = *pointer;
  what.bytes = rows.number(size_column, "a size in bytes: a whole number");
  const auto stream = pointer_from(rows.field(stream_column));
  if (!stream) rows.refuse_field(stream_column, "a stream, as in 0x0");
  what.stream = *stream;
  const std::string_view action = rows.field(action_column);
  if (action == "allocate failure") {
    what.kind = event_kind::refusal;
    what.outcome = status::device_out_of_memory;
    what.id = what.address = 0;
    static_cast<void>(ledger.add(what));
    return;
  }
  const bool is_free = action == "free" || action == "deallocate";
  if (!is_free && action != "allocate") rows.refuse_field(action_column, "allocate, allocate failure or free");
  if (what.address == 0) {
    if (!is_free && what.bytes > 0) rows.refuse_field(pointer_column, "the address of the block");
    if (!ledger.is_surveying()) ++facts.null_skipped;
  } else if (is_free) {
    what.kind = event_kind::free;
    static_cast<void>(ledger.add(what));
  } else {
    ledger.add_over(what);
  }
}

}  // namespace

void read_rmm(byte_source& from, const read_options& /*options*/, event_ledger& ledger, trace_facts& facts) {
  survey_and_deliver(from, ledger, [&] {
    text_rows rows(from, rmm_columns);
    days calendar;
    while (rows.next()) add_row(rows, calendar, ledger, facts);
  });
}

}  // namespace arcalloc::trace
