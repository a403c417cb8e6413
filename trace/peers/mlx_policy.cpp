// SPDX-License-Identifier: Apache-2.0
#include "trace/peers/mlx_policy.hpp"

#include <algorithm>
#include <bit>

namespace arcalloc::trace {

namespace {

constexpr std::uint64_t page_bytes = 16 * 1024;
constexpr std::uint64_t scalar_bytes = 8;
constexpr std::uint64_t scalars_bytes = 4 * page_bytes;

}  // namespace

mlx_policy::mlx_policy(model_device& device, std::optional<std::uint64_t> cached_bytes_max)
    : device_(device),
      memory_bytes_max_(device.memory_bytes() / 5 * 4),
      cached_bytes_max_(cached_bytes_max.value_or(memory_bytes_max_)),
      scalars_(device.allocate(scalars_bytes)) {
  for (std::uint64_t at = 0; scalars_ && at < scalars_bytes; at += scalar_bytes) scalars_idle_.insert(*scalars_ + at);
}

std::uint64_t mlx_policy::rounded(std::uint64_t bytes) const noexcept {
  if (bytes <= scalar_bytes) return scalar_bytes;
  if (bytes < page_bytes) return std::bit_ceil(bytes);
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

std::optional<std::uint64_t> mlx_policy::allocate(std::uint64_t bytes, std::uint64_t /*stream*/) {
  const std::uint64_t wanted = rounded(bytes);
  std::optional<buffer> found;
  if (wanted == scalar_bytes) found = scalar();
  if (!found) found = from_cache(wanted);
  if (!found) found = from_driver(wanted);
  if (!found) return std::nullopt;
  out_.emplace(found->address, found->bytes);
  allocated_bytes_ += found->bytes;
  if (cached_bytes_ > cached_bytes_max_) reclaim(cached_bytes_ - cached_bytes_max_);
  return found->address;
}

std::optional<mlx_policy::buffer> mlx_policy::scalar() {
  if (scalars_idle_.empty()) return std::nullopt;
  return buffer{scalars_idle_.extract(scalars_idle_.begin()).value(), scalar_bytes};
}

bool mlx_policy::is_scalar(std::uint64_t address) const {
  return scalars_ && address >= *scalars_ && address < *scalars_ + scalars_bytes;
}

std::optional<mlx_policy::buffer> mlx_policy::from_cache(std::uint64_t bytes) {
  const auto found = cached_by_size_.lower_bound({bytes, 0});
  if (found == cached_by_size_.end() || found->first >= std::min(2 * bytes, bytes + 2 * page_bytes)) {
    return std::nullopt;
  }
  const buffer taken = cached_by_age_.extract(found->second).mapped();
  cached_by_size_.erase(found);
  cached_bytes_ -= taken.bytes;
  return taken;
}

std::optional<mlx_policy::buffer> mlx_policy::from_driver(std::uint64_t bytes) {
  const std::uint64_t together = allocated_bytes_ + cached_bytes_ + bytes;
  if (together > memory_bytes_max_) reclaim(together - memory_bytes_max_);
  const std::optional<std::uint64_t> address = device_.allocate(bytes);
  if (!address) return std::nullopt;
  return buffer{*address, bytes};
}

void mlx_policy::deallocate(std::uint64_t address) {
  const std::uint64_t bytes = out_.extract(address).mapped();
  allocated_bytes_ -= bytes;
  if (is_scalar(address)) {
    scalars_idle_.insert(address);
  } else if (cached_bytes_ < cached_bytes_max_) {
    cached_by_age_.emplace(next_age_, buffer{address, bytes});
    cached_by_size_.emplace(bytes, next_age_);
    cached_bytes_ += bytes;
    ++next_age_;
  } else {
    device_.free(bytes);
  }
}

void mlx_policy::reclaim(std::uint64_t bytes) {
  // Nine tenths in whole numbers: bytes >= 0.9 * cached.
  if (bytes >= cached_bytes_ - cached_bytes_ / 10) return drain();
  const std::uint64_t enough = cached_bytes_ - bytes;
  while (cached_bytes_ > enough) free_oldest();
}

void mlx_policy::free_oldest() {
  const auto oldest = cached_by_age_.begin();
  cached_by_size_.erase({oldest->second.bytes, oldest->first});
  cached_bytes_ -= oldest->second.bytes;
  device_.free(oldest->second.bytes);
  cached_by_age_.erase(oldest);
}

void mlx_policy::drain() {
  while (!cached_by_age_.empty()) free_oldest();
}

std::uint64_t mlx_policy::largest_idle_bytes() const {
  return cached_by_size_.empty() ? 0 : cached_by_size_.rbegin()->first;
}

}  // namespace arcalloc::trace
