// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <arcalloc/sim_backend.hpp>
#include <array>
#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace arcalloc::testing {

inline constexpr std::array sim_calls = {sim_call::allocate,    sim_call::free,       sim_call::record_event,
                                         sim_call::query_event, sim_call::wait_event, sim_call::query_memory};

/// Which planned faults were met, by the numbers of the driver's calls: a refusal is forgiven only in an operation that
/// met one. It forgives a little too much where one plan covers another; it never blames an allocator for a fault.
class fault_watch {
 public:
  void plan(const sim_backend& device, const planned_fault& fault) {
    if (fault.with == status::ok) {
      std::erase_if(to_come_, [&](const numbered& one) { return one.call == fault.call; });
      return;
    }
    to_come_.push_back({fault.call, device.calls(fault.call) + fault.nth, fault.persistent});
  }

  /// Before an operation.
  void begin(const sim_backend& device) {
    met_ = false;
    for (numbered& one : to_come_) one.calls_before = device.calls(one.call);
  }

  /// After it.
  void end(const sim_backend& device) {
    std::erase_if(to_come_, [&](const numbered& one) {
      const std::uint64_t calls = device.calls(one.call);
      const bool met = calls >= one.number && calls > one.calls_before;
      if (met) met_ = met_ever_[static_cast<std::size_t>(one.call)] = true;
      return calls >= one.number && !one.persistent;
    });
  }

  [[nodiscard]] bool is_to_come(sim_call call) const {
    return std::any_of(to_come_.begin(), to_come_.end(), [=](const numbered& one) { return one.call == call; });
  }
  [[nodiscard]] bool met() const { return met_; }
  [[nodiscard]] bool met_ever(sim_call call) const { return met_ever_[static_cast<std::size_t>(call)]; }

 private:
  struct numbered {
    sim_call call;
    std::uint64_t number;
    bool persistent;
    std::uint64_t calls_before = 0;
  };
  std::vector<numbered> to_come_;
  std::array<bool, sim_calls.size()> met_ever_{};
  bool met_ = false;
};

}  // namespace arcalloc::testing
