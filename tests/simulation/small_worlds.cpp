// SPDX-License-Identifier: Apache-2.0
#include "small_worlds.hpp"

#include <algorithm>

#include "scenario_lines.hpp"
#include "simulation.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc::testing {

namespace {

constexpr stream one{1};
constexpr stream two{2};
constexpr std::uint64_t worlds_per_allocator = 1000;

stream other(stream than) { return than == one ? two : one; }

operation of(act what) {
  operation next;
  next.what = what;
  return next;
}

}  // namespace

void small_worlds::walk() {
  player_.emplace(empty_);
  extend();
  if (violation_.empty()) {
    player_->finish();
    violation_ = player_->violation();
  }
  player_.reset();
}

/// The alphabet.
void small_worlds::extend() {
  if (!violation_.empty()) return;
  if (sequence_.size() == depth_) return play();
  for (const std::uint64_t bytes : {kib, 3 * mib / 2, 2 * mib}) {
    for (const stream on : {one, two}) add_allocate(bytes, on);
  }
  const std::size_t live = state_.live.size();
  if (live > 0) {
    add_free(live - 1, way::handle);
    add_free(live - 1, way::pointer_on);
    add_use(live - 1);
  }
  if (live > 1) add_free(0, way::pointer_and_bytes);
  add_busy(!state_.busy);
  add(of(act::drain), state_);
  add(of(act::trim), state_);
  if (!state_.allocate_fault) add_fault(sim_call::allocate);
  if (!state_.free_fault) add_fault(sim_call::free);
}

void small_worlds::add(const operation& next, const drawn_state& then) {
  const drawn_state now = state_;
  sequence_.push_back(next);
  state_ = then;
  extend();
  state_ = now;
  sequence_.pop_back();
  judged_ = std::min(judged_, sequence_.size());
}

void small_worlds::add_allocate(std::uint64_t bytes, stream on) {
  drawn_state then = state_;
  operation next = of(act::allocate);
  next.block = ++then.last_block;
  next.bytes = bytes;
  next.on = on;
  then.live.push_back({next.block, on});
  add(next, then);
}

void small_worlds::add_free(std::size_t which, way how) {
  drawn_state then = state_;
  operation next = of(act::free_block);
  next.block = then.live[which].number;
  next.how = static_cast<std::uint8_t>(how);
  next.on = other(then.live[which].on);
  then.live.erase(then.live.begin() + static_cast<std::ptrdiff_t>(which));
  add(next, then);
}

void small_worlds::add_use(std::size_t which) {
  operation next = of(act::use);
  next.block = state_.live[which].number;
  next.on = other(state_.live[which].on);
  add(next, state_);
}

void small_worlds::add_busy(bool begins) {
  drawn_state then = state_;
  then.busy = begins;
  operation next = of(begins ? act::busy : act::finish);
  next.on = one;
  add(next, then);
}

void small_worlds::add_fault(sim_call call) {
  drawn_state then = state_;
  const bool frees = call == sim_call::free;
  (frees ? then.free_fault : then.allocate_fault) = true;
  operation next = of(act::plan_fault);
  next.fault = {call, 1, false, frees ? status::backend_failed : status::device_out_of_memory};
  add(next, then);
}

void small_worlds::play() {
  ++worlds_;
  for (std::size_t i = 0; i < depth_; ++i) player_->play(sequence_[i], i >= judged_);
  judged_ = depth_;
  player_->empty(false);
  if (worlds_ % worlds_per_allocator == 0 && player_->violation().empty()) {
    player_->finish();
    if (player_->violation().empty()) player_.emplace(empty_);
  }
  if (!player_->violation().empty()) tell();
}

void small_worlds::tell() {
  plan alone = empty_;
  alone.operations = sequence_;
  simulation_result came_to = run_plan(alone);
  violation_ = std::string("world ").append(std::to_string(worlds_)).append(": ").append(player_->violation());
  if (came_to.violation.empty()) violation_.append("\n(not with a new allocator)");
  violation_.append("\n").append(scenario_lines(alone, came_to));
}

}  // namespace arcalloc::testing
