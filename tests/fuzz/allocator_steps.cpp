// SPDX-License-Identifier: Apache-2.0
// Fuzzing the allocator: the calls of steps_of_an_input, and how each is judged.
#include <algorithm>

#include "allocator_steps.hpp"
#include "audit.hpp"

namespace arcalloc::testing {

namespace {

constexpr std::uint64_t kib = 1 << 10;
constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t calls_max = 400;
constexpr std::size_t live_max = 64;
constexpr std::size_t walked_always = 16;  // with more blocks live, every eighth call is walked
constexpr std::size_t spent_max = 8;
constexpr std::uint64_t streams = 4;

constexpr sim_call driver_calls[] = {sim_call::allocate,    sim_call::free,       sim_call::record_event,
                                     sim_call::query_event, sim_call::wait_event, sim_call::query_memory};

}  // namespace

steps_of_an_input::steps_of_an_input(input_bytes& in) : in_(in), device_(draw_device()) {
  const options settings = draw_options();
  if (settings.capacity_bytes != 0) device_.set_capacity_bytes(settings.capacity_bytes);
  allocator* raw = nullptr;
  require(allocator::create(device_, settings, raw) == status::ok, "an allocator is made");
  memory_.reset(raw);
}

void steps_of_an_input::run() {
  for (; in_.any() && step_ < calls_max; ++step_) {
    one_call();
    check();
  }
  finish();
}

sim_options steps_of_an_input::draw_device() {
  constexpr std::uint64_t sizes[] = {24 * mib, 100 * mib, 600 * mib, 24 * 1024 * mib, mib};
  constexpr std::size_t granules[] = {512, 4096, 64 * kib, 2 * mib};
  sim_options made;
  made.memory_bytes = sizes[in_.below(5)];
  made.granularity = granules[in_.below(4)];
  return made;
}

options steps_of_an_input::draw_options() {
  options settings;
  settings.classes = static_cast<geometry>(in_.below(6));
  settings.cached_bytes_max = draw_bound();
  const std::uint64_t flags = in_.byte();
  settings.enabled = (flags & 1) == 0;
  settings.oom_retry = (flags & 2) == 0;
  settings.cache_in_prefill = (flags & 4) != 0;
  settings.capacity_bytes = (flags & 8) != 0 ? (1 + in_.below(200)) * mib : 0;
  return settings;
}

cached_bound steps_of_an_input::draw_bound() {
  const std::uint64_t mode = in_.below(4);
  if (mode == 0) return {bound_mode::derived};
  if (mode == 1) return {bound_mode::unbounded};
  return {bound_mode::explicit_bytes, in_.below(128) * mib / 2, mode == 3};
}

/// Mostly around the borders of classes, of which there are up to 16 per doubling.
std::uint64_t steps_of_an_input::draw_size() {
  const std::uint64_t kind = in_.byte();
  switch (kind % 8) {
    case 0:
      return in_.number(2);
    case 1:
      return in_.number(3);
    case 2:
      return in_.number(4) % (64 * mib);
    case 3:
      return 2 * kib * (1 + step_);
    case 4:
      return in_.number(8);  // most of them too large for any device, or for the call
    default: {
      const std::uint64_t doubling = kind / 8;  // 2^5 to 2^36
      const std::uint64_t position = in_.byte();
      return ((16 + position % 16) << doubling) * 2 + position / 16 % 3 - 1;
    }
  }
}

counters steps_of_an_input::now() const {
  counters said;
  memory_->read_counters(said);
  return said;
}

/// ok, or a failure of the driver while one is planned: nothing else may come of these calls.
void steps_of_an_input::expect_ok(status outcome, const char* call) const {
  if (outcome != status::ok && !faults_planned_) convict(std::string(call).append(": ").append(status_name(outcome)));
}

void steps_of_an_input::one_call() {
  // About half of all calls ask for memory, a quarter give it back.
  const std::uint64_t which = in_.below(64);
  if (which < 28) return live_.size() < live_max ? allocate() : free_one(false);
  if (which < 38) return free_one(false);
  if (which < 42) return free_one(true);
  switch (which) {
    case 42:
    case 43:
      return note_use();
    case 44:
    case 45:
      return device_.busy(any_stream());
    case 46:
      return device_.finish(any_stream());
    case 47: {
      const stream later = any_stream();
      return device_.wait(later, any_stream());
    }
    case 48:
      return memory_->end_step();
    case 49:
      return expect_ok(memory_->begin_phase(static_cast<phase>(in_.below(3))), "begin_phase");
    case 50:
      return expect_ok(memory_->trim(in_.below(128) * mib / 2), "trim");
    case 51:
      return expect_ok(memory_->drain(), "drain");
    case 52:
      return set_bound();
    case 53:
      return set_capacity();
    case 54:
      return device_.set_others_bytes(in_.below(256) * mib);
    case 55:
      return plan_fault();
    case 56:
      return expect_ok(memory_->set_enabled(in_.below(2) == 1), "set_enabled");
    case 57:
      return memory_->reset_peaks();
    default:
      return misuse();
  }
}

void steps_of_an_input::allocate() {
  const std::uint64_t bytes = draw_size();
  const stream on = any_stream();
  if (bytes > request_bytes_max) {
    ++requests_;
    return refused_at_the_door(status::request_too_large, &counters::failed_request_too_large, [&] {
      block piece;
      const status outcome = memory_->allocate(bytes, on, piece);
      require(!piece, "a refused request gives no block");
      return outcome;
    });
  }
  const counters before = now();
  block piece;
  const status outcome = memory_->allocate(bytes, on, piece);
  requests_ += bytes != 0 ? 1 : 0;
  require(static_cast<bool>(piece) == (outcome == status::ok && bytes != 0), "a block where it is due, and only there");
  if (outcome == status::ok) {
    if (!piece) return;
    device_.handed_out(on, piece.data(), bytes);
    device_.use(on, piece.data(), bytes);
    return live_.push_back({piece, bytes, on});
  }
  const bool full = outcome == status::device_out_of_memory || outcome == status::capacity_exceeded;
  if (!full) expect_ok(outcome, "allocate");
  const counters after = now();
  require(after.capacity_bytes == before.capacity_bytes, "a refused request leaves the capacity");
  const bool derives = before.cap_source == ARCALLOC_CAP_DERIVED || before.cap_source == ARCALLOC_CAP_FALLBACK;
  require(derives || after.cached_bytes_max == before.cached_bytes_max, "a refused request leaves the bound");
  require(memory_->last_failure().outcome == outcome && memory_->last_failure().requested_bytes == bytes,
          "a refused request has a record");
}

status steps_of_an_input::free_in_some_form(const live_block& freed, bool elsewhere, stream on) {
  switch (in_.below(4) + (elsewhere ? 4 : 0)) {
    case 0:
      return memory_->deallocate(freed.piece.data());
    case 1:
      return memory_->deallocate(freed.piece.data(), freed.bytes);
    case 4:
    case 5:
      return memory_->deallocate(freed.piece.data(), on);
    case 6:
    case 7:
      return memory_->deallocate(freed.piece, on);
    default:
      return memory_->deallocate(freed.piece);
  }
}

void steps_of_an_input::free_one(bool elsewhere) {
  if (live_.empty()) return;
  const std::size_t victim = in_.below(live_.size());
  const live_block freed = live_[victim];
  const stream on = elsewhere ? any_stream() : freed.on;
  if (elsewhere) device_.use(on, freed.piece.data(), freed.bytes);
  device_.handed_back(freed.piece.data());
  const status outcome = free_in_some_form(freed, elsewhere, on);
  live_[victim] = live_.back();
  live_.pop_back();
  if (outcome != status::ok) {
    expect_ok(outcome, "deallocate");
    if (now().blocks_live > live_.size()) {
      // Refused, not merely stuck on its way to the driver: it stays with the engine, which waits before it goes on.
      for (std::uint64_t s = 0; s < streams; ++s) device_.finish(stream{s});
      device_.handed_out(freed.on, freed.piece.data(), freed.bytes);
      return live_.push_back(freed);
    }
  }
  if (spent_.size() == spent_max) spent_.erase(spent_.begin());
  spent_.push_back(freed);
}

void steps_of_an_input::note_use() {
  if (live_.empty()) return;
  const live_block& used = live_[in_.below(live_.size())];
  const stream on = any_stream();
  device_.use(on, used.piece.data(), used.bytes);
  const status outcome =
      in_.below(2) == 0 ? memory_->note_use(used.piece, on) : memory_->note_use(used.piece.data(), on);
  require(outcome == status::ok, "the use of a live block is noted");
}

void steps_of_an_input::set_bound() {
  const cached_bound bound = draw_bound();
  require(memory_->set_cached_bytes_max(bound) == status::ok, "a bound is set");
  const counters after = now();
  if (bound.mode == bound_mode::explicit_bytes) require(after.cached_bytes_max == bound.bytes, "the bound is set");
  if (bound.mode == bound_mode::derived) require(after.cached_bytes_max <= 1024 * mib, "a derived bound is small");
}

void steps_of_an_input::set_capacity() {
  const std::uint64_t mebibytes = in_.byte();
  const std::uint64_t bytes = mebibytes * mib;
  const counters before = now();
  const status outcome = memory_->set_capacity_bytes(bytes);
  if (outcome == status::ok) {
    device_.set_capacity_bytes(bytes == 0 ? ARCALLOC_NO_BOUND : bytes);
    memory_->reset_peaks();  // a peak from before may be above it
    return;
  }
  if (outcome != status::capacity_exceeded) expect_ok(outcome, "set_capacity_bytes");
  require(now().capacity_bytes == before.capacity_bytes, "a refused capacity changes nothing");
}

void steps_of_an_input::plan_fault() {
  constexpr status answers[] = {status::backend_failed, status::device_out_of_memory, status::shutting_down,
                                status::ok};
  const sim_call call = driver_calls[in_.below(6)];
  const std::uint64_t nth = 1 + in_.below(8);
  const std::uint64_t how = in_.byte();
  const status with = answers[how / 2 % 4];
  faults_planned_ = faults_planned_ || with != status::ok;
  device_.plan_fault(call, nth, (how & 1) != 0, with);
}

/// I6: nothing but the counter of the refusal has moved, and for a request the two that it is part of.
template <class Call>
void steps_of_an_input::refused_at_the_door(status expected, std::uint64_t counters::*counter, Call call) {
  const counters before = now();
  const std::uint64_t driver_before = device_.history_hash();
  const status outcome = call();
  if (outcome != expected) {
    convict(std::string(status_name(expected)).append(" is due at the door, and not ").append(status_name(outcome)));
  }
  require(device_.history_hash() == driver_before, "a refusal at the door calls no driver");
  const counters after = now();
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  const bool is_request = expected == status::request_too_large;
  for (std::size_t i = 0; i < count; ++i) {
    const auto moved = after.*fields[i].value - before.*fields[i].value;
    const bool due = fields[i].value == counter ||
                     (is_request && (fields[i].value == &counters::requests || fields[i].value == &counters::failed));
    if (moved != (due ? 1U : 0U)) convict(std::string("a refusal at the door moved ").append(fields[i].name));
  }
}

void steps_of_an_input::misuse() {
  switch (in_.below(4)) {
    case 0: {
      std::byte local{};
      return refused_at_the_door(status::unknown_pointer, &counters::refused_unknown_pointer,
                                 [&] { return memory_->deallocate(&local); });
    }
    case 1:
      return live_.empty() ? void() : misuse_of(live_[in_.below(live_.size())]);
    case 2:
      return misuse_of_spent();
    default:
      return misuse_of_other();
  }
}

void steps_of_an_input::misuse_of(const live_block& live) {
  auto* const address = static_cast<std::byte*>(live.piece.data());
  const std::uint64_t inside = in_.number(2);
  if (inside != 0 && inside < live.bytes) {
    refused_at_the_door(status::unknown_pointer, &counters::refused_unknown_pointer,
                        [&] { return memory_->deallocate(address + inside); });
    refused_at_the_door(status::unknown_pointer, &counters::refused_unknown_pointer,
                        [&] { return memory_->note_use(address + inside, stream{1}); });
  }
  const std::uint64_t wrong = live.bytes + 1 + in_.byte();
  refused_at_the_door(status::invalid_argument, &counters::refused_invalid_argument,
                      [&] { return memory_->deallocate(address, wrong); });
  segment_extent extent;
  require(memory_->locate(address + live.bytes - 1, extent) == status::ok, "a live block has a segment");
  require(extent.offset_bytes < extent.bytes, "and lies in it");
}

/// A second free, by handle or address, and work noted too late. Skipped where the address is live again: then it is
/// the address of another block, and nobody can tell.
void steps_of_an_input::misuse_of_spent() {
  if (spent_.empty()) return;
  const live_block& spent = spent_[in_.below(spent_.size())];
  const auto lives_there = [&](const live_block& one) { return one.piece.data() == spent.piece.data(); };
  if (std::any_of(live_.begin(), live_.end(), lives_there)) return;
  // While its segment is here the block is known to be idle; afterwards nothing is known of it.
  segment_extent extent;
  const bool may_be_known = memory_->locate(spent.piece.data(), extent) == status::ok;
  const std::uint64_t form = in_.below(4);
  const auto call = [&] {
    if (form == 0) return memory_->deallocate(spent.piece);
    if (form == 1) return memory_->deallocate(spent.piece.data());
    if (form == 2) return memory_->note_use(spent.piece, stream{1});
    return memory_->deallocate(spent.piece, stream{2});
  };
  const status outcome = call();
  require(outcome == status::unknown_pointer || (may_be_known && outcome == status::double_free),
          "what is spent is not taken again");
  // Once more, now that the status is known: nothing else moves.
  refused_at_the_door(
      outcome, outcome == status::double_free ? &counters::refused_double_free : &counters::refused_unknown_pointer,
      call);
}

/// A block of another allocator, on another device where it may well have the address of one of ours.
void steps_of_an_input::misuse_of_other() {
  if (other_ == nullptr) {
    sim_options same;
    same.granularity = device_.granularity();
    other_device_ = std::make_unique<sim_backend>(same);
    allocator* raw = nullptr;
    require(allocator::create(*other_device_, {}, raw) == status::ok, "a second allocator is made");
    other_.reset(raw);
    require(other_->allocate(5000, default_stream, of_other_) == status::ok, "a second allocator has a block");
  }
  refused_at_the_door(status::unknown_pointer, &counters::refused_unknown_pointer,
                      [&] { return memory_->deallocate(of_other_); });
  refused_at_the_door(status::unknown_pointer, &counters::refused_unknown_pointer,
                      [&] { return memory_->note_use(of_other_, stream{3}); });
}

void steps_of_an_input::check() {
  if (const auto convicted = device_.convictions(); !convicted.empty()) convict(convicted.front());
  if (live_.size() <= walked_always || step_ % 8 == 0) check_walk();
  const counters said = now();
  require(said.reserved_bytes == device_.lent_bytes(), "what is reserved is what the device lent");
  require(said.requests == requests_, "every request is counted once");
  require(said.blocks_live == live_.size(), "as many blocks are live as the engine holds");
  require(said.cached_bytes <= said.cached_bytes_max, "what is cached keeps its bound");
  require(said.reserved_bytes <= said.capacity_bytes, "what is reserved keeps the capacity");
}

void steps_of_an_input::check_walk() {
  if (const auto found = check_invariants(*memory_); !found.empty()) convict(found.front());
  std::vector<audited_block> held;
  for (const live_block& one : live_) held.push_back({one.piece.data(), one.bytes});
  std::sort(held.begin(), held.end());
  require(audit(*memory_).live == held, "every live block is where the engine has it");
}

/// The faults over, everything freed and drained: the device has all its memory back.
void steps_of_an_input::finish() {
  for (const sim_call call : driver_calls) device_.plan_fault(call, 1, true, status::ok);
  faults_planned_ = false;
  for (std::uint64_t s = 0; s < streams; ++s) device_.finish(stream{s});
  while (!live_.empty()) free_one(false);
  expect_ok(memory_->drain(), "drain");
  check_walk();
  require(now().reserved_bytes == 0, "everything freed and drained leaves nothing");
  memory_.reset();
  device_.convict_leaks();
  if (const auto convicted = device_.convictions(); !convicted.empty()) convict(convicted.front());
}

int one_input(const std::uint8_t* bytes, std::size_t size) {
  input_bytes in(bytes, size);
  steps_of_an_input(in).run();
  return 0;
}

}  // namespace arcalloc::testing
