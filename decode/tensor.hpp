// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <arcalloc/allocator.hpp>

namespace arcalloc::decode {

class tensor_source;

/// Thrown by tensor_source when the allocator refuses; caught in run_session, never seen outside.
struct memory_refused {
  status outcome;
};

/// Extents, outermost first. Elements are float32, dense, row-major.
struct shape {
  std::size_t planes = 1;
  std::size_t rows = 1;
  std::size_t columns = 1;
  friend bool operator==(const shape&, const shape&) = default;
};

/// Elements at an address, owned by nobody: what an operation reads or writes. Valid while they are.
template <typename Element>
class tensor_view {
 public:
  tensor_view() = default;
  tensor_view(Element* data, const shape& extents) noexcept : data_(data), extents_(extents) {}

  [[nodiscard]] Element* data() const noexcept { return data_; }
  [[nodiscard]] const shape& extents() const noexcept { return extents_; }
  [[nodiscard]] std::size_t elements() const noexcept { return extents_.planes * extents_.rows * extents_.columns; }
  [[nodiscard]] std::size_t bytes() const noexcept { return elements() * sizeof(Element); }
  [[nodiscard]] explicit operator bool() const noexcept { return data_ != nullptr; }

  /// What may be written may be read.
  operator tensor_view<const Element>() const noexcept requires(!std::is_const_v<Element>) { return {data_, extents_}; }

 private:
  Element* data_ = nullptr;
  shape extents_{.planes = 0, .rows = 0, .columns = 0};
};

using tensor_input = tensor_view<const float>;
using tensor_output = tensor_view<float>;

/// One float32 array in device memory, owned: its block goes back to the allocator with it.
///
/// Made by tensor_source::make alone; move-only, so that each block has one owner. A tensor that was
/// default-constructed or moved from has no block.
/// Concurrency: as any value, one thread at a time.
/// Cost: one request when made, one free when it dies. It copies nothing, and initialises nothing:
/// whoever computes it writes every element.
class tensor {
 public:
  tensor() = default;
  tensor(tensor&& other) noexcept;
  tensor& operator=(tensor&& other) noexcept;
  tensor(const tensor&) = delete;
  tensor& operator=(const tensor&) = delete;
  ~tensor() { discard(); }

  [[nodiscard]] float* data() noexcept { return static_cast<float*>(piece_.data()); }
  [[nodiscard]] const float* data() const noexcept { return static_cast<const float*>(piece_.data()); }
  [[nodiscard]] const shape& extents() const noexcept { return extents_; }
  [[nodiscard]] std::size_t elements() const noexcept { return extents_.planes * extents_.rows * extents_.columns; }
  [[nodiscard]] std::size_t bytes() const noexcept { return elements() * sizeof(float); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(piece_); }

  // Implicit: passing a tensor to an operation says all that there is to say.
  operator tensor_input() const noexcept { return {data(), extents_}; }
  operator tensor_output() noexcept { return {data(), extents_}; }

 private:
  friend class tensor_source;
  tensor(tensor_source& owner, const block& piece, const shape& extents) noexcept
      : owner_(&owner), piece_(piece), extents_(extents) {}
  void discard() noexcept;

  tensor_source* owner_ = nullptr;
  block piece_{};
  shape extents_{.planes = 0, .rows = 0, .columns = 0};
};

/// Where every tensor's memory comes from: the allocator, on one stream, and from nowhere else.
///
/// Must outlive its tensors. Concurrency: one thread.
/// Keeps: live_bytes() = the sum of bytes() over its living tensors.
class tensor_source {
 public:
  tensor_source(allocator& memory, stream on) noexcept : memory_(&memory), on_(on) {}
  tensor_source(const tensor_source&) = delete;
  tensor_source& operator=(const tensor_source&) = delete;

  /// A new tensor with undefined elements. Throws memory_refused.
  [[nodiscard]] tensor make(const shape& extents);

  [[nodiscard]] allocator& memory() const noexcept { return *memory_; }
  [[nodiscard]] std::uint64_t live_bytes() const noexcept { return live_bytes_; }

  /// The first status other than ok with which the allocator answered a free. A tensor's destructor
  /// has nobody to tell, so it is kept here for the end of the run.
  [[nodiscard]] status first_refused_free() const noexcept { return first_refused_free_; }

 private:
  friend class tensor;
  void take_back(const block& piece, std::size_t bytes) noexcept;

  allocator* memory_;
  stream on_;
  std::uint64_t live_bytes_ = 0;
  status first_refused_free_ = status::ok;
};

}  // namespace arcalloc::decode
