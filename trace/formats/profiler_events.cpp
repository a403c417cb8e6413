// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/profiler_events.hpp"

#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "trace/formats/csv_columns.hpp"
#include "trace/size_text.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::size_t depth_max = 64;
/// Names of kernels are long, but not that long.
constexpr std::uint64_t value_bytes_max = std::uint64_t{4} << 20;
/// 10^17 microseconds are three thousand years after 1970, as many nanoseconds are three.
constexpr std::uint64_t least_time_in_ns = 100'000'000'000'000'000;

/// Where the parser is, as the handler needs it: how much has been read since the last value.
struct progress {
  std::uint64_t value_ended = 0;
};

/// The source as the parser reads it: one character at a time, front to back.
class source_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  source_iterator() = default;
  source_iterator(byte_source& from, const progress& how_far) : from_(&from), how_far_(&how_far) { look(); }

  char operator*() const { return chunk_[at_]; }
  source_iterator& operator++() {
    if (++at_ == chunk_.size()) {
      from_->skip(at_);
      look();
    }
    return *this;
  }
  source_iterator operator++(int) {
    source_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const source_iterator& one, const source_iterator& other) {
    return one.is_at_end() == other.is_at_end();
  }
  friend bool operator!=(const source_iterator& one, const source_iterator& other) { return !(one == other); }

 private:
  [[nodiscard]] bool is_at_end() const { return from_ == nullptr || chunk_.empty(); }
  void look() {
    if (from_->offset() > how_far_->value_ended + value_bytes_max) {
      from_->refuse("a single value of more than " + std::to_string(value_bytes_max >> 20) + " MiB");
    }
    chunk_ = from_->ahead().substr(0, std::size_t{1} << 16);
    at_ = 0;
  }

  byte_source* from_ = nullptr;
  const progress* how_far_ = nullptr;
  std::string_view chunk_;
  std::size_t at_ = 0;
};

enum class key { other, trace_events, name, time, args, address, bytes, device_type, device, reserved, allocated };

key key_of(std::string_view text) {
  if (text == "name") return key::name;
  if (text == "ts") return key::time;
  if (text == "args") return key::args;
  if (text == "Addr") return key::address;
  if (text == "Bytes") return key::bytes;
  if (text == "Device Type") return key::device_type;
  if (text == "Device Id") return key::device;
  if (text == "Total Reserved") return key::reserved;
  if (text == "Total Allocated") return key::allocated;
  return text == "traceEvents" ? key::trace_events : key::other;
}

/// A number of the JSON, whichever way it was written.
struct number {
  bool is_negative = false;
  bool is_whole = true;
  std::uint64_t magnitude = 0;  ///< cut to a whole number
  std::uint64_t thousandths = 0;
};

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

/// Receives what the parser finds. Looks at the objects in the array `traceEvents`, or in an array that is the whole
/// text, and at `args` in these.
class event_handler {
 public:
  using json = nlohmann::json;

  event_handler(const byte_source& from, progress& how_far, profiler_events& out)
      : from_(from), how_far_(how_far), out_(out) {}

  bool null() { return value_ends(); }
  bool boolean(bool /*value*/) { return value_ends(); }
  bool number_integer(json::number_integer_t value) {
    number one;
    one.is_negative = value < 0;
    one.magnitude = one.is_negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    return take(one);
  }
  bool number_unsigned(json::number_unsigned_t value) {
    number one;
    one.magnitude = value;
    return take(one);
  }
  bool number_float(json::number_float_t value, const std::string& text);
  bool string(std::string& value) {
    if (is_in_event() && key_ == key::name) event_.is_memory = value == "[memory]";
    return value_ends();
  }
  bool binary(json::binary_t& /*value*/) { return value_ends(); }
  bool start_object(std::size_t /*elements*/) { return open(false); }
  bool start_array(std::size_t /*elements*/) { return open(true); }
  bool key(std::string& text);
  bool end_object();
  bool end_array() {
    if (depth_ == events_depth_) events_depth_ = 0;
    --depth_;
    return value_ends();
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const json::exception& error) {
    // The parser's text says line, column and what it had read; ours has the byte.
    const std::string_view text = error.what();
    const std::size_t reason = text.find("syntax error");
    from_.refuse_at(
        position,
        "not JSON" + (reason == std::string_view::npos ? std::string() : ": " + one_line_of(text.substr(reason))));
  }

 private:
  static std::string one_line_of(std::string_view text);

  /// Directly in an event; directly in its args.
  [[nodiscard]] bool is_in_event() const { return events_depth_ != 0 && depth_ == events_depth_ + 1; }
  [[nodiscard]] bool is_in_args() const { return in_args_ && depth_ == events_depth_ + 2; }
  bool value_ends() {
    how_far_.value_ended = from_.offset();
    return true;
  }
  bool open(bool is_array);
  bool take(const number& value);
  void end_event();
  [[nodiscard]] std::uint64_t whole(const std::optional<number>& value, const char* name) const;

  const byte_source& from_;
  progress& how_far_;
  profiler_events& out_;
  std::size_t depth_ = 0;
  std::size_t events_depth_ = 0;  ///< depth inside the array of events; 0: not in one
  bool in_args_ = false;
  bool found_events_ = false;
  enum key key_ = key::other;
  raw_event event_;

 public:
  [[nodiscard]] bool found_events() const noexcept { return found_events_; }
};

std::string event_handler::one_line_of(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, 160)) line += c >= ' ' && c < '\x7f' ? c : '.';
  return line;
}

bool event_handler::number_float(json::number_float_t value, const std::string& text) {
  // Times have more digits than a double holds: the text is looked at where it is plain.
  number one;
  std::string_view digits = text;
  if (digits.starts_with('-')) {
    one.is_negative = true;
    digits.remove_prefix(1);
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
    const double size = value < 0 ? -value : value;
    one.is_whole = size < 9e15 && size == static_cast<double>(static_cast<std::uint64_t>(size < 9e15 ? size : 0));
    one.magnitude = size < 9e15 ? static_cast<std::uint64_t>(size) : UINT64_MAX;
  }
  return take(one);
}

bool event_handler::key(std::string& text) {
  const bool matters = depth_ == 1 || is_in_event() || is_in_args();
  key_ = matters ? key_of(text) : key::other;
  return value_ends();
}

bool event_handler::open(bool is_array) {
  if (++depth_ > depth_max) from_.refuse("nested more than " + std::to_string(depth_max) + " deep");
  if (is_array && events_depth_ == 0 && (depth_ == 1 || (depth_ == 2 && key_ == key::trace_events))) {
    events_depth_ = depth_;
    found_events_ = true;
  } else if (is_in_event()) {
    event_ = {};
  } else if (events_depth_ != 0 && depth_ == events_depth_ + 2) {
    in_args_ = !is_array && key_ == key::args;
  }
  key_ = key::other;
  return value_ends();
}

bool event_handler::end_object() {
  if (is_in_args()) in_args_ = false;
  if (is_in_event()) end_event();
  --depth_;
  key_ = key::other;
  return value_ends();
}

bool event_handler::take(const number& value) {
  if (is_in_event() && key_ == key::time) event_.time = value;
  if (is_in_args()) {
    if (key_ == key::address) event_.address = value;
    if (key_ == key::bytes) event_.bytes = value;
    if (key_ == key::device_type) event_.device_type = value;
    if (key_ == key::device) event_.device = value;
    if (key_ == key::reserved) event_.reserved = value;
    if (key_ == key::allocated) event_.allocated = value;
  }
  return value_ends();
}

std::uint64_t event_handler::whole(const std::optional<number>& value, const char* name) const {
  if (!value || !value->is_whole || value->is_negative) {
    from_.refuse(std::string("a [memory] event just before: expected a whole number as ") + name);
  }
  return value->magnitude;
}

void event_handler::end_event() {
  if (!event_.is_memory) return;
  // Device types are PyTorch's: 0 is the host, 1 a GPU.
  if (whole(event_.device_type, "Device Type") != 1) {
    ++out_.on_host;
    return;
  }
  profiler_event one;
  if (!event_.time || event_.time->is_negative) from_.refuse("a [memory] event just before: expected a time as ts");
  one.time_ns = event_.time->magnitude;
  if (one.time_ns < least_time_in_ns) one.time_ns = one.time_ns * ns_per_us + event_.time->thousandths;
  if (one.time_ns > time_ns_max) from_.refuse("a [memory] event just before: a time out of range");
  const std::uint64_t device = whole(event_.device, "Device Id");
  if (device > std::numeric_limits<std::uint32_t>::max())
    from_.refuse("a [memory] event just before: a device out of range");
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
  from.rewind();
  progress how_far;
  event_handler handler(from, how_far, found);
  nlohmann::json::sax_parse(source_iterator(from, how_far), source_iterator(), &handler);
  if (!handler.found_events()) from.refuse("JSON without traceEvents: not a trace of PyTorch's profiler");
  return found;
}

}  // namespace arcalloc::trace
