// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/counters.hpp>

#include "base.hpp"

namespace arcalloc::detail {

/// The cap that is in force until the device answers a memory query.
inline constexpr std::uint64_t fallback_cap_bytes = 256 * mebibyte;

/// derived = min(1 GiB, (free - reserve) / 2) with free = the driver's free + our cached (what would
/// be free after a drain, at most the device's total) and reserve = min(256 MiB, free / 4). Pure.
[[nodiscard]] cap_arithmetic derive_cap(const memory_info& device, std::uint64_t own_cached_bytes) noexcept;

/// Both bounds, and who has been promised what of them. This is where the bounds are enforced: no
/// byte is asked of the driver before try_reserve said yes, and no stream cache keeps a wholly idle
/// segment beyond its lease after a call, unless a capture window puts that off.
///
/// Called by the pool and the ladder; calls nothing. Guarded by the pool's mutex.
/// Equations: reserved + asking <= capacity; sum of leases <= cached max, but while a window is open.
class budget {
 public:
  /// Takes `bytes` of the capacity before the driver is asked for them.
  [[nodiscard]] bool try_reserve(std::uint64_t bytes) noexcept {
    if (bytes > capacity_bytes_ - reserved_bytes_ - asking_bytes_) return false;
    asking_bytes_ += bytes;
    return true;
  }
  /// The driver lent them: they count as reserved.
  void confirm(std::uint64_t bytes) noexcept {
    asking_bytes_ -= bytes;
    reserved_bytes_ += bytes;
    if (reserved_bytes_ > reserved_bytes_peak_) reserved_bytes_peak_ = reserved_bytes_;
  }
  /// The driver refused them.
  void unreserve(std::uint64_t bytes) noexcept { asking_bytes_ -= bytes; }
  /// They are back with the driver.
  void returned(std::uint64_t bytes) noexcept { reserved_bytes_ -= bytes; }

  /// How much must go back before `bytes` more would fit the capacity; 0 when they fit.
  [[nodiscard]] std::uint64_t shortfall(std::uint64_t bytes) const noexcept {
    const std::uint64_t room = capacity_bytes_ - reserved_bytes_ - asking_bytes_;
    return bytes > room ? bytes - room : 0;
  }

  /// False, and no change, when more than `bytes` is reserved.
  [[nodiscard]] bool try_set_capacity(std::uint64_t bytes) noexcept {
    if (reserved_bytes_ + asking_bytes_ > bytes) return false;
    capacity_bytes_ = bytes;
    return true;
  }

  /// Leases more of the cached max, at least `least` and at most `most`. Returns the grant, 0 for none.
  [[nodiscard]] std::uint64_t lease(std::uint64_t least, std::uint64_t most) noexcept {
    const std::uint64_t room = leased_bytes_ < cached_max() ? cached_max() - leased_bytes_ : 0;
    const std::uint64_t grant = room < least ? 0 : (room < most ? room : most);
    leased_bytes_ += grant;
    return grant;
  }
  /// A record's lease becomes what it has idle, whatever the bound says; the pool evicts what is too much.
  void change_lease(std::uint64_t from, std::uint64_t to) noexcept {
    ARCALLOC_ASSERT(from <= leased_bytes_);
    leased_bytes_ = leased_bytes_ - from + to;
  }

  /// The bound that leases obey: 0 while the cache is off, whatever is configured.
  [[nodiscard]] std::uint64_t cached_max() const noexcept { return caching_ ? cap_.cached_bytes_max : 0; }
  void set_caching(bool on) noexcept { caching_ = on; }

  [[nodiscard]] const cap_arithmetic& cap() const noexcept { return cap_; }
  void set_cap(const cap_arithmetic& cap) noexcept { cap_ = cap; }

  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept { return capacity_bytes_; }
  [[nodiscard]] std::uint64_t reserved_bytes() const noexcept { return reserved_bytes_; }
  [[nodiscard]] std::uint64_t reserved_bytes_peak() const noexcept { return reserved_bytes_peak_; }
  [[nodiscard]] std::uint64_t leased_bytes() const noexcept { return leased_bytes_; }
  void reset_peak() noexcept { reserved_bytes_peak_ = reserved_bytes_; }

 private:
  std::uint64_t capacity_bytes_ = ARCALLOC_NO_BOUND;
  std::uint64_t reserved_bytes_ = 0;
  std::uint64_t reserved_bytes_peak_ = 0;
  std::uint64_t asking_bytes_ = 0;
  std::uint64_t leased_bytes_ = 0;
  cap_arithmetic cap_{};
  bool caching_ = true;
};

}  // namespace arcalloc::detail
