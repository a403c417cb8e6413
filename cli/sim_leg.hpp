// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "decode/device_timeline.hpp"
#include "decode/session.hpp"
#include "figures.hpp"
#include "leg_message.hpp"
#include "sim_device.hpp"

namespace arcalloc::cli {

/// Simulated cards, one a rank, and a leg on them.
///
/// Called by the leg's process. What it says of memory is what the cards have lent together, never a counter of the
/// allocator: twice a second of virtual time and after the last token, and at each call of used_bytes. Each rank has an
/// allocator of its own; the first one's is the caller's, and the others are made like it. Concurrency: one thread.
class sim_leg {
 public:
  sim_leg(const sim_choice& chosen, std::size_t ranks);

  [[nodiscard]] backend& device() noexcept { return cards_.front()->device; }
  [[nodiscard]] std::uint64_t used_bytes() const;

  /// As run_session. Throws decode::input_error.
  decode::session_outcome run(allocator& memory, const options& how, const decode::session_settings& session,
                              const std::function<void(std::size_t)>& after_token);

  /// To be called after every token, and with 0 when decoding begins.
  void look(std::size_t tokens);

  /// What was seen, and the cards' verdict: after the allocator is gone.
  void report_to(leg_report& report);

 private:
  struct rank_card {
    rank_card(const decode::device_model& card, const sim_options& settings) : device(settings), time(device, card) {}
    sim_backend device;
    decode::device_timeline time;
  };

  void leave_free();

  sim_choice chosen_;
  std::vector<std::unique_ptr<rank_card>> cards_;
  std::vector<memory_sample> samples_;
  std::uint64_t used_bytes_peak_ = 0;
  std::uint64_t start_ns_ = 0;
  std::uint64_t next_sample_ns_ = 0;
};

}  // namespace arcalloc::cli
