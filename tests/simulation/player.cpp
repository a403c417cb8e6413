// SPDX-License-Identifier: Apache-2.0
// What each operation does, and what may come of it. The judgement after every operation is in judging.cpp.
#include "player.hpp"

#include <algorithm>
#include <limits>

namespace arcalloc::testing {

namespace {

bool is_exhaustion(status outcome) {
  return outcome == status::device_out_of_memory || outcome == status::capacity_exceeded;
}

}  // namespace

player::player(const plan& of) : plan_(of), device_(of.device), model_(of) {
  if (of.settings.capacity_bytes != 0) device_.set_capacity_bytes(of.settings.capacity_bytes);
  allocator* raw = nullptr;
  claim(allocator::create(device_, of.settings, raw) == status::ok, "create was refused");
  memory_.reset(raw);
  if (memory_ != nullptr) at_step_ = last_ = read();
}

void player::play(const operation& next, bool judged) {
  if (!violation_.empty()) return;
  answers_.emplace_back();
  faults_.begin(device_);
  const bool may_keep_promise = next.what == act::begin_capture || next.what == act::allocate ||
                                next.what == act::free_block || next.what == act::verify_profile;
  if (!may_keep_promise) profiles_.void_promise();
  if (next.what != act::verify_profile) profiles_.forget_prewarmed();
  carry_out(next);
  faults_.end(device_);
  model_.note_peaks();
  if (judged) {
    judge();
  } else {
    model_.note_no_walk();
  }
  const std::uint64_t answer = answers_.back() ? 1 + static_cast<std::uint64_t>(*answers_.back()) : 0;
  answers_hash_ = answers_hash_ * 31 + answer;
}

/// One line for each kind.
void player::carry_out(const operation& next) {
  switch (next.what) {
    case act::allocate:
      return allocate(next);
    case act::free_block:
      return free_block(next);
    case act::use:
      return use(next);
    case act::busy: {
      const stream on = captures_.named(next.on);
      if (captures_.around(on) != nullptr) return;
      answers_.back() = status::ok;
      busy_.insert(on);
      return device_.busy(on);
    }
    case act::finish:
      busy_.erase(captures_.named(next.on));
      return device_.finish(captures_.named(next.on));
    case act::wait:
      return wait(next);
    case act::end_step:
      return end_step();
    case act::begin_phase:
      model_.began(static_cast<phase>(next.how));
      expect_ok("begin_phase", memory_->begin_phase(static_cast<phase>(next.how)));
      return claim(memory_->current_phase() == static_cast<phase>(next.how), "the phase is another");
    case act::trim:
      return trim(next.bytes);
    case act::drain:
      return drain();
    case act::set_cached_max: {
      const cached_bound bound{static_cast<bound_mode>(next.how), next.bytes, false};
      model_.set_cached_max(bound);
      const audit_result before = audit(*memory_);
      expect_ok("set_cached_bytes_max", memory_->set_cached_bytes_max(bound));
      if (bound.mode == bound_mode::explicit_bytes) judge_giving_back(before, bound.bytes);
      return;
    }
    case act::set_capacity:
      return set_capacity(next.bytes);
    case act::set_enabled:
      return set_enabled(next.how != 0);
    case act::set_others:
      others_bytes_ = next.bytes;
      return device_.set_others_bytes(next.bytes);
    case act::plan_fault:
      faults_.plan(device_, next.fault);
      return device_.plan_fault(next.fault.call, next.fault.nth, next.fault.persistent, next.fault.with);
    case act::misuse:
      return misuse(next);
    case act::reset_peaks:
      model_.reset_peaks();
      return memory_->reset_peaks();
    case act::end_actor:
      return;  // whoever plays ends the thread
    case act::begin_capture:
    case act::end_capture:
    case act::abort_capture:
    case act::launch:
    case act::release_graph:
    case act::end_stream:
    case act::begin_profile:
    case act::end_profile:
    case act::prewarm:
    case act::prewarm_profile:
    case act::verify_profile:
      return carry_out_capture(next);
  }
}

void player::expect_ok(const char* call, status outcome) {
  answers_.back() = outcome;
  faults_.end(device_);
  if (outcome == status::ok || faults_.met()) return;
  violate(std::string(call).append(" was refused with ").append(status_name(outcome)));
}

void player::allocate(const operation& next) {
  if (model_.find_live(next.block) != nullptr) return;
  const stream on = captures_.named(next.on);
  engine_block fresh{{}, 0, next.bytes, 0, on, true};
  const std::uint64_t driver_calls_before = device_.calls(sim_call::allocate);
  const status outcome = memory_->allocate(next.bytes, on, fresh.piece);
  if (next.bytes == 0) return expect_ok("a request of nothing", outcome);
  judge_request(next, outcome, device_.calls(sim_call::allocate) - driver_calls_before);
  if (outcome == status::ok) {
    answers_.back() = outcome;
    device_.handed_out(on, fresh.piece.data(), next.bytes);
    device_.use(on, fresh.piece.data(), next.bytes);
    fresh.begin = reinterpret_cast<std::uint64_t>(fresh.piece.data());
    fresh.true_bytes = read_block(*memory_, fresh.piece.data()).block_bytes;
    const engine_window* const window = captures_.around(on);
    fresh.in_window = window != nullptr;
    fresh.in_group = window != nullptr && window->group != pool_group::none;
    if (model_.bypasses()) profiles_.blur();
    profiles_.note_out(next.block, on, next.bytes);
    return expect_nothing_wrong(model_.allocated(next.block, fresh));
  }
  model_.refused_request(outcome);
  claim(fresh.piece.data() == nullptr, "a refused request handed something out");
  if (is_exhaustion(outcome)) {
    answers_.back() = outcome;
    faults_.end(device_);
    judge_exhaustion(next, outcome);
  } else if (outcome == status::capture_miss) {
    answers_.back() = outcome;  // judge_request has looked at it
  } else {
    expect_ok("a request", outcome);
  }
  judge_failure(next, outcome);
}

status player::deallocate(const engine_block& known, way how, stream on) {
  void* const address = known.piece.data();
  switch (how) {
    case way::handle:
      return memory_->deallocate(known.piece);
    case way::pointer:
      return memory_->deallocate(address);
    case way::pointer_and_bytes:
      return memory_->deallocate(address, known.requested_bytes);
    case way::handle_on:
      return memory_->deallocate(known.piece, on);
    case way::pointer_on:
      return memory_->deallocate(address, on);
  }
  return status::ok;
}

void player::free_block(const operation& next) {
  const engine_block* const found = model_.find_live(next.block);
  if (found == nullptr) return;
  const engine_block known = *found;
  const auto how = static_cast<way>(next.how);
  const bool says_stream = how == way::handle_on || how == way::pointer_on;
  const stream on = captures_.named(next.on);
  // Work that only the free itself tells of.
  if (says_stream) device_.use(on, known.piece.data(), known.requested_bytes);
  device_.handed_back(known.piece.data());
  const status outcome = deallocate(known, how, on);
  expect_ok("free", outcome);
  if (says_stream && on != known.on) profiles_.void_promise();
  // Refused, or only stuck on its way to the driver: what the block's record says tells.
  if (outcome == status::ok || read_block(*memory_, known.piece.data()).requested_bytes == 0) {
    profiles_.note_back(next.block);
    profiles_.freed(next.block);
    return model_.freed(next.block);
  }
  device_.still_out(known.piece.data());
}

void player::use(const operation& next) {
  const engine_block* const known = model_.find_live(next.block);
  if (known == nullptr) return;
  const stream on = captures_.named(next.on);
  device_.use(on, known->piece.data(), known->requested_bytes);
  expect_ok("note_use",
            next.how == 0 ? memory_->note_use(known->piece, on) : memory_->note_use(known->piece.data(), on));
}

/// A stream that waits for one in a window joins it, where the plan wants that.
void player::wait(const operation& next) {
  const stream later = captures_.named(next.on);
  const stream earlier = captures_.named(next.before);
  const engine_window* const of_later = captures_.around(later);
  const engine_window* const of_earlier = captures_.around(earlier);
  const bool joins = of_earlier != nullptr && of_later == nullptr;
  if (of_later != nullptr && of_later != of_earlier) return;
  if (joins && (next.how == 0 || of_earlier == nullptr)) return;
  if (of_earlier == nullptr) {
    answers_.back() = status::ok;
    return device_.wait(later, earlier);
  }
  if (joins) order(engine_captures::mark_of(later), later);
  const status outcome = memory_->join_capture(later, earlier);
  answers_.back() = outcome;
  if (outcome != status::ok) return violate("join_capture was refused");
  device_.wait(later, earlier);
  captures_.join(later, earlier);
}

/// Down to the target, and no further than one segment: without the last that went it would have been above.
void player::judge_giving_back(const audit_result& before, std::uint64_t target) {
  if (captures_.any_open()) return;
  const std::uint64_t least = std::min(before.cached_bytes, target);
  claim(audit(*memory_).cached_bytes + before.largest_segment_bytes >= least, "more was given back than was wanted");
}

void player::trim(std::uint64_t target) {
  const audit_result before = audit(*memory_);
  expect_ok("trim", memory_->trim(target));
  judge_giving_back(before, target);
  if (captures_.any_open()) {
    put_off_.trim_target = std::min(put_off_.trim_target, target);
    return;
  }
  if (!busy_.empty() || faults_.met()) return;
  claim(read().cached_bytes <= target, "trim left more than it was to, and no stream was busy");
}

void player::drain() {
  expect_ok("drain", memory_->drain());
  if (captures_.any_open()) {
    put_off_.drain = true;
    return;
  }
  if (faults_.met()) return;
  const counters left = read();
  claim(left.cached_bytes == 0 && left.pending_bytes == 0, "a drain left cached or pending bytes");
}

void player::set_capacity(std::uint64_t bytes) {
  const status outcome = memory_->set_capacity_bytes(bytes);
  if (outcome == status::capacity_exceeded) {
    answers_.back() = outcome;
    const counters now = read();
    const std::uint64_t may_go = captures_.any_open() ? 0 : now.cached_bytes;
    return claim(bytes != 0 && now.reserved_bytes - may_go > bytes, "a capacity was refused that there is");
  }
  expect_ok("set_capacity_bytes", outcome);
  if (outcome != status::ok) return;
  model_.set_capacity(bytes);
  device_.set_capacity_bytes(bytes == 0 ? std::numeric_limits<std::uint64_t>::max() : bytes);
}

void player::set_enabled(bool enabled) {
  model_.set_enabled(enabled);
  expect_ok("set_enabled", memory_->set_enabled(enabled));
}

/// The window must be what came between two readings of the whole.
void player::end_step() {
  memory_->end_step();
  model_.ended_step();
  const counters now = read();
  counters window;
  memory_->read_step_counters(window);
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    const counter_field& field = fields[i];
    const bool counts = field.kind == counter_kind::count;
    const std::uint64_t expected = now.*field.value - (counts ? at_step_.*field.value : 0);
    if (window.*field.value != expected) violate(std::string("the step window is wrong in ").append(field.name));
  }
  at_step_ = now;
}

void player::finish_streams() {
  for (const stream each : busy_) device_.finish(each);
  busy_.clear();
}

void player::empty(bool judged) {
  finish_streams();
  finish_captures(judged);
  // Copied: what is freed leaves the model.
  for (const auto& [number, known] : std::map<std::uint32_t, engine_block>(model_.live())) {
    operation last;
    last.what = act::free_block;
    last.block = number;
    play(last, judged);
    answers_.pop_back();
  }
  end_faults();
  // What a fault refused, once more.
  for (const auto& [number, known] : std::map<std::uint32_t, engine_block>(model_.live())) {
    if (!violation_.empty()) return;
    device_.handed_back(known.piece.data());
    claim(memory_->deallocate(known.piece) == status::ok, "the last free was refused");
    model_.freed(number);
  }
  if (!violation_.empty()) return;
  claim(memory_->drain() == status::ok, "the last drain was refused");
  claim(read().reserved_bytes == 0, "memory is left after the last drain");
  judge();
}

void player::end_faults() {
  for (const sim_call call : sim_calls) {
    if (!faults_.is_to_come(call)) continue;
    faults_.plan(device_, {call, 1, true, status::ok});
    device_.plan_fault(call, 1, true, status::ok);
  }
}

void player::finish() {
  if (plan_.ends_with_blocks) {
    // What is busy stays so: the allocator waits for it before the device has its memory back.
    while (captures_.any_open()) {
      const stream on = captures_.close(captures_.windows().front().began_on).began_on;
      device_.abort_capture(on);
      claim(memory_->abort_capture(on) == status::ok, "the last abort was refused");
    }
    end_faults();
    for (const auto& [number, known] : model_.live()) device_.handed_back(known.piece.data());
  } else {
    empty(true);
  }
  // In which order a pool that dies waits for its blocks follows from their addresses in this process: not hashed.
  answers_hash_ ^= device_.history_hash();
  if (!violation_.empty()) return;
  memory_.reset();
  device_.convict_leaks();
  if (const auto convicted = device_.convictions(); !convicted.empty()) violate(convicted.front());
}

}  // namespace arcalloc::testing
