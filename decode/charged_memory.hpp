// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/device_timeline.hpp"
#include "decode/tensor.hpp"

namespace arcalloc::decode {

/// Tensors by their bytes, and the work that fills them on a simulated device: what a load is made of.
///
/// Called by the loads; calls the allocator, through a tensor_source, and then the clock, as an eager engine requests
/// the output and then enqueues the operation. Sizes are rounded up to four bytes.
/// Concurrency: one thread. Throws memory_refused.
class charged_memory {
 public:
  charged_memory(tensor_source& memory, device_timeline& time) noexcept : memory_(&memory), time_(&time) {}

  [[nodiscard]] tensor make(std::uint64_t bytes) const {
    return memory_->make({.columns = static_cast<std::size_t>((bytes + 3) / 4)});
  }

  /// A fresh tensor, and the work that writes it.
  [[nodiscard]] tensor compute(std::uint64_t bytes, const device_work& what) const {
    tensor out = make(bytes);
    time_->enqueue(what);
    return out;
  }

  [[nodiscard]] device_timeline& time() const noexcept { return *time_; }
  [[nodiscard]] const tensor_source& source() const noexcept { return *memory_; }

 private:
  tensor_source* memory_;
  device_timeline* time_;
};

}  // namespace arcalloc::decode
