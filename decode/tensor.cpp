// SPDX-License-Identifier: Apache-2.0
#include "decode/tensor.hpp"

#include <utility>

namespace arcalloc::decode {

tensor::tensor(tensor&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      piece_(std::exchange(other.piece_, block{})),
      extents_(std::exchange(other.extents_, shape{.planes = 0, .rows = 0, .columns = 0})) {}

tensor& tensor::operator=(tensor&& other) noexcept {
  if (this != &other) {
    discard();
    owner_ = std::exchange(other.owner_, nullptr);
    piece_ = std::exchange(other.piece_, block{});
    extents_ = std::exchange(other.extents_, shape{.planes = 0, .rows = 0, .columns = 0});
  }
  return *this;
}

void tensor::discard() noexcept {
  if (owner_ != nullptr) owner_->take_back(piece_, bytes());
}

tensor tensor_source::make(const shape& extents) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(extents.planes, extents.rows, &bytes) ||
      __builtin_mul_overflow(bytes, extents.columns, &bytes) || __builtin_mul_overflow(bytes, sizeof(float), &bytes)) {
    throw memory_refused{status::request_too_large};
  }
  block piece;
  const status outcome = memory_->allocate(bytes, on_, piece);
  if (outcome != status::ok) throw memory_refused{outcome};
  live_bytes_ += bytes;
  return tensor{*this, piece, extents};
}

void tensor_source::take_back(const block& piece, std::size_t bytes) noexcept {
  const status outcome = memory_->deallocate(piece);
  if (outcome != status::ok && first_refused_free_ == status::ok) first_refused_free_ = outcome;
  live_bytes_ -= bytes;
}

}  // namespace arcalloc::decode
