// SPDX-License-Identifier: Apache-2.0
// Captures, graphs, profiles and streams that end: what the engine does, by the rules of docs/graph_capture.md. The
// allocator's calls go around the device's; a launch is ordered after what the streams of its window did eagerly, and
// after the last launch of its group.
#include <algorithm>
#include <array>
#include <string>

#include "player.hpp"

namespace arcalloc::testing {

namespace {

/// A count that is kept beside the allocator's: of all that missed in the open window, or the last one.
std::uint64_t misses_recorded(const allocator& memory) {
  std::vector<capture_miss_record> records(memory.read_capture_misses(nullptr, 0));
  memory.read_capture_misses(records.data(), records.size());
  std::uint64_t count = 0;
  for (const capture_miss_record& one : records) count += one.count;
  return count;
}

bool is_for_want_of_room(status outcome) {
  return outcome == status::device_out_of_memory || outcome == status::capacity_exceeded;
}

}  // namespace

/// One line for each kind.
void player::carry_out_capture(const operation& next) {
  switch (next.what) {
    case act::begin_capture:
      begin_capture(next);
      return judge_captures();
    case act::end_capture:
      end_capture(next);
      return judge_captures();
    case act::abort_capture:
      abort_capture(next);
      return judge_captures();
    case act::launch:
      return launch(next.block, captures_.named(next.on), next.how == 0);
    case act::release_graph:
      return release_graph(next.block);
    case act::end_stream:
      return end_stream(next.on);
    case act::begin_profile:
      if (profiles_.recording() || profiles_.find(next.block) != nullptr) return;
      profiles_.begin(next.block);
      return expect_ok("begin_profile", memory_->begin_profile());
    case act::end_profile:
      return end_profile();
    case act::prewarm:
      return prewarm(next);
    case act::prewarm_profile:
      return prewarm_profile(next.block);
    case act::verify_profile:
      return verify_profile(next.block);
    default:
      return violate("an operation that is about no capture is played as one");
  }
}

/// Ordered behind `earlier` on the device: what an engine does with an event of its own.
void player::order(stream later, stream earlier) {
  device_.wait(later, earlier);
  waits_.push_back({played() - 1, later, earlier});
}

capture_policy player::policy_of(const engine_window& window) const {
  const capture_policy said =
      window.policy == capture_policy::as_configured ? plan_.settings.capture_miss : window.policy;
  return said == capture_policy::refuse ? said : capture_policy::grow;
}

void player::begin_capture(const operation& next) {
  const stream on = captures_.named(next.on);
  if (captures_.around(on) != nullptr) return;
  order(engine_captures::mark_of(on), on);
  const engine_window window{on, {on}, pool_group{next.bytes}, static_cast<capture_policy>(next.how)};
  const status outcome = memory_->begin_capture(on, {window.policy, window.group});
  answers_.back() = outcome;
  if (outcome != status::ok) return violate("begin_capture was refused");
  device_.begin_capture(on, next.bytes);
  captures_.open(window);
  model_.note_windows(captures_.windows().size());
  misses_noted_ = 0;
  profiles_.opened(on);
}

void player::end_capture(const operation& next) {
  const stream on = captures_.named(next.on);
  const engine_window* const open = captures_.around(on);
  if (open == nullptr || open->began_on != on || captures_.find(next.block) != nullptr) return;
  const engine_window closed = captures_.close(on);
  engine_graph made{graph_id::none, device_.end_capture(on), closed.group, on, closed.streams};
  model_.note_windows(captures_.windows().size());
  const status outcome = memory_->end_capture(on, made.id);
  answers_.back() = outcome;
  if (outcome != status::ok || made.id == graph_id::none) return violate("end_capture was refused");
  captures_.add(next.block, made);
  model_.captured();
  judge_window(closed);
}

void player::abort_capture(const operation& next) {
  const stream on = captures_.named(next.on);
  const engine_window* const open = captures_.around(on);
  if (open == nullptr || open->began_on != on) return;
  const engine_window closed = captures_.close(on);
  device_.abort_capture(on);
  model_.note_windows(captures_.windows().size());
  const status outcome = memory_->abort_capture(on);
  answers_.back() = outcome;
  if (outcome != status::ok) return violate("abort_capture was refused");
  judge_window(closed);
}

void player::launch(std::uint32_t number, stream on, bool always_told) {
  const engine_graph* const known = captures_.find(number);
  if (known == nullptr || captures_.around(on) != nullptr) return;
  for (const stream earlier : captures_.due_before(*known, on)) order(on, earlier);
  device_.launch_graph(known->on_device, on);
  captures_.launched(*known, on);
  answers_.back() = status::ok;
  if (always_told || on != known->began_on) expect_ok("note_replay", memory_->note_replay(known->id, on));
}

void player::release_graph(std::uint32_t number) {
  const engine_graph* const known = captures_.find(number);
  if (known == nullptr) return;
  device_.forget_graph(known->on_device);
  // Also where a free that it led to has failed.
  expect_ok("release_graph", memory_->release_graph(known->id));
  captures_.forget(number);
  model_.gave_up_graph();
}

void player::end_stream(stream name) {
  const stream on = captures_.named(name);
  if (captures_.around(on) != nullptr) return;
  order(engine_captures::mark_of(on), on);
  const status outcome = memory_->end_stream(on);
  expect_ok("end_stream", outcome);
  if (outcome != status::ok) return;
  captures_.end(name);
  model_.ended(on);
  profiles_.blur();
}

void player::end_profile() {
  if (!profiles_.recording()) return;
  profile said;
  expect_ok("end_profile", memory_->end_profile(said));
  expect_nothing_wrong(profiles_.end(said));
}

void player::prewarm(const operation& next) {
  if (captures_.any_open() || next.bytes == 0 || next.how == 0) return;
  profile wanted;
  claim(wanted.add({captures_.named(next.on), next.bytes, next.how}), "no host memory for a profile");
  const status outcome = memory_->prewarm(wanted);
  if (is_for_want_of_room(outcome)) {
    answers_.back() = outcome;
  } else {
    expect_ok("prewarm", outcome);
  }
}

void player::prewarm_profile(std::uint32_t number) {
  const profile* const wanted = profiles_.find(number);
  if (wanted == nullptr || captures_.any_open()) return;
  profile missing;
  const status outcome = memory_->prewarm(*wanted, &missing);
  claim(missing.empty() == (outcome == status::ok), "prewarm does not say what is short where anything is, or says so");
  if (is_for_want_of_room(outcome)) {
    answers_.back() = outcome;
    return;
  }
  expect_ok("prewarm", outcome);
  if (outcome == status::ok && !faults_.met()) profiles_.prewarmed(number);
}

/// It changes no counter but those of how idle memory is cut (in a window, what it would have evicted is put off), and
/// calls no driver. What was prewarmed just now
/// verifies.
void player::verify_profile(std::uint32_t number) {
  profiles_.void_promise();
  const profile* const wanted = profiles_.find(number);
  if (wanted == nullptr) return;
  const counters before = read();
  const auto calls_before = driver_calls();
  profile missing;
  const status outcome = memory_->verify(*wanted, &missing);
  answers_.back() = outcome;
  claim(outcome == status::ok || outcome == status::capture_miss || outcome == status::capacity_exceeded,
        "verify says what it cannot say");
  claim(missing.empty() == (outcome == status::ok), "verify does not say what is short where anything is, or says so");
  claim(outcome == status::ok || !profiles_.must_verify(number), "what was prewarmed does not verify");
  claim(driver_calls() == calls_before, "verify called the driver");
  const counters after = read();
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto which = fields[i].value;
    const bool may = which == &counters::classes_idle || which == &counters::blocks_idle ||
                     (which == &counters::capture_deferred && captures_.any_open());
    const bool same = before.*fields[i].value == after.*fields[i].value;
    if (!same && !may) return violate(std::string("verify changed ").append(fields[i].name));
  }
  if (outcome == status::ok && !captures_.any_open() && !model_.bypasses()) profiles_.verified(number);
}

/// What a request may meet in a window, and whether it was counted as it was answered.
void player::judge_request(const operation& next, status outcome, std::uint64_t driver_asked) {
  const stream on = captures_.named(next.on);
  const engine_window* const window = captures_.around(on);
  const bool must_hit = profiles_.must_hit(next.block, on, next.bytes);
  if (window == nullptr) {
    claim(outcome != status::capture_miss, "a request outside of windows was refused with capture_miss");
    return claim(!must_hit, "a profile was promised outside of windows");
  }
  const bool grows = policy_of(*window) == capture_policy::grow;
  claim(grows || driver_asked == 0, "a window that refuses asked the driver");
  claim(driver_asked <= 1, "a request in a window asked the driver again");
  if (outcome == status::capture_miss) {
    claim(!grows || !plan_.device.allocates_beside_capture, "a window that grows refused with capture_miss");
    // The device counts the call that it does not know.
    if (driver_asked != 0) model_.note_declined_call();
  }
  if (model_.bypasses()) return;
  const bool hit = outcome == status::ok && driver_asked == 0;
  hit ? model_.hit_in_window() : model_.missed_in_window();
  misses_noted_ += hit ? 0 : 1;
  promises_kept_ += must_hit ? 1 : 0;
  claim(hit || !must_hit, "a request missed that a verified profile covers");
}

void player::judge_window(const engine_window& closed) {
  claim(misses_recorded(*memory_) == misses_noted_, "the misses that are recorded are not those that there were");
  for (const stream on : closed.streams) claim(!memory_->is_capturing(on), "a stream is in a window that is closed");
  if (!captures_.any_open()) judge_put_off();
}

/// What the windows put off has been done when the last one is closed.
void player::judge_put_off() {
  const put_off due = put_off_;
  put_off_ = {};
  faults_.end(device_);
  if (faults_.met()) return;
  const counters left = read();
  if (due.drain) claim(left.cached_bytes == 0 && left.pending_bytes == 0, "a drain that was put off was not made up");
  if (!busy_.empty()) return;
  claim(left.cached_bytes <= due.trim_target, "a trim that was put off was not made up");
}

void player::judge_captures() {
  for (const engine_window& window : captures_.windows()) {
    for (const stream on : window.streams) claim(memory_->is_capturing(on), "a stream is in no window that has joined");
  }
}

/// Windows are aborted, every graph is launched a last time and given up, a recording ended.
void player::finish_captures(bool judged) {
  operation last;
  const auto play_last = [&] {
    play(last, judged);
    answers_.pop_back();
  };
  while (captures_.any_open() && violation_.empty()) {
    last.what = act::abort_capture;
    last.on = stream{static_cast<std::uint64_t>(captures_.windows().front().began_on) % engine_captures::names};
    play_last();
  }
  while (!captures_.graphs().empty() && violation_.empty()) {
    last.block = captures_.graphs().begin()->first;
    last.on = stream{1};
    for (const act what : {act::launch, act::release_graph}) {
      last.what = what;
      play_last();
    }
  }
  if (!profiles_.recording()) return;
  last.what = act::end_profile;
  play_last();
}

}  // namespace arcalloc::testing
