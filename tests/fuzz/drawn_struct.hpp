// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/arcalloc.h>
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "one_input.hpp"

namespace arcalloc::testing {

/// The sizes that the structs of arcalloc.h had when they were first published, on 64-bit machines: numbers, so that a
/// field that moves is noticed.
template <class Struct>
inline constexpr std::uint32_t first_size = 0;
template <>
inline constexpr std::uint32_t first_size<arcalloc_options> = 64;
template <>
inline constexpr std::uint32_t first_size<arcalloc_backend> = 88;
template <>
inline constexpr std::uint32_t first_size<arcalloc_memory_info> = 24;
template <>
inline constexpr std::uint32_t first_size<arcalloc_cap_arithmetic> = 56;
template <>
inline constexpr std::uint32_t first_size<arcalloc_failure> = 120;
template <>
inline constexpr std::uint32_t first_size<arcalloc_segment_extent> = 32;
template <>
inline constexpr std::uint32_t first_size<arcalloc_build> = 48;
template <>
inline constexpr std::uint32_t first_size<arcalloc_counters> = 16;

/// A struct of some caller: older, newer, or wrong about its size. It has exactly the bytes that its size says, or,
/// where no size can be so, the four of the size alone: whoever reads more is seen by the address sanitizer.
template <class Struct>
class drawn_struct {
 public:
  /// The size as drawn, everything else zero.
  explicit drawn_struct(input_bytes& in) : said_(draw_size(in)) {
    const std::size_t real = said_ > ARCALLOC_STRUCT_SIZE_MAX ? sizeof said_ : std::max(said_, std::uint32_t{4});
    bytes_ = std::make_unique<unsigned char[]>(real);
    real_ = real;
    std::memcpy(bytes_.get(), &said_, sizeof said_);
    before_.assign(bytes_.get(), bytes_.get() + real_);
  }

  /// Fills what fits of `value`, but for the size.
  void fill(const Struct& value) {
    if (real_ <= sizeof said_) return;
    const auto* const from = reinterpret_cast<const unsigned char*>(&value);
    const std::size_t filled = std::min(real_, sizeof value);
    std::copy(from + sizeof said_, from + filled, bytes_.get() + sizeof said_);
    before_.assign(bytes_.get(), bytes_.get() + real_);
  }
  /// Something in the part that this version does not know; false where there is none.
  bool add_surplus() {
    if (real_ <= sizeof(Struct)) return false;
    bytes_[real_ - 1] = before_[real_ - 1] = 1;
    return true;
  }

  [[nodiscard]] Struct* get() { return reinterpret_cast<Struct*>(bytes_.get()); }

  /// By the fourth convention of arcalloc.h.
  [[nodiscard]] bool is_possible() const {
    const bool is_counters = std::is_same_v<Struct, arcalloc_counters>;
    return said_ >= first_size<Struct> && said_ <= ARCALLOC_STRUCT_SIZE_MAX && (!is_counters || said_ % 8 == 0);
  }

  /// As an output: refused, it is as it was; filled, it says how far, and its surplus is zero.
  void judge_output(arcalloc_status outcome) const {
    if (outcome != ARCALLOC_OK) {
      return require(std::equal(before_.begin(), before_.end(), bytes_.get()), "a refused output is as it was");
    }
    require(is_possible(), "an output of an impossible size is refused");
    std::uint32_t filled = 0;
    std::memcpy(&filled, bytes_.get(), sizeof filled);
    require(filled == std::min<std::size_t>(said_, sizeof(Struct)), "an output says how far it is filled");
    require(std::all_of(bytes_.get() + filled, bytes_.get() + real_, [](unsigned char one) { return one == 0; }),
            "what an output has beyond this version is zero");
  }

 private:
  static std::uint32_t draw_size(input_bytes& in) {
    constexpr std::uint32_t whole = sizeof(Struct);
    constexpr std::uint32_t sizes[] = {whole, whole, whole, whole, whole,     whole + 8, whole + 1, first_size<Struct>,
                                       0,     3,     8,     15,    whole - 1, whole - 8, 4096,      4097};
    const std::uint64_t which = in.below(20);
    if (which < std::size(sizes)) return sizes[which];
    return static_cast<std::uint32_t>(in.number(which == 19 ? 4 : 2));
  }

  std::uint32_t said_;
  std::size_t real_ = 0;
  std::unique_ptr<unsigned char[]> bytes_;
  std::vector<unsigned char> before_;
};

}  // namespace arcalloc::testing
