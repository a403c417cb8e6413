// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/sim_backend.hpp>

#include <utility>

#include "sim_state.hpp"

namespace arcalloc {
sim_backend::sim_backend(const sim_options& settings) : state_(std::make_unique<state>(settings)) {}

sim_backend::~sim_backend() = default;

std::size_t sim_backend::granularity() const noexcept { return state_->settings.granularity; }

bool sim_backend::synchronous() const noexcept { return state_->settings.synchronous; }

status sim_backend::allocate(std::size_t bytes, stream on, void*& address) noexcept {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.now_ns += at.settings.allocate_ns;
  const status planned = at.faults.count(sim_call::allocate);
  address = nullptr;
  const bool captured = at.captured.around(on) != nullptr;
  if (captured) at.judgement.convict("allocate of ", bytes, " bytes on ", named(on), ", which is in a capture");
  const status answered = captured ? status::backend_failed : at.lend(bytes, planned, address);
  at.judgement.note({number(sim_call::allocate), bytes, number(on), place(address), number(answered)});
  return answered;
}

status sim_backend::allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.now_ns += at.settings.allocate_ns;
  const status planned = at.faults.count(sim_call::allocate);
  address = nullptr;
  const bool can = at.settings.allocates_beside_capture;
  const status answered = can ? at.lend(bytes, planned, address) : status::capture_miss;
  at.judgement.note({number(played::allocate_beside_capture), bytes, number(on), place(address), number(answered)});
  return answered;
}

status sim_backend::free(void* address, std::size_t bytes) noexcept {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.now_ns += at.settings.free_ns;
  const status planned = at.faults.count(sim_call::free);
  const auto answer = [&]() -> status {
    if (!at.legal_in_capture("free")) return status::backend_failed;
    lent_range* const leaving = at.freed_range(place(address), bytes);
    if (leaving == nullptr) return status::invalid_argument;
    at.judge_idle(*leaving);
    if (planned != status::ok) return planned;
    at.memory.take_back(leaving->range.begin);
    return status::ok;
  };
  const status answered = answer();
  at.judgement.note({number(sim_call::free), place(address), bytes, number(answered)});
  return answered;
}

status sim_backend::query_memory(memory_info& out) const noexcept {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  const status planned = at.faults.count(sim_call::query_memory);
  const status answered = at.legal_in_capture("query_memory") ? planned : status::backend_failed;
  if (answered == status::ok) {
    out.total_bytes = at.settings.memory_bytes;
    out.free_bytes = at.free_bytes();
    at.judgement.note({out.free_bytes});
  }
  at.judgement.note({number(sim_call::query_memory), number(answered)});
  return answered;
}

status sim_backend::record_event(stream on, event& out) noexcept {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.now_ns += at.settings.event_ns;
  const status planned = at.faults.count(sim_call::record_event);
  const bool captured = at.captured.around(on) != nullptr;
  if (captured) at.judgement.convict("record_event on ", named(on), ", which is in a capture");
  const status answered = captured ? status::backend_failed : planned;
  out = event::none;
  if (answered == status::ok) {
    out = event{++at.last_event};
    at.events[at.last_event] = at.order.reached(on);
  }
  at.judgement.note({number(sim_call::record_event), number(on), number(out), number(answered)});
  return answered;
}

status sim_backend::query_event(event point, bool& finished) noexcept {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.now_ns += at.settings.event_ns;
  const status planned = at.faults.count(sim_call::query_event);
  finished = false;
  const auto answer = [&]() -> status {
    if (!at.legal_in_capture("query_event")) return status::backend_failed;
    const work_point* const before = at.known_event("query_event", point);
    if (before == nullptr) return status::invalid_argument;
    if (planned != status::ok) return planned;
    finished = at.order.finished(*before);
    if (finished) at.order.settle(*before);
    return status::ok;
  };
  const status answered = answer();
  at.judgement.note({number(sim_call::query_event), number(point), number(finished), number(answered)});
  return answered;
}

status sim_backend::wait_event(event point) noexcept {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  const status planned = at.faults.count(sim_call::wait_event);
  const auto answer = [&]() -> status {
    if (!at.legal_in_capture("wait_event")) return status::backend_failed;
    const work_point* const before = at.known_event("wait_event", point);
    if (before == nullptr) return status::invalid_argument;
    if (planned == status::ok) at.order.settle(*before);
    return planned;
  };
  const status answered = answer();
  at.judgement.note({number(sim_call::wait_event), number(point), number(answered)});
  return answered;
}

void sim_backend::drop_event(event point) noexcept {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  if (at.known_event("drop_event", point) != nullptr) at.events.erase(number(point));
  at.judgement.note({number(played::drop_event), number(point)});
}

void sim_backend::use(stream on, const void* address, std::uint64_t bytes) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::use), number(on), place(address), bytes});
  captured_graph* const capture = at.captured.around(on);
  const address_range touched{place(address), place(address) + bytes};
  work_point work = capture != nullptr ? capture->order.enqueue(on) : at.order.enqueue(on);
  if (bytes == 0) return;
  lent_range* const around = at.memory.around(touched);
  if (around == nullptr) {
    at.judgement.convict("work of ", named(on), " on ", named(touched), ", which is not lent");
  } else if (capture != nullptr) {
    state::record_use(*capture, *around, touched, work);
  } else {
    state::note_use(*around, {touched, std::move(work)});
  }
}

void sim_backend::handed_out(stream on, const void* address, std::uint64_t bytes) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::handed_out), number(on), place(address), bytes});
  if (bytes == 0) return;
  const address_range block{place(address), place(address) + bytes};
  lent_range* const around = at.memory.around(block);
  if (around == nullptr) {
    at.judgement.convict("the block ", named(block), " is handed out, and is not in one lent range");
    return;
  }
  const captured_graph* const capture = at.captured.around(on);
  at.judge_overlap(*around, block);
  at.judge_order(*around, block, on, capture);
  if (at.captured.any()) at.judge_captured(block, on, capture);
  block_out fresh{block, ++at.hand_outs, on};
  if (capture != nullptr) {
    fresh.capture = capture->number;
    fresh.group = capture->group;
  }
  around->blocks_out.emplace(block.begin, fresh);
}

void sim_backend::handed_back(const void* address) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::handed_back), place(address)});
  if (address == nullptr) return;
  lent_range* const around = at.memory.around({place(address), place(address) + 1});
  if (around != nullptr) {
    const auto block = around->blocks_out.find(place(address));
    if (block != around->blocks_out.end()) {
      at.last_back = block->second;
      around->blocks_out.erase(block);
      return;
    }
  }
  at.judgement.convict("a block at ", address, " is handed back, and none is out there");
}

void sim_backend::still_out(const void* address) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::still_out), place(address)});
  if (address == nullptr) return;
  const block_out kept = std::exchange(at.last_back, {});
  lent_range* const around = at.memory.around(kept.range);
  if (kept.hand_out == 0 || kept.range.begin != place(address) || around == nullptr) {
    at.judgement.convict("a block at ", address, " is still out, and is not the last that was handed back");
    return;
  }
  at.judge_overlap(*around, kept.range);
  around->blocks_out.emplace(kept.range.begin, kept);
}

void sim_backend::busy(stream on) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::busy), number(on)});
  at.order.enqueue(on);
  at.order.hold(on);
}

void sim_backend::finish(stream on) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::finish), number(on)});
  at.order.let_go(on);
}

void sim_backend::wait(stream later, stream earlier) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::wait), number(later), number(earlier)});
  captured_graph* const capture = at.captured.around(earlier);
  captured_graph* const own = at.captured.around(later);
  if (capture == nullptr && own == nullptr) return at.order.order(later, earlier);
  if (capture == nullptr || (own != nullptr && own != capture)) {
    at.judgement.convict("a wait of ", named(later), ", which is in a capture, for ", named(earlier),
                         ", which is not in it");
    return;
  }
  at.captured.join(later, *capture);
  capture->order.order(later, earlier);
}

void sim_backend::set_others_bytes(std::uint64_t bytes) {
  const std::lock_guard guard(state_->mutex);
  state_->judgement.begin_call();
  state_->judgement.note({number(played::others), bytes});
  state_->settings.others_bytes = bytes;
}

void sim_backend::plan_fault(sim_call call, std::uint64_t nth, bool persistent, status with) {
  const std::lock_guard guard(state_->mutex);
  state_->judgement.begin_call();
  state_->judgement.note({number(played::fault), number(call), nth, number(persistent), number(with)});
  state_->faults.plan(call, nth, persistent, with);
}

void sim_backend::plan_faults_by_seed(sim_call call, std::uint64_t seed, std::uint64_t one_in, status with) {
  const std::lock_guard guard(state_->mutex);
  state_->judgement.begin_call();
  state_->judgement.note({number(played::faults_by_seed), number(call), seed, one_in, number(with)});
  state_->faults.plan_by_seed(call, seed, one_in, with);
}

void sim_backend::set_capacity_bytes(std::uint64_t bytes) {
  const std::lock_guard guard(state_->mutex);
  state_->judgement.begin_call();
  state_->judgement.note({number(played::capacity), bytes});
  state_->capacity_bytes = bytes;
}

std::uint64_t sim_backend::now_ns() const {
  const std::lock_guard guard(state_->mutex);
  return state_->now_ns;
}

std::uint64_t sim_backend::calls(sim_call call) const {
  const std::lock_guard guard(state_->mutex);
  return state_->faults.calls(call);
}

std::uint64_t sim_backend::lent_bytes() const {
  const std::lock_guard guard(state_->mutex);
  return state_->memory.lent_bytes();
}

std::uint64_t sim_backend::lent_bytes_peak() const {
  const std::lock_guard guard(state_->mutex);
  return state_->memory.lent_bytes_peak();
}

std::uint64_t sim_backend::history_hash() const {
  const std::lock_guard guard(state_->mutex);
  return state_->judgement.hash();
}

std::vector<std::string> sim_backend::convictions() const {
  const std::lock_guard guard(state_->mutex);
  return state_->judgement.sentences();
}

void sim_backend::convict_leaks() {
  const std::lock_guard guard(state_->mutex);
  state_->judgement.begin_call();
  state_->judgement.note({number(played::leaks)});
  for (const auto& [begin, left] : state_->memory.lent()) {
    state_->judgement.convict("leak: ", named(left.range), " was never freed");
  }
  for (const auto& [point, work] : state_->events) {
    state_->judgement.convict("leak: event ", point, " of ", named(work.on), " was never dropped");
  }
}

}  // namespace arcalloc
