// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "player.hpp"

namespace arcalloc::testing {

/// Several actors, each a thread of its own, of which exactly one runs: a plan is played in its order, and every
/// operation on its actor's thread.
///
/// The baton goes from actor to actor, and through the conductor (the thread that called run) where a thread
/// begins or ends. Where no baton passes, nothing is waited for. Concurrency: one mutex; who has the baton has all
/// else. It adds nothing to the order of the plan, so a run stays one run; it finds no race, which is the thread tests'
/// job.
class lockstep {
 public:
  lockstep(const plan& what, player& on) : plan_(what), player_(on) {}

  /// Plays all of it, to the first violation. All threads have ended when it returns.
  void run();

 private:
  static constexpr std::uint32_t conductor = actors_max;

  [[nodiscard]] bool over() const { return next_ == plan_.operations.size() || !player_.violation().empty(); }
  /// Whose turn it is.
  [[nodiscard]] std::uint32_t due() const;
  void pass_to(std::uint32_t whom);
  void await_turn(std::uint32_t own);
  void act_as(std::uint32_t actor);
  void begin(std::uint32_t actor);
  void end(std::uint32_t actor);

  const plan& plan_;
  player& player_;
  std::size_t next_ = 0;  ///< of the operations
  bool ends_ = false;     ///< whoever gets the baton next ends

  std::mutex mutex_;
  std::array<std::condition_variable, actors_max + 1> turns_;
  std::uint32_t holder_ = conductor;
  std::array<std::thread, actors_max> threads_;
};

}  // namespace arcalloc::testing
