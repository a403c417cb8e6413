// SPDX-License-Identifier: Apache-2.0
// The mistakes of an engine, each refused at the door.
#include <algorithm>
#include <array>

#include "player.hpp"

namespace arcalloc::testing {

namespace {

/// The counters that a refusal at the door moves by one; null behind the last.
using own_counters = std::array<std::uint64_t counters::*, 3>;

own_counters counters_of(mistake which, status outcome) {
  switch (which) {
    case mistake::too_large:
      return {&counters::requests, &counters::failed, &counters::failed_request_too_large};
    case mistake::no_phase:
    case mistake::no_bound_mode:
    case mistake::second_window:
    case mistake::join_of_no_window:
    case mistake::unknown_graph:
    case mistake::window_forbids:
    case mistake::nothing:
      return {};
    case mistake::foreign_pointer:
    case mistake::inside_a_block:
    case mistake::wrong_size:
    case mistake::second_free:
    case mistake::use_of_a_foreign_pointer:
      break;
  }
  if (outcome == status::invalid_argument) return {&counters::refused_invalid_argument};
  return {outcome == status::double_free ? &counters::refused_double_free : &counters::refused_unknown_pointer};
}

std::string changed_besides(const own_counters& own, const counters& before, const counters& after) {
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool moves = std::find(own.begin(), own.end(), fields[i].value) != own.end();
    if (after.*fields[i].value != before.*fields[i].value + (moves ? 1 : 0)) {
      return std::string("a refusal at the door did not leave as it was, or move by one, ").append(fields[i].name);
    }
  }
  return {};
}

}  // namespace

/// Mistakes around captures: refused with invalid_argument, which no counter counts. Nothing where there is no such
/// mistake to make, since the stream is in a window, or in none.
std::optional<status> player::misuse_capture(const operation& next) {
  const stream on = captures_.named(next.on);
  const bool in_window = captures_.around(on) != nullptr;
  switch (static_cast<mistake>(next.how)) {
    case mistake::second_window:
      if (!in_window) return {};
      return memory_->begin_capture(on);
    case mistake::join_of_no_window: {
      if (in_window) return {};
      graph_id none = graph_id{1};
      if (next.bytes == 0) return memory_->join_capture(stream{1}, on);
      if (next.bytes == 1) return memory_->abort_capture(on);
      const status outcome = memory_->end_capture(on, none);
      claim(none == graph_id::none, "the end of no window made a graph");
      return outcome;
    }
    case mistake::unknown_graph:
      return next.bytes == 0 ? memory_->note_replay(graph_id::none, on) : memory_->release_graph(graph_id::none);
    default: {
      if (!in_window) return {};
      if (next.bytes == 0) return memory_->end_stream(on);
      profile wanted;
      claim(wanted.add({on, 1000, 1}), "no host memory for a profile");
      return memory_->prewarm(wanted);
    }
  }
}

/// A refusal at the door moves its own counter, and nothing else moves: no other counter, no driver call.
void player::misuse(const operation& next) {
  std::byte local{};
  const engine_block* const known = model_.find_live(next.block);
  const engine_block* const spent = model_.find_spent(next.block);
  const counters before = read();
  const auto calls_before = driver_calls();
  status expected = status::unknown_pointer;
  status outcome = status::ok;
  block none;
  switch (static_cast<mistake>(next.how)) {
    case mistake::foreign_pointer:
      outcome = memory_->deallocate(&local);
      break;
    case mistake::inside_a_block:
      if (known == nullptr) return;
      outcome = memory_->deallocate(static_cast<std::byte*>(known->piece.data()) + 1 + next.bytes);
      break;
    case mistake::wrong_size:
      if (known == nullptr) return;
      expected = status::invalid_argument;
      outcome = memory_->deallocate(known->piece.data(), known->requested_bytes + 1 + next.bytes);
      break;
    case mistake::second_free:
      if (spent == nullptr) return;
      outcome = next.bytes % 2 == 0 ? memory_->deallocate(spent->piece) : memory_->deallocate(spent->piece.data());
      // Its segment may have gone, or been cut anew, since: then it is nobody's.
      if (outcome == status::double_free) expected = outcome;
      break;
    case mistake::use_of_a_foreign_pointer:
      outcome = memory_->note_use(&local, next.on);
      break;
    case mistake::too_large:
      expected = status::request_too_large;
      outcome = memory_->allocate(request_bytes_max + 1 + next.bytes, next.on, none);
      break;
    case mistake::no_phase:
    case mistake::no_bound_mode:
      expected = status::invalid_argument;
      outcome = static_cast<mistake>(next.how) == mistake::no_phase
                    ? memory_->begin_phase(static_cast<phase>(3 + next.bytes))
                    : memory_->set_cached_bytes_max({static_cast<bound_mode>(3 + next.bytes), 0, false});
      break;
    case mistake::second_window:
    case mistake::join_of_no_window:
    case mistake::unknown_graph:
    case mistake::window_forbids: {
      const std::optional<status> refused = misuse_capture(next);
      if (!refused) return;
      expected = status::invalid_argument;
      outcome = *refused;
      break;
    }
    case mistake::nothing:
      expected = status::ok;
      outcome = memory_->allocate(0, next.on, none);
      if (outcome == status::ok) outcome = memory_->deallocate(none);
      if (outcome == status::ok) outcome = memory_->deallocate(nullptr);
      break;
  }
  answers_.back() = outcome;
  if (outcome != expected) return violate(std::string("a mistake was answered ").append(status_name(outcome)));
  claim(driver_calls() == calls_before, "a refusal at the door called the driver");
  const own_counters own = counters_of(static_cast<mistake>(next.how), outcome);
  if (own[0] == &counters::requests) model_.refused_request(outcome);
  if (own[0] != nullptr && own[0] != &counters::requests) model_.refused_free(outcome);
  expect_nothing_wrong(changed_besides(own, before, read()));
}

}  // namespace arcalloc::testing
