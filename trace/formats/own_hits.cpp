// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/own_hits.hpp"

#include <bit>
#include <limits>

#include "trace/formats/own_format.hpp"

namespace arcalloc::trace {

namespace {

std::uint64_t whole_number_of(const char* bytes) noexcept {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

/// The number of up to eight bytes, the lowest first.
std::uint64_t number_of(std::string_view bytes) noexcept {
  if (bytes.size() == 8) return whole_number_of(bytes.data());
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

constexpr std::uint64_t summed(std::uint64_t sum, std::uint64_t number) noexcept {
  return std::rotl((sum ^ number) * 0x9E3779B97F4A7C15U, 29);
}

bool is_width(unsigned bytes) noexcept { return bytes == 2 || bytes == 4; }

}  // namespace

void hit_stretches::begin_stretch() {
  begins_ += stretch_bytes_;
  if (payload_.size() < own::stretch_header_bytes) refuse("a stretch of hits goes beyond its chunk");
  const std::uint64_t count = number_of(payload_.substr(0, 2));
  const std::uint64_t allocates = number_of(payload_.substr(2, 2));
  note_width_ = static_cast<unsigned char>(payload_[4]);
  size_width_ = static_cast<unsigned char>(payload_[5]);
  time_ns_ = number_of(payload_.substr(8, 8));
  stream_ = number_of(payload_.substr(16, 8));
  base_ = number_of(payload_.substr(24, 8));
  if (count == 0 || allocates > count) refuse("a stretch of hits with wrong counts");
  if (!is_width(note_width_) || !is_width(size_width_) || payload_[6] != 0 || payload_[7] != 0) {
    refuse("a stretch of hits with a width that is not known");
  }
  if (time_ns_ > time_ns_max) refuse("a time out of range");
  const std::size_t notes_bytes = count * note_width_;
  const std::size_t sizes_bytes = allocates * size_width_;
  const std::size_t needed = own::stretch_header_bytes + notes_bytes + sizes_bytes;
  stretch_bytes_ = (needed + 7) / 8 * 8;
  if (payload_.size() < stretch_bytes_) refuse("a stretch of hits goes beyond its chunk");
  if (number_of(payload_.substr(needed, stretch_bytes_ - needed)) != 0) refuse("what fills up a stretch is not zero");
  left_ = count;
  notes_ = payload_.substr(own::stretch_header_bytes, notes_bytes);
  sizes_ = payload_.substr(own::stretch_header_bytes + notes_bytes, sizes_bytes);
  payload_.remove_prefix(stretch_bytes_);
}

std::uint64_t hit_stretches::take_number(std::string_view& from, unsigned width) noexcept {
  const std::uint64_t value = number_of(from.substr(0, width));
  from.remove_prefix(width);
  return value;
}

void hit_stretches::read(event& what) {
  if (left_ == 0) begin_stretch();
  --left_;
  const std::uint64_t note = take_number(notes_, note_width_);
  const std::uint64_t distance = note >> 1 << own::note_step_bits;
  if (distance > std::numeric_limits<std::uint64_t>::max() - base_) refuse("an address out of range");
  what = {};
  what.kind = (note & 1) != 0 ? event_kind::free : event_kind::allocate;
  what.time_ns = time_ns_;
  what.stream = stream_;
  what.id = base_ + distance;
  if (what.kind == event_kind::allocate) {
    if (sizes_.empty()) refuse("a stretch of hits with wrong counts");
    what.address = what.id;
    what.bytes = take_number(sizes_, size_width_);
  }
  if (left_ == 0 && !sizes_.empty()) refuse("a stretch of hits with wrong counts");
}

std::uint32_t sum_of_chunk(std::string_view head, std::string_view payload) noexcept {
  std::uint64_t sums[4] = {1, 2, 3, 4};
  for (std::size_t i = 0; i * 8 < payload.size(); ++i) {
    sums[i % 4] = summed(sums[i % 4], number_of(payload.substr(i * 8, 8)));
  }
  std::uint64_t all = number_of(head.substr(0, 8));
  for (const std::uint64_t sum : sums) all = summed(all, sum);
  return static_cast<std::uint32_t>(all ^ all >> 32);
}

}  // namespace arcalloc::trace
