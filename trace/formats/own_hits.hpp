// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/formats/byte_source.hpp"
#include "trace/formats/event.hpp"

namespace arcalloc::trace {

/// The events of one chunk of hits, front to back: what a recording that goes on writes instead of events, as its
/// threads noted it. The chunk's payload is stretches, one behind the other, and each says once what its hits share.
///
/// Refuses by place in the file, through the source. Cost: a few instructions an event; it keeps nothing.
class hit_stretches {
 public:
  /// `begins`: where the payload stands in the file.
  hit_stretches(const byte_source& from, std::uint64_t begins, std::string_view payload)
      : from_(from), begins_(begins), payload_(payload) {}

  [[nodiscard]] bool any() const noexcept { return left_ != 0 || !payload_.empty(); }
  /// Requires: any().
  void read(event& what);
  /// Where the stretch of the event that was read last begins.
  [[noreturn]] void refuse(const std::string& what) const { from_.refuse_at(begins_, what); }

 private:
  void begin_stretch();
  [[nodiscard]] std::uint64_t take_number(std::string_view& from, unsigned width) noexcept;

  const byte_source& from_;
  std::uint64_t begins_;  ///< of the stretch
  std::uint64_t stretch_bytes_ = 0;
  std::string_view payload_;  ///< behind the stretch
  std::uint64_t left_ = 0;    ///< hits of the stretch
  std::string_view notes_;
  std::string_view sizes_;
  unsigned note_width_ = 0;
  unsigned size_width_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t base_ = 0;
};

/// The checksum of a chunk in files of version 2: of the first eight bytes of the chunk and its payload.
[[nodiscard]] std::uint32_t sum_of_chunk(std::string_view head, std::string_view payload) noexcept;

}  // namespace arcalloc::trace
