// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <arcalloc/sim_backend.hpp>

#include "decode/device_model.hpp"

namespace arcalloc::decode {

/// What an operation moves and computes.
struct device_work {
  std::uint64_t bytes = 0;       ///< read and written
  std::uint64_t operations = 0;  ///< multiplications and additions, one each
  precision with = precision::half_16;
};

/// The virtual clock of a run: a host that enqueues operations, and a card that does them in order, later.
///
/// Written by the executor and the loads of the simulated device. The driver's calls cost the host what the simulated
/// device says; an operation costs the host a fixed time, and the card the larger of its bytes over the bandwidth and
/// its operations over the peak. The card begins it when it is enqueued and all before it is done. So an eager engine's
/// step takes as long as the slower of the two, as on a card.
/// Concurrency: one thread. Cost: an addition or two, and one call of the device that reads its clock.
/// It does not know the allocator's own time, which is the machine's it runs on; nor that a synchronous free waits
/// for the card.
class device_timeline {
 public:
  device_timeline(const sim_backend& device, const device_model& card) noexcept
      : device_(&device), card_(&card), operation_ns_(card.operation_ns) {}

  void enqueue(const device_work& what) noexcept {
    host_ns_ += operation_ns_;
    card_ready_ns_ = std::max(card_ready_ns_, now_ns()) + duration_ns(what);
  }

  /// The host waits for all that it enqueued.
  void synchronise() noexcept {
    const std::uint64_t now = now_ns();
    if (card_ready_ns_ > now) host_ns_ += card_ready_ns_ - now;
  }

  /// The host waits, or does something else, for so long.
  void pass(std::uint64_t ns) noexcept { host_ns_ += ns; }

  /// The host's time: the driver's calls and everything else.
  [[nodiscard]] std::uint64_t now_ns() const noexcept { return device_->now_ns() + host_ns_; }

  [[nodiscard]] std::uint64_t duration_ns(const device_work& what) const noexcept {
    const double moving = static_cast<double>(what.bytes) / card_->bytes_per_s;
    const double computing = static_cast<double>(what.operations) / card_->operations_per_s(what.with);
    return static_cast<std::uint64_t>(std::max(moving, computing) * 1e9);
  }

 private:
  const sim_backend* device_;
  const device_model* card_;
  std::uint64_t operation_ns_;
  std::uint64_t host_ns_ = 0;
  std::uint64_t card_ready_ns_ = 0;
};

}  // namespace arcalloc::decode
