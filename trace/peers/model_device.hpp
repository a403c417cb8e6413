// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace arcalloc::trace {

/// A device in plain numbers, for the rules of peers: how much of it is lent, and how often it was asked.
///
/// Called by peer policies. It lends whole granules, up to its memory. Addresses ascend and are never lent twice, so
/// that "the lowest address" means "lent first". It judges nobody: the simulated device does, for arcalloc.
/// Concurrency: one thread.
///
///     reserved = the sum over what is lent of its bytes, rounded up to granules <= memory
class model_device {
 public:
  /// The granule is a power of two.
  model_device(std::uint64_t memory_bytes, std::uint64_t granule_bytes)
      : memory_bytes_(memory_bytes), granule_bytes_(granule_bytes) {}

  /// The address of that many bytes; nothing, and a refusal counted, where they are not left.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes) {
    if (bytes > memory_bytes_ || in_granules(bytes) > memory_bytes_ - reserved_bytes_) {
      ++refusals_;
      return std::nullopt;
    }
    ++allocates_;
    reserved_bytes_ += in_granules(bytes);
    reserved_bytes_peak_ = std::max(reserved_bytes_peak_, reserved_bytes_);
    const std::uint64_t address = next_address_;
    next_address_ += in_granules(bytes);
    return address;
  }

  /// Gives back a range that was lent with that many bytes.
  void free(std::uint64_t bytes) {
    ++frees_;
    reserved_bytes_ -= in_granules(bytes);
  }

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }
  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return memory_bytes_ - reserved_bytes_; }
  [[nodiscard]] std::uint64_t reserved_bytes() const noexcept { return reserved_bytes_; }
  [[nodiscard]] std::uint64_t reserved_bytes_peak() const noexcept { return reserved_bytes_peak_; }
  [[nodiscard]] std::uint64_t allocates() const noexcept { return allocates_; }
  [[nodiscard]] std::uint64_t frees() const noexcept { return frees_; }
  [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_; }

 private:
  [[nodiscard]] std::uint64_t in_granules(std::uint64_t bytes) const noexcept {
    return (bytes + granule_bytes_ - 1) & ~(granule_bytes_ - 1);
  }

  std::uint64_t memory_bytes_;
  std::uint64_t granule_bytes_;
  std::uint64_t next_address_ = std::uint64_t{1} << 32;
  std::uint64_t reserved_bytes_ = 0;
  std::uint64_t reserved_bytes_peak_ = 0;
  std::uint64_t allocates_ = 0;
  std::uint64_t frees_ = 0;
  std::uint64_t refusals_ = 0;
};

}  // namespace arcalloc::trace
