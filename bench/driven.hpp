// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "peer.hpp"

namespace arcalloc::bench {

/// The loop that is measured, the same source for every peer.
///
/// Calls has a type `piece` for what an allocation is remembered by, value-initialised: none; and
/// `bool allocate(bytes, on, piece&)` and `bool deallocate(piece&)`, true on success, each of which makes one call
/// into another object file, so that it is a call in all of them. What the loop itself costs is what the null peer
/// costs.
template <class Calls>
class driven final : public subject {
 public:
  template <class... Arguments>
  explicit driven(Arguments&&... arguments) : calls_(std::forward<Arguments>(arguments)...) {}

  ~driven() override {
    for (std::size_t index = 0; index < populated_count_; ++index) (void)calls_.deallocate(populated_[index]);
  }

  [[nodiscard]] std::uint64_t play(const decode_sequence& sequence, positions where, std::uint64_t on) override {
    piece slots[decode_sequence::slots_max] = {};
    std::uint64_t refused = 0;
    for (std::uint64_t step = 0; step < where.steps; ++step) {
      refused += play_step(sequence, where.first + step * where.stride, on, slots);
    }
    return refused;
  }

  void make_room(std::size_t blocks) override {
    if (populated_.size() < blocks) populated_.resize(blocks);
  }

  void populate(std::span<const std::size_t> sizes, std::uint64_t on) override {
    make_room(populated_count_ + sizes.size());
    const std::span<piece> pieces = std::span(populated_).subspan(populated_count_, sizes.size());
    for (std::size_t index = 0; index < sizes.size(); ++index) (void)calls_.allocate(sizes[index], on, pieces[index]);
    for (std::size_t index = 0; index < sizes.size(); ++index) {
      if (index % 2 == 0) {
        (void)calls_.deallocate(pieces[index]);
      } else {
        populated_[populated_count_++] = pieces[index];
      }
    }
  }

 private:
  using piece = typename Calls::piece;

  [[gnu::noinline]] std::uint64_t play_step(const decode_sequence& sequence, std::uint64_t position, std::uint64_t on,
                                            piece* slots) {
    std::uint64_t refused = 0;
    for (const operation& call : sequence.operations) {
      const std::uint64_t bytes = call.bytes + position * call.bytes_per_position;
      const bool done = bytes != 0 ? calls_.allocate(bytes, on, slots[call.slot]) : calls_.deallocate(slots[call.slot]);
      refused += static_cast<std::uint64_t>(!done);
    }
    return refused;
  }

  Calls calls_;
  std::vector<piece> populated_;
  std::size_t populated_count_ = 0;
};

}  // namespace arcalloc::bench
