// SPDX-License-Identifier: Apache-2.0
#include "trace_coding.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace arcalloc::detail {

namespace {

constexpr unsigned has_time = 0x20;
constexpr unsigned has_place = 0x40;
constexpr unsigned has_marks = 0x80;
constexpr unsigned char mark_before = 0x01;
constexpr unsigned char mark_ids_addresses = 0x04;

/// The number of up to eight bytes, the lowest first.
std::uint64_t number_at(const unsigned char* at, std::size_t bytes) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, at, bytes);
  return number;
}

/// A step of a sum. It loses nothing: a number that differs makes a difference that stays.
constexpr std::uint64_t summed(std::uint64_t sum, std::uint64_t number) noexcept {
  return std::rotl((sum ^ number) * 0x9E3779B97F4A7C15U, 29);
}

static_assert(std::endian::native == std::endian::little, "notes of hits are written as they lie in memory");

// Without a branch in the loops, which compilers make to do several numbers at once.

[[nodiscard]] bool fit_16_bits(const std::uint32_t* numbers, std::uint32_t count, std::uint32_t less) noexcept {
  std::uint32_t all = 0;
  for (std::uint32_t i = 0; i < count; ++i) all |= numbers[i] - less;
  return all >> 16 == 0;
}

[[nodiscard]] unsigned char* put_16_bits(unsigned char* at, const std::uint32_t* numbers, std::uint32_t count,
                                         std::uint32_t less) noexcept {
  std::uint16_t narrow[hit_page::notes_per_time];
  for (std::uint32_t i = 0; i < count; ++i) narrow[i] = static_cast<std::uint16_t>(numbers[i] - less);
  std::memcpy(at, narrow, 2 * std::size_t{count});
  return at + 2 * std::size_t{count};
}

[[nodiscard]] unsigned char* put_32_bits(unsigned char* at, const std::uint32_t* numbers,
                                         std::uint32_t count) noexcept {
  std::memcpy(at, numbers, 4 * std::size_t{count});
  return at + 4 * std::size_t{count};
}

}  // namespace

std::uint32_t checksum_of(const unsigned char* head, const unsigned char* payload, std::size_t bytes) noexcept {
  std::array<std::uint64_t, 4> sums{1, 2, 3, 4};
  for (; bytes >= 32; bytes -= 32, payload += 32) {
    for (std::size_t i = 0; i < 4; ++i) sums[i] = summed(sums[i], number_at(payload + 8 * i, 8));
  }
  for (std::size_t i = 0; bytes > 0; ++i, payload += 8) {
    sums[i] = summed(sums[i], number_at(payload, std::min<std::size_t>(bytes, 8)));
    bytes -= std::min<std::size_t>(bytes, 8);
  }
  std::uint64_t all = number_at(head, 8);
  for (const std::uint64_t sum : sums) all = summed(all, sum);
  return static_cast<std::uint32_t>(all ^ all >> 32);
}

void cursor::put(const recorded_event& what, std::uint64_t now_ns) noexcept {
  const bool is_allocate = what.kind == ARCALLOC_RECORDED_ALLOCATE;
  unsigned marks = what.before != 0 ? mark_before : 0;
  if (is_allocate && !last_.ids_are_addresses) marks |= mark_ids_addresses;
  if (is_allocate) last_.ids_are_addresses = true;
  const bool elsewhere = what.stream != last_.stream;
  put_byte(what.kind | (what.before == 0 ? has_time : 0U) | (elsewhere ? has_place : 0U) |
           (marks != 0 ? has_marks : 0U));
  if (marks != 0) put_byte(marks);
  if (what.before == 0) put_difference(now_ns, last_.time_ns);
  if (elsewhere) {
    put_number(what.stream);
    put_number(0);  // the device: an allocator has one
    last_.stream = what.stream;
  }
  if (what.kind > ARCALLOC_RECORDED_FREE) return put_rare_fields(what);
  put_difference(what.id, last_.id);
  if (is_allocate) put_number(what.bytes);
}

void cursor::put_difference(std::uint64_t value, std::uint64_t& before) noexcept {
  const std::uint64_t difference = value - before;
  put_number((difference << 1) ^ (0 - (difference >> 63)));
  before = value;
}

void cursor::put_rare_fields(const recorded_event& what) noexcept {
  switch (static_cast<arcalloc_recorded_kind>(what.kind)) {
    case ARCALLOC_RECORDED_USE:
    case ARCALLOC_RECORDED_CAPTURE_END:
    case ARCALLOC_RECORDED_GRAPH_LAUNCH:
    case ARCALLOC_RECORDED_GRAPH_FORGET:
      return put_difference(what.id, last_.id);
    case ARCALLOC_RECORDED_REFUSAL:
      put_number(what.bytes);
      put_number(what.detail);
      return put_number(what.other);
    case ARCALLOC_RECORDED_PHASE:
      return put_number(what.detail);
    case ARCALLOC_RECORDED_CAPTURE_BEGIN:
      put_number(what.detail);
      return put_number(what.other);
    case ARCALLOC_RECORDED_CAPTURE_JOIN:
      return put_number(what.other);
    case ARCALLOC_RECORDED_TRIM:
      return put_number(what.bytes);
    case ARCALLOC_RECORDED_SEGMENT_ALLOCATE:
    case ARCALLOC_RECORDED_SEGMENT_FREE:
      put_difference(what.id, last_.address);
      return put_number(what.bytes);
    case ARCALLOC_RECORDED_ALLOCATE:
    case ARCALLOC_RECORDED_FREE:
    case ARCALLOC_RECORDED_STEP:
    case ARCALLOC_RECORDED_CAPTURE_ABORT:
    case ARCALLOC_RECORDED_STREAM_END:
    case ARCALLOC_RECORDED_DRAIN:
      return;
  }
}

unsigned char* put_stretch(unsigned char* at, const noted_hits& hits, std::uint64_t now_ns) noexcept {
  // Around the first: what is in use at a time often lies in a few MiB.
  const std::uint32_t least = (hits.notes[0] > 0x8000 ? hits.notes[0] - 0x8000 : 0) & ~std::uint32_t{1};
  const bool narrow_notes = fit_16_bits(hits.notes, hits.count, least);
  const bool narrow_bytes = fit_16_bits(hits.bytes, hits.allocates, 0);
  const std::uint64_t shared[] = {hits.count | std::uint64_t{hits.allocates} << 16 |
                                      (narrow_notes ? 2ULL : 4ULL) << 32 | (narrow_bytes ? 2ULL : 4ULL) << 40,
                                  now_ns, hits.stream,
                                  hits.base + (narrow_notes ? std::uint64_t{least >> 1} << hit_page::step_bits : 0)};
  static_assert(sizeof shared == stretch_header_bytes);
  const unsigned char* const begins = at;
  std::memcpy(at, shared, sizeof shared);
  at += sizeof shared;
  at = narrow_notes ? put_16_bits(at, hits.notes, hits.count, least) : put_32_bits(at, hits.notes, hits.count);
  at = narrow_bytes ? put_16_bits(at, hits.bytes, hits.allocates, 0) : put_32_bits(at, hits.bytes, hits.allocates);
  while ((at - begins) % 8 != 0) *at++ = 0;
  return at;
}

}  // namespace arcalloc::detail
