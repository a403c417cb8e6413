// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <unordered_map>

#include "trace/peers/peer_policy.hpp"

namespace arcalloc::trace {

/// The rules of MLX's allocator for CUDA devices, as of 2025: mlx/backend/cuda/allocator.cpp and the cache that it
/// shares with Metal's, mlx/backend/common/buffer_cache.h (the functions named here); set_cache_limit and
/// set_memory_limit in its documentation.
///
/// - Every buffer is a driver allocation of its own. A request is rounded up to whole pages of 16 KiB, below a page to
///   a power of two (CudaAllocator::malloc). Up to 8 bytes it is a scalar, which comes from one range of 64 KiB that is
///   there from the start, while that has room (SmallSizePool).
/// - A freed buffer goes to the cache, whoever frees it; the cache knows no streams. A request gets the smallest cached
///   buffer that is large enough, but only one below twice its rounded size and below that size and two pages; of equal
///   ones, the first to have come (reuse_from_cache).
/// - Else the driver is asked. Where allocated, cached and new bytes together would exceed the memory limit, 0.8 of the
///   device's memory, the excess is freed from the cache first; that does not hold anything back (malloc).
/// - After every request the cache is brought down to its limit, which is the memory limit unless set; a free that
/// finds
///   it there already goes to the driver, and one that finds it below may bring it above (malloc, free).
/// - What is freed from the cache is the least recently cached, buffer by buffer, until it is enough; where nine tenths
///   of the cache are wanted, all of it (release_cached_buffers).
/// - Where the driver refuses, the request fails: nothing is given back for it then.
///
/// Not here: Metal's heap for small buffers and its count of resources, and whatever its streams wait for.
class mlx_policy final : public peer_policy {
 public:
  mlx_policy(model_device& device, std::optional<std::uint64_t> cached_bytes_max);

  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t stream) override;
  void note_use(std::uint64_t, std::uint64_t) override {}
  void deallocate(std::uint64_t address) override;
  void drain() override;

  [[nodiscard]] peer_bytes bytes() const noexcept override { return {allocated_bytes_, 0, cached_bytes_}; }
  [[nodiscard]] std::uint64_t rounded(std::uint64_t bytes) const noexcept override;
  [[nodiscard]] std::uint64_t largest_idle_bytes() const override;
  [[nodiscard]] std::uint64_t blocks_idle() const override { return cached_by_age_.size(); }
  [[nodiscard]] std::uint64_t cached_bytes_max() const noexcept override { return cached_bytes_max_; }

 private:
  struct buffer {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] std::optional<buffer> from_cache(std::uint64_t bytes);
  [[nodiscard]] std::optional<buffer> from_driver(std::uint64_t bytes);
  [[nodiscard]] std::optional<buffer> scalar();
  [[nodiscard]] bool is_scalar(std::uint64_t address) const;
  /// Frees from the cache at least so many bytes, as far as it has them.
  void reclaim(std::uint64_t bytes);
  void free_oldest();

  model_device& device_;
  std::uint64_t memory_bytes_max_;
  std::uint64_t cached_bytes_max_;
  std::optional<std::uint64_t> scalars_;  ///< the address of their range; none where the device had no room for it
  std::set<std::uint64_t> scalars_idle_;
  std::unordered_map<std::uint64_t, std::uint64_t> out_;  ///< address, bytes
  // The cache, by the number of buffers that came to it before, which is age, and by size.
  std::map<std::uint64_t, buffer> cached_by_age_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> cached_by_size_;  ///< bytes, age
  std::uint64_t next_age_ = 0;
  std::uint64_t allocated_bytes_ = 0;
  std::uint64_t cached_bytes_ = 0;
};

}  // namespace arcalloc::trace
