// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/profiler_events.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "trace/formats/csv_columns.hpp"
#include "trace/formats/json_scanner.hpp"
#include "trace/size_text.hpp"

namespace arcalloc::trace {

namespace {

/// 10^17 microseconds are three thousand years after 1970, as many nanoseconds are three.
constexpr std::uint64_t least_time_in_ns = 100'000'000'000'000'000;

enum class key { other, trace_events, name, time, args, address, bytes, device_type, device, reserved, allocated };

key key_of(std::string_view text) {
  switch (text.size()) {
    case 2:
      return text == "ts" ? key::time : key::other;
    case 4:
      if (text == "name") return key::name;
      if (text == "args") return key::args;
      return text == "Addr" ? key::address : key::other;
    case 5:
      return text == "Bytes" ? key::bytes : key::other;
    case 9:
      return text == "Device Id" ? key::device : key::other;
    case 11:
      if (text == "traceEvents") return key::trace_events;
      return text == "Device Type" ? key::device_type : key::other;
    case 14:
      return text == "Total Reserved" ? key::reserved : key::other;
    case 15:
      return text == "Total Allocated" ? key::allocated : key::other;
    default:
      return key::other;
  }
}

/// A number of the JSON, whichever way it was written.
struct number {
  bool is_negative = false;
  bool is_whole = true;
  std::uint64_t magnitude = 0;  ///< cut to a whole number
  std::uint64_t thousandths = 0;
};

number number_of(std::string_view text) {
  // Times have more digits than a double holds: the text is looked at where it is plain.
  number one;
  std::string_view digits = text;
  const bool has_sign = digits.starts_with('-');
  if (has_sign) digits.remove_prefix(1);
  constexpr std::size_t digits_that_fit = 19;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.size() <= digits_that_fit && std::all_of(digits.begin(), digits.end(), is_digit)) {
    for (const char c : digits) one.magnitude = 10 * one.magnitude + static_cast<std::uint64_t>(c - '0');
    one.is_negative = has_sign && one.magnitude != 0;
    return one;
  }
  const std::size_t point = digits.find('.');
  const auto magnitude = count_from(digits.substr(0, point), UINT64_MAX);
  std::string_view fraction = point == std::string_view::npos ? std::string_view() : digits.substr(point + 1);
  if (magnitude && fraction.find_first_not_of("0123456789") == std::string_view::npos) {
    one.magnitude = *magnitude;
    one.is_whole = fraction.find_first_not_of('0') == std::string_view::npos;
    for (std::size_t i = 0; i < 3; ++i) {
      one.thousandths =
          10 * one.thousandths + (i < fraction.size() ? static_cast<std::uint64_t>(fraction[i] - '0') : 0);
    }
  } else {
    const double size = std::strtod(std::string(digits).c_str(), nullptr);
    one.is_whole = size < 9e15 && size == static_cast<double>(static_cast<std::uint64_t>(size < 9e15 ? size : 0));
    one.magnitude = size < 9e15 ? static_cast<std::uint64_t>(size) : UINT64_MAX;
  }
  one.is_negative = has_sign && (one.magnitude != 0 || !one.is_whole);
  return one;
}

/// What is being collected of one event.
struct raw_event {
  bool is_memory = false;
  std::optional<number> time;
  std::optional<number> address;
  std::optional<number> bytes;
  std::optional<number> device_type;
  std::optional<number> device;
  std::optional<number> reserved;
  std::optional<number> allocated;
};

/// Goes through the tokens. Looks at the objects in the array `traceEvents`, or in an array that is the whole text, and
/// at `args` in these.
class event_finder {
 public:
  event_finder(byte_source& from, profiler_events& out) : json_(from), out_(out) {}

  void find();

 private:
  void begin(bool is_array);
  void end_array() {
    if (json_.depth() + 1 == events_depth_) events_depth_ = 0;
  }
  void end_object();
  void take_key();
  void take_number();
  void end_event();
  [[nodiscard]] std::uint64_t whole(const std::optional<number>& value, const char* name) const;

  /// Directly in an event; directly in its args.
  [[nodiscard]] bool is_in_event() const { return events_depth_ != 0 && json_.depth() == events_depth_ + 1; }
  [[nodiscard]] bool is_in_args() const { return in_args_ && json_.depth() == events_depth_ + 2; }

  json_scanner json_;
  profiler_events& out_;
  std::size_t events_depth_ = 0;  ///< depth inside the array of events; 0: not in one
  bool in_args_ = false;
  bool found_events_ = false;
  key key_ = key::other;
  raw_event event_;
};

void event_finder::find() {
  for (json_token token = json_.next(); token != json_token::end; token = json_.next()) {
    switch (token) {
      case json_token::object_begin:
      case json_token::array_begin:
        begin(token == json_token::array_begin);
        break;
      case json_token::object_end:
        end_object();
        break;
      case json_token::array_end:
        end_array();
        break;
      case json_token::key:
        take_key();
        break;
      case json_token::text:
        if (is_in_event() && key_ == key::name) event_.is_memory = json_.text() == "[memory]";
        break;
      case json_token::number:
        take_number();
        break;
      case json_token::literal:
      case json_token::end:
        break;
    }
  }
  if (!found_events_) json_.refuse("JSON without traceEvents: not a trace of PyTorch's profiler");
}

void event_finder::take_key() {
  const bool matters = json_.depth() == 1 || is_in_event() || is_in_args();
  key_ = matters ? key_of(json_.text()) : key::other;
}

void event_finder::begin(bool is_array) {
  const std::size_t depth = json_.depth();
  if (is_array && events_depth_ == 0 && (depth == 1 || (depth == 2 && key_ == key::trace_events))) {
    events_depth_ = depth;
    found_events_ = true;
  } else if (is_in_event()) {
    event_ = {};
  } else if (events_depth_ != 0 && depth == events_depth_ + 2) {
    in_args_ = !is_array && key_ == key::args;
  }
  key_ = key::other;
}

void event_finder::end_object() {
  // Of the object that has ended: its members stood one deeper.
  const std::size_t members = json_.depth() + 1;
  if (in_args_ && members == events_depth_ + 2) in_args_ = false;
  if (events_depth_ != 0 && members == events_depth_ + 1) end_event();
  key_ = key::other;
}

void event_finder::take_number() {
  if (key_ == key::other) return;
  if (is_in_event() && key_ == key::time) event_.time = number_of(json_.number());
  if (!is_in_args()) return;
  switch (key_) {
    case key::address:
      event_.address = number_of(json_.number());
      break;
    case key::bytes:
      event_.bytes = number_of(json_.number());
      break;
    case key::device_type:
      event_.device_type = number_of(json_.number());
      break;
    case key::device:
      event_.device = number_of(json_.number());
      break;
    case key::reserved:
      event_.reserved = number_of(json_.number());
      break;
    case key::allocated:
      event_.allocated = number_of(json_.number());
      break;
    default:
      break;
  }
}

std::uint64_t event_finder::whole(const std::optional<number>& value, const char* name) const {
  if (!value || !value->is_whole || value->is_negative) {
    json_.refuse(std::string("a [memory] event just before: expected a whole number as ") + name);
  }
  return value->magnitude;
}

void event_finder::end_event() {
  if (!event_.is_memory) return;
  // Device types are PyTorch's: 0 is the host, 1 a GPU.
  if (whole(event_.device_type, "Device Type") != 1) {
    ++out_.on_host;
    return;
  }
  profiler_event one;
  if (!event_.time || event_.time->is_negative) json_.refuse("a [memory] event just before: expected a time as ts");
  one.time_ns = event_.time->magnitude;
  if (one.time_ns < least_time_in_ns) one.time_ns = one.time_ns * ns_per_us + event_.time->thousandths;
  if (one.time_ns > time_ns_max) json_.refuse("a [memory] event just before: a time out of range");
  const std::uint64_t device = whole(event_.device, "Device Id");
  if (device > std::numeric_limits<std::uint32_t>::max())
    json_.refuse("a [memory] event just before: a device out of range");
  one.device = static_cast<std::uint32_t>(device);
  if (event_.bytes && event_.bytes->is_negative) {
    one.is_free = true;
    event_.bytes->is_negative = false;
  }
  one.bytes = whole(event_.bytes, "Bytes");
  if (event_.address) one.address = whole(event_.address, "Addr");
  if (event_.reserved) {
    one.says_reserved = true;
    one.reserved = whole(event_.reserved, "Total Reserved");
  }
  if (event_.allocated) {
    one.says_allocated = true;
    one.allocated = whole(event_.allocated, "Total Allocated");
  }
  out_.on_devices.push_back(one);
}

}  // namespace

profiler_events profiler_events_of(byte_source& from) {
  profiler_events found;
  event_finder(from, found).find();
  return found;
}

}  // namespace arcalloc::trace
