// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "player.hpp"

namespace arcalloc::testing {

/// Plays every sequence of `depth` operations of a tiny alphabet: three sizes on two streams, the ways to free, work on
/// another stream, a busy stream, drain, trim, one failing driver allocation and one failing driver free.
///
/// Sequences come in the order of the alphabet, and each state is judged once: of a sequence that begins like the
/// one before, only from where it differs. Which operations may come next follows from the sequence alone, as if
/// every request in it were served; so their number says that none was left out, whatever the allocator answers.
/// A world begins where the last ended, with everything freed and drained; now and then with a new allocator.
/// Concurrency: none. Cost: some ten microseconds a world.
class small_worlds {
 public:
  small_worlds(const plan& empty, std::size_t depth) : empty_(empty), depth_(depth) {}

  /// To the first violation.
  void walk();

  [[nodiscard]] std::uint64_t worlds() const { return worlds_; }
  /// Empty, or what is wrong and in which world, as lines of a scenario.
  [[nodiscard]] const std::string& violation() const { return violation_; }

 private:
  struct drawn_block {
    std::uint32_t number = 0;
    stream on = default_stream;
  };
  /// What the sequence so far leaves, if every request in it was served.
  struct drawn_state {
    std::vector<drawn_block> live;
    std::uint32_t last_block = 0;
    bool busy = false;
    bool allocate_fault = false;
    bool free_fault = false;
  };

  void extend();
  void add(const operation& next, const drawn_state& then);
  void add_allocate(std::uint64_t bytes, stream on);
  void add_free(std::size_t which, way how);
  void add_use(std::size_t which);
  void add_busy(bool begins);
  void add_fault(sim_call call);
  void play();
  void tell();

  const plan empty_;
  const std::size_t depth_;
  std::vector<operation> sequence_;
  drawn_state state_;
  std::size_t judged_ = 0;  ///< operations at its beginning that were judged in this order
  std::optional<player> player_;
  std::uint64_t worlds_ = 0;
  std::string violation_;
};

}  // namespace arcalloc::testing
