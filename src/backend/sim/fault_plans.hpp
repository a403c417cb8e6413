// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <arcalloc/sim_backend.hpp>

namespace arcalloc {

/// Which calls of the simulated device fail, and how often each kind was made.
///
/// Used by the simulated backend alone. A plan names a call by its number within its kind, or picks
/// calls by a seed; what it answers depends on the kind and the number alone, never on other kinds.
/// Concurrency: none of its own; the backend's mutex. Cost: linear in the plans of the kind.
/// It does not carry a fault out: the backend leaves the device as it was.
class fault_plans {
 public:
  void plan(sim_call call, std::uint64_t nth, bool persistent, status with);
  void plan_by_seed(sim_call call, std::uint64_t seed, std::uint64_t one_in, status with);

  /// Counts a call, and says what it answers if the device would not decide otherwise: mostly ok.
  status count(sim_call call);
  [[nodiscard]] std::uint64_t calls(sim_call call) const { return of(call).calls; }

 private:
  struct numbered {
    std::uint64_t number = 0;
    bool persistent = false;
    status with = status::ok;
  };
  struct kind {
    std::uint64_t calls = 0;
    std::vector<numbered> plans;
    std::uint64_t seed = 0;
    std::uint64_t one_in = 0;
    status with_by_seed = status::ok;
  };
  static constexpr std::size_t kinds = static_cast<std::size_t>(sim_call::query_memory) + 1;

  [[nodiscard]] kind& of(sim_call call) { return kinds_[static_cast<std::size_t>(call)]; }
  [[nodiscard]] const kind& of(sim_call call) const { return kinds_[static_cast<std::size_t>(call)]; }

  std::array<kind, kinds> kinds_{};
};

/// Spreads every bit of `value` over all bits of the result: the finaliser of splitmix64
/// (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).
[[nodiscard]] constexpr std::uint64_t spread_bits(std::uint64_t value) noexcept {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

}  // namespace arcalloc
