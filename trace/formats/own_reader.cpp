// SPDX-License-Identifier: Apache-2.0
// arcalloc's own format, read once from front to back, a chunk at a time. Cost: one chunk of memory. A chunk whose
// checksum does not fit is refused where more of the file follows; where nothing follows but zeros it is taken for what
// a process or a machine that stopped has left, and the reader says where the readable part ends.
#include <zlib.h>

#include <functional>
#include <limits>
#include <utility>

#include "trace/formats/own_format.hpp"
#include "trace/formats/own_hits.hpp"
#include "trace/formats/readers.hpp"

namespace arcalloc::trace {

namespace {

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::uint32_t checksum(std::uint32_t version, std::string_view header, std::string_view payload) {
  if (version != own::version) return sum_of_chunk(header, payload);
  auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(header.data()), 8);
  sum = ::crc32(sum, reinterpret_cast<const Bytef*>(payload.data()), static_cast<uInt>(payload.size()));
  return static_cast<std::uint32_t>(sum);
}

/// The events of one chunk, front to back. Refuses by place in the file.
class chunk_events {
 public:
  chunk_events(const byte_source& from, std::uint64_t begins, std::string_view payload)
      : from_(from), begins_(begins), payload_(payload) {}

  [[nodiscard]] bool any() const noexcept { return at_ < payload_.size(); }
  [[nodiscard]] std::uint64_t number();
  void read(event& what);
  /// Where the event that was read last begins.
  [[noreturn]] void refuse(const std::string& what) const { from_.refuse_at(begins_ + event_at_, what); }

 private:
  unsigned byte() {
    if (at_ == payload_.size()) refuse("an event goes beyond its chunk");
    return static_cast<unsigned char>(payload_[at_++]);
  }
  void read_fields(event& what, unsigned marks);
  template <class Enum>
  Enum one_of(std::uint64_t count, const char* what) {
    const std::uint64_t value = number();
    if (value >= count) refuse(std::string("there is no ") + what + ' ' + std::to_string(value));
    return static_cast<Enum>(value);
  }

  const byte_source& from_;
  std::uint64_t begins_;
  std::string_view payload_;
  std::size_t at_ = 0;
  std::size_t event_at_ = 0;
  own::chunk_state last_;
};

std::uint64_t chunk_events::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t part = byte();
    if (shift == 63 && part > 1) break;
    value |= (part & 0x7f) << shift;
    if (part < 0x80) return value;
  }
  refuse("a number of more than 64 bits");
}

void chunk_events::read(event& what) {
  event_at_ = at_;
  what = {};
  const unsigned first = byte();
  const unsigned kind = first & own::kind_bits;
  if (kind >= event_kind_count) refuse("there is no kind of event " + std::to_string(kind));
  what.kind = static_cast<event_kind>(kind);
  const unsigned marks = (first & own::has_marks) != 0 ? byte() : 0;
  if ((marks & ~own::marks_known) != 0) refuse("unknown marks on an event");
  what.before_recording = (marks & own::mark_before) != 0;
  if ((first & own::has_time) != 0) {
    if (what.before_recording) refuse("what was there before the recording has no time in it");
    last_.time_ns += own::from_zigzag(number());
    if (last_.time_ns > time_ns_max) refuse("a time out of range");
    what.time_ns = last_.time_ns;
  }
  if ((first & own::has_place) != 0) {
    last_.stream = number();
    last_.device = one_of<std::uint32_t>(std::uint64_t{1} << 32, "device");
  }
  what.stream = last_.stream;
  what.device = last_.device;
  if ((marks & own::mark_ids_addresses) != 0) last_.ids_are_addresses = true;
  if ((marks & own::mark_ids_names) != 0) last_.ids_are_addresses = false;
  read_fields(what, marks);
}

void chunk_events::read_fields(event& what, unsigned marks) {
  const auto read_id = [&] { what.id = last_.id += own::from_zigzag(number()); };
  const auto read_address = [&] { what.address = last_.address += own::from_zigzag(number()); };
  const bool is_segment = what.kind >= event_kind::segment_allocate && what.kind <= event_kind::segment_unmap;
  if (marks != 0 && what.kind != event_kind::allocate && !(is_segment && marks == own::mark_before)) {
    refuse("marks on an event that has none");
  }
  switch (what.kind) {
    case event_kind::allocate:
      read_id();
      what.bytes = number();
      if ((marks & own::mark_address) != 0) {
        read_address();
      } else if (last_.ids_are_addresses) {
        what.address = what.id;
      }
      break;
    case event_kind::free:
    case event_kind::use:
    case event_kind::capture_end:
    case event_kind::graph_launch:
    case event_kind::release_graph:
      read_id();
      break;
    case event_kind::refusal:
      what.bytes = number();
      what.outcome = one_of<status>(status_count, "status");
      what.other = number();
      break;
    case event_kind::phase:
      what.entered = one_of<phase>(3, "phase");
      break;
    case event_kind::capture_begin:
      what.policy = one_of<capture_policy>(3, "capture policy");
      what.other = number();
      break;
    case event_kind::capture_join:
      what.other = number();
      break;
    case event_kind::trim:
      what.bytes = number();
      break;
    case event_kind::segment_allocate:
    case event_kind::segment_free:
    case event_kind::segment_map:
    case event_kind::segment_unmap:
      read_address();
      what.id = what.address;
      what.bytes = number();
      break;
    case event_kind::step:
    case event_kind::capture_abort:
    case event_kind::stream_end:
    case event_kind::drain:
    case event_kind::snapshot:
      break;
  }
}

/// Whether nothing but zeros follows, to the end. Passes over them.
bool only_zeros_follow(byte_source& from) {
  for (std::string_view ahead = from.ahead(); !ahead.empty(); ahead = from.ahead()) {
    if (ahead.find_first_not_of('\0') != std::string_view::npos) return false;
    from.skip(ahead.size());
  }
  return true;
}

class own_reading {
 public:
  /// `take` answers false where an event cannot be.
  own_reading(byte_source& from, std::function<bool(const event&)> take) : from_(from), take_(std::move(take)) {}

  /// Where the readable part ends, if that is not where the file was closed.
  [[nodiscard]] std::optional<std::uint64_t> read();

 private:
  enum class chunk { whole, cut, last };

  void read_header();
  [[nodiscard]] chunk read_chunk();
  /// `Events`: chunk_events or hit_stretches.
  template <class Events>
  void read_events(std::uint64_t begins);
  void read_end(std::uint64_t begins);

  byte_source& from_;
  std::function<bool(const event&)> take_;
  std::string payload_;
  std::uint32_t version_ = own::version;
  std::uint64_t events_ = 0;
  bool has_begun_ = false;  ///< an event of the recording itself has come
};

std::optional<std::uint64_t> own_reading::read() {
  read_header();
  for (;;) {
    const std::uint64_t begins = from_.offset();
    const chunk found = read_chunk();
    if (found == chunk::last) return std::nullopt;
    if (found == chunk::cut) return begins;
  }
}

void own_reading::read_header() {
  const std::string_view header = from_.ahead_of(own::header_bytes);
  if (!header.starts_with(own::magic)) from_.refuse("expected a trace of arcalloc");
  if (header.size() < own::header_bytes) from_.refuse("the header is cut");
  version_ = little_endian(header.substr(8));
  if (version_ != own::version && version_ != own::recorded_version) {
    from_.refuse("format version " + std::to_string(version_) + "; this program reads " + std::to_string(own::version) +
                 " and " + std::to_string(own::recorded_version));
  }
  if (little_endian(header.substr(12)) != 0) from_.refuse("reserved bytes of the header are not zero");
  from_.skip(own::header_bytes);
}

own_reading::chunk own_reading::read_chunk() {
  const std::uint64_t begins = from_.offset();
  const std::string header(from_.ahead_of(own::chunk_header_bytes).substr(0, own::chunk_header_bytes));
  if (header.size() < own::chunk_header_bytes) return chunk::cut;
  from_.skip(header.size());
  const std::uint32_t length = little_endian(header);
  const char type = header[4];
  const bool makes_sense = length <= own::payload_bytes_max && ((type | 0x20) >= 'a' && (type | 0x20) <= 'z');
  if (!makes_sense) {
    if (header.find_first_not_of('\0') == std::string::npos && only_zeros_follow(from_)) return chunk::cut;
    from_.refuse_at(begins, "expected a chunk");
  }
  payload_.clear();
  while (payload_.size() < length) {
    const std::string_view ahead = from_.ahead().substr(0, length - payload_.size());
    if (ahead.empty()) return chunk::cut;
    payload_.append(ahead);
    from_.skip(ahead.size());
  }
  if (checksum(version_, header, payload_) != little_endian(std::string_view(header).substr(8))) {
    if (only_zeros_follow(from_)) return chunk::cut;
    from_.refuse_at(begins, "the checksum of a chunk does not fit: the file is damaged");
  }
  if (type == own::events_type) {
    read_events<chunk_events>(begins + own::chunk_header_bytes);
  } else if (type == own::hits_type && version_ == own::recorded_version) {
    read_events<hit_stretches>(begins + own::chunk_header_bytes);
  } else if (type == own::end_type) {
    read_end(begins + own::chunk_header_bytes);
    return chunk::last;
  } else if (!own::may_be_passed_over(type)) {
    from_.refuse_at(begins, std::string("a chunk of type ") + type + ", which this program does not know");
  }
  return chunk::whole;
}

template <class Events>
void own_reading::read_events(std::uint64_t begins) {
  Events events(from_, begins, payload_);
  event what;
  while (events.any()) {
    events.read(what);
    if (what.before_recording && has_begun_) events.refuse("what was there before the recording comes behind it");
    has_begun_ = has_begun_ || !what.before_recording;
    if (!take_(what)) events.refuse("allocates " + std::to_string(what.id) + ", which is live");
    ++events_;
  }
}

void own_reading::read_end(std::uint64_t begins) {
  chunk_events count(from_, begins, payload_);
  const std::uint64_t events = count.number();
  if (events != events_) {
    count.refuse("closed after " + std::to_string(events) + " events, but holds " + std::to_string(events_));
  }
  if (count.any()) count.refuse("more than a number in the last chunk");
  if (!from_.ahead().empty()) from_.refuse("the file goes on after its end");
}

}  // namespace

void read_own(byte_source& from, const read_options& /*options*/, event_ledger& ledger, trace_facts& facts) {
  ledger.begin_delivery();
  from.rewind();
  facts.cut_at = own_reading(from, [&](const event& what) { return ledger.add(what); }).read();
}

void read_put_aside(byte_source& from, const std::function<void(const event&)>& take) {
  const auto cut_at = own_reading(from, [&](const event& what) {
                        take(what);
                        return true;
                      }).read();
  if (cut_at) from.refuse_at(*cut_at, "cut while it was read");
}

}  // namespace arcalloc::trace
