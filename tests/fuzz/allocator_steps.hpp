// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <memory>
#include <vector>

#include "one_input.hpp"

namespace arcalloc::testing {

/// An engine that does what the bytes of an input say, over an allocator on a simulated device.
///
/// The first bytes choose the device and the options, each later one a call: requests around the borders of size
/// classes, frees in every form and on other streams, work that does not finish, bounds, phases, drains, faults of the
/// driver, and misuse. Judged after each call: the device convicts nobody, the counters agree with a walk of every
/// segment and with what the engine knows, every live block is where it was, a refusal at the door moves its counter
/// and nothing else. One thread. Cost: a walk of everything for most calls.
class steps_of_an_input {
 public:
  explicit steps_of_an_input(input_bytes& in);
  void run();

 private:
  struct live_block {
    block piece;
    std::uint64_t bytes;
    stream on;
  };

  stream any_stream() { return stream{in_.below(4)}; }
  std::uint64_t draw_size();
  cached_bound draw_bound();
  sim_options draw_device();
  options draw_options();
  [[nodiscard]] counters now() const;

  void one_call();
  void allocate();
  void free_one(bool elsewhere);
  [[nodiscard]] status free_in_some_form(const live_block& freed, bool elsewhere, stream on);
  void note_use();
  void set_capacity();
  void set_bound();
  void plan_fault();
  void misuse();
  void misuse_of(const live_block& live);
  void misuse_of_spent();
  void misuse_of_other();
  template <class Call>
  void refused_at_the_door(status expected, std::uint64_t counters::*counter, Call call);
  void expect_ok(status outcome, const char* call) const;
  void check();
  void check_walk();
  void finish();

  input_bytes& in_;
  sim_backend device_;
  allocator_ptr memory_;
  std::unique_ptr<sim_backend> other_device_;  // made when it is first needed, with a block of its own
  allocator_ptr other_;
  block of_other_;
  std::vector<live_block> live_;
  std::vector<live_block> spent_;
  std::uint64_t requests_ = 0;
  std::uint64_t step_ = 0;
  bool faults_planned_ = false;
};

}  // namespace arcalloc::testing
