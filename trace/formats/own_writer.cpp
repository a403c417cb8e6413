// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/own_writer.hpp"

#include <zlib.h>

namespace arcalloc::trace {

namespace {

/// Small enough that little is lost with a process that dies, large enough that its header costs nothing.
constexpr std::size_t payload_bytes_wanted = std::size_t{32} << 10;

void put_little_endian(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xff);
}

}  // namespace

own_writer::own_writer(byte_sink& out) : out_(out) {
  std::string header(own::magic);
  put_little_endian(header, own::version);
  put_little_endian(header, 0);
  out_.write(header);
  payload_.reserve(payload_bytes_wanted + own::event_bytes_max);
}

void own_writer::take(const event& what) {
  const unsigned marks = marks_for(what);
  const bool is_elsewhere = what.stream != last_.stream || what.device != last_.device;
  unsigned first = static_cast<unsigned>(what.kind);
  if (what.time_ns != no_time) first |= own::has_time;
  if (is_elsewhere) first |= own::has_place;
  if (marks != 0) first |= own::has_marks;
  payload_ += static_cast<char>(first);
  if (marks != 0) payload_ += static_cast<char>(marks);
  if (what.time_ns != no_time) {
    put_number(own::zigzag(what.time_ns - last_.time_ns));
    last_.time_ns = what.time_ns;
  }
  if (is_elsewhere) {
    put_number(what.stream);
    put_number(what.device);
    last_.stream = what.stream;
    last_.device = what.device;
  }
  if ((marks & own::mark_ids_addresses) != 0) last_.ids_are_addresses = true;
  if ((marks & own::mark_ids_names) != 0) last_.ids_are_addresses = false;
  put_fields(what);
  if ((marks & own::mark_address) != 0) {
    put_number(own::zigzag(what.address - last_.address));
    last_.address = what.address;
  }
  ++events_;
  if (payload_.size() >= payload_bytes_wanted) put_chunk(own::events_type);
}

void own_writer::finish() {
  if (!payload_.empty()) put_chunk(own::events_type);
  put_number(events_);
  put_chunk(own::end_type);
}

unsigned own_writer::marks_for(const event& what) const {
  unsigned marks = what.before_recording ? own::mark_before : 0;
  if (what.kind != event_kind::allocate) return marks;
  if (what.address != 0 && what.address == what.id) {
    if (!last_.ids_are_addresses) marks |= own::mark_ids_addresses;
  } else {
    if (last_.ids_are_addresses) marks |= own::mark_ids_names;
    if (what.address != 0) marks |= own::mark_address;
  }
  return marks;
}

void own_writer::put_fields(const event& what) {
  const auto put_id = [&] {
    put_number(own::zigzag(what.id - last_.id));
    last_.id = what.id;
  };
  switch (what.kind) {
    case event_kind::allocate:
      put_id();
      put_number(what.bytes);
      break;
    case event_kind::free:
    case event_kind::use:
    case event_kind::capture_end:
    case event_kind::graph_launch:
    case event_kind::release_graph:
      put_id();
      break;
    case event_kind::refusal:
      put_number(what.bytes);
      put_number(static_cast<std::uint64_t>(what.outcome));
      put_number(what.other);
      break;
    case event_kind::phase:
      put_number(static_cast<std::uint64_t>(what.entered));
      break;
    case event_kind::capture_begin:
      put_number(static_cast<std::uint64_t>(what.policy));
      put_number(what.other);
      break;
    case event_kind::capture_join:
      put_number(what.other);
      break;
    case event_kind::trim:
      put_number(what.bytes);
      break;
    case event_kind::segment_allocate:
    case event_kind::segment_free:
    case event_kind::segment_map:
    case event_kind::segment_unmap:
      put_number(own::zigzag(what.address - last_.address));
      last_.address = what.address;
      put_number(what.bytes);
      break;
    case event_kind::step:
    case event_kind::capture_abort:
    case event_kind::stream_end:
    case event_kind::drain:
    case event_kind::snapshot:
      break;
  }
}

void own_writer::put_number(std::uint64_t value) {
  char coded[10];
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7) coded[size++] = static_cast<char>(value | 0x80);
  coded[size++] = static_cast<char>(value);
  payload_.append(coded, size);
}

void own_writer::put_chunk(char type) {
  std::string header;
  put_little_endian(header, static_cast<std::uint32_t>(payload_.size()));
  header += type;
  header.append(3, '\0');
  auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size()));
  sum = ::crc32(sum, reinterpret_cast<const Bytef*>(payload_.data()), static_cast<uInt>(payload_.size()));
  put_little_endian(header, static_cast<std::uint32_t>(sum));
  out_.write(header);
  out_.write(payload_);
  payload_.clear();
  last_ = {};
}

}  // namespace arcalloc::trace
