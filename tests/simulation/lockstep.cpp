// SPDX-License-Identifier: Apache-2.0
#include "lockstep.hpp"

namespace arcalloc::testing {

void lockstep::run() {
  while (!over()) {
    const operation& next = plan_.operations[next_];
    if (next.what == act::end_actor) {
      end(next.actor);
      player_.play(next);
      ++next_;
      continue;
    }
    if (!threads_[next.actor].joinable()) begin(next.actor);
    pass_to(next.actor);
    await_turn(conductor);
  }
  for (std::uint32_t actor = 0; actor < actors_max; ++actor) end(actor);
}

std::uint32_t lockstep::due() const {
  if (over()) return conductor;
  const operation& next = plan_.operations[next_];
  return next.what == act::end_actor || !threads_[next.actor].joinable() ? conductor : next.actor;
}

void lockstep::pass_to(std::uint32_t whom) {
  {
    const std::lock_guard guard(mutex_);
    holder_ = whom;
  }
  turns_[whom].notify_one();
}

void lockstep::await_turn(std::uint32_t own) {
  std::unique_lock guard(mutex_);
  turns_[own].wait(guard, [&] { return holder_ == own; });
}

void lockstep::act_as(std::uint32_t actor) {
  for (await_turn(actor); !ends_; await_turn(actor)) {
    for (; due() == actor; ++next_) player_.play(plan_.operations[next_]);
    pass_to(due());
  }
}

void lockstep::begin(std::uint32_t actor) {
  threads_[actor] = std::thread([this, actor] { act_as(actor); });
}

void lockstep::end(std::uint32_t actor) {
  if (!threads_[actor].joinable()) return;
  ends_ = true;
  pass_to(actor);
  threads_[actor].join();
  ends_ = false;
  // One that has just begun may be looking whose turn it is.
  const std::lock_guard guard(mutex_);
  holder_ = conductor;
}

}  // namespace arcalloc::testing
