// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "decode/ops.hpp"
#include "decode/session.hpp"
#include "decode/weights.hpp"

namespace arcalloc::decode {

/// The keys and values of every position so far, two tensors a layer: (position, kv head x dim).
///
/// concat: a token makes both anew with one row more, while the old ones are alive: the growth that
/// an exact-size cache retains. preallocated: both have the model's whole sequence from the start,
/// and rows are written in place. The position lies on the device as well, in one place for the whole run, where
/// the step's operations read it.
/// Concurrency: one thread. Cost of a token: with concat, a copy of all that is there.
class kv_cache {
 public:
  /// The position's place and preallocated tensors are requested here. Throws memory_refused.
  kv_cache(const operations& ops, const model_config& config, kv_mode mode);

  /// Fills the first `positions` positions with seeded values, as if they had been decoded. Requires:
  /// nothing was appended yet. Throws memory_refused.
  void fill(const operations& ops, std::size_t positions);

  /// Takes in one position of one layer, at index positions(). Throws memory_refused.
  void append(const operations& ops, std::size_t layer, const tensor& key, const tensor& value);

  /// To be called when every layer has appended its row.
  void advance(const operations& ops) { place(ops, positions_ + 1); }

  [[nodiscard]] std::size_t positions() const noexcept { return positions_; }
  /// The same on the device: the index of the row that comes next.
  [[nodiscard]] const tensor& position() const noexcept { return position_; }
  [[nodiscard]] const tensor& keys(std::size_t layer) const noexcept { return layers_[layer].keys; }
  [[nodiscard]] const tensor& values(std::size_t layer) const noexcept { return layers_[layer].values; }

 private:
  struct layer_cache {
    tensor keys, values;
  };

  void place(const operations& ops, std::size_t positions);

  kv_mode mode_;
  std::size_t kv_dim_;
  std::size_t positions_ = 0;
  tensor position_;
  std::vector<layer_cache> layers_;
};

}  // namespace arcalloc::decode
