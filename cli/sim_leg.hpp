// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <functional>
#include <vector>

#include "decode/device_timeline.hpp"
#include "decode/session.hpp"
#include "figures.hpp"
#include "leg_message.hpp"
#include "sim_device.hpp"

namespace arcalloc::cli {

/// A simulated card, and a leg on it.
///
/// Called by the leg's process. What it says of memory is what the card has lent, never a counter of the allocator:
/// twice a second of virtual time and after the last token, and at each call of used_bytes.
/// Concurrency: one thread.
class sim_leg {
 public:
  explicit sim_leg(const sim_choice& chosen);

  [[nodiscard]] backend& device() noexcept { return device_; }
  [[nodiscard]] std::uint64_t used_bytes() const { return device_.lent_bytes(); }

  /// As run_session. Throws decode::input_error.
  decode::session_outcome run(allocator& memory, const decode::session_settings& session,
                              const std::function<void(std::size_t)>& after_token);

  /// To be called after every token, and with 0 when decoding begins.
  void look(std::size_t tokens);

  /// What was seen, and the card's verdict: after the allocator is gone.
  void report_to(leg_report& report);

 private:
  void leave_free();

  sim_choice chosen_;
  const decode::device_model& card_;
  sim_backend device_;
  decode::device_timeline time_;
  std::vector<memory_sample> samples_;
  std::uint64_t used_bytes_peak_ = 0;
  std::uint64_t start_ns_ = 0;
  std::uint64_t next_sample_ns_ = 0;
};

}  // namespace arcalloc::cli
