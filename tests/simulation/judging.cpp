// SPDX-License-Identifier: Apache-2.0
// The judgement after every operation.
#include "player.hpp"

namespace arcalloc::testing {

namespace {

constexpr std::size_t walked_always = 64;
constexpr std::uint64_t gauge_max = std::uint64_t{1} << 62;

bool is_bound(const counter_field& field) {
  return field.value == &counters::cached_bytes_max || field.value == &counters::capacity_bytes;
}

}  // namespace

void player::violate(const std::string& what) {
  if (violation_.empty()) violation_ = what;
}

std::uint64_t player::history_hash() const { return answers_hash_; }

counters player::read() const {
  counters said;
  memory_->read_counters(said);
  return said;
}

std::vector<std::uint64_t> player::driver_calls() const {
  std::vector<std::uint64_t> made;
  for (const sim_call call : sim_calls) made.push_back(device_.calls(call));
  return made;
}

void player::judge() {
  if (const auto convicted = device_.convictions(); !convicted.empty()) return violate(convicted.front());
  const std::size_t turn = played();
  const bool reads = turn % plan_.read_every == 0;
  if (model_.live().size() <= walked_always || turn % walked_always == 0) {
    const audit_result walk = audit(*memory_);
    if (!walk.violations.empty()) return violate(walk.violations.front());
    claim(walk.reserved_bytes == device_.lent_bytes(), "the walk finds another sum than the device lent");
    claim(walk.capturing == captures_.any_open(), "the walk finds other windows open than there are");
    claim(walk.blocks_live == model_.live().size(), "the walk finds another number of live blocks than are out");
    expect_nothing_wrong(model_.judge_blocks(*memory_));
    model_.note_walk(walk);
    if (reads) judge_reading(&walk);
  } else {
    model_.note_no_walk();
    if (reads) judge_reading(nullptr);
  }
}

void player::judge_reading(const audit_result* walk) {
  const counters said = read();
  if (walk != nullptr) {
    if (const auto found = disagreements(*walk, said); !found.empty()) return violate(found.front());
  }
  claim(said.reserved_bytes == device_.lent_bytes(), "reserved is not what the device lent");
  expect_nothing_wrong(model_.judge_counters(said));
  expect_nothing_wrong(model_.judge_cap(memory_->read_cap()));
  expect_nothing_wrong(model_.judge_peaks(said));
  judge_driver(said);
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    const counter_field& field = fields[i];
    const std::uint64_t now = said.*field.value;
    const bool sane = field.kind == counter_kind::count ? now >= last_.*field.value : now < gauge_max;
    if (!sane && !is_bound(field)) violate(std::string("went backwards or wrapped: ").append(field.name));
  }
  last_ = said;
}

/// What the counters say of the driver's calls, against the device's own count of them.
void player::judge_driver(const counters& said) {
  claim(said.driver_allocs + said.driver_refusals + model_.declined_calls() == device_.calls(sim_call::allocate),
        "driver_allocs and driver_refusals are not the driver allocations that were made");
  const std::uint64_t frees = device_.calls(sim_call::free);
  claim(faults_.met_ever(sim_call::free) ? said.driver_frees <= frees : said.driver_frees == frees,
        "driver_frees is not the driver frees that were made");
  claim(said.waits == device_.calls(sim_call::wait_event), "waits is not the waits that were made");
  const std::uint64_t events = device_.calls(sim_call::record_event);
  claim(faults_.met_ever(sim_call::record_event) ? said.driver_events <= events : said.driver_events == events,
        "driver_events is not the events that were recorded");
  claim(said.reserved_bytes_peak <= device_.lent_bytes_peak(), "the peak of reserved was never lent");
}

/// With everything idle given back and the last question asked for whole granules, no room means that there is none.
/// While a window is open nothing is given back, and the one question is for the whole segment of the class.
void player::judge_exhaustion(const operation& next, status outcome) {
  if (faults_.met() || (!plan_.settings.oom_retry && !captures_.any_open())) return;
  const bool makes_room = !captures_.any_open();
  const std::uint64_t granule = plan_.device.granularity;
  const std::uint64_t least = (next.bytes + granule - 1) / granule * granule;
  const std::uint64_t wanted = device_.lent_bytes() + (makes_room ? least : model_.driver_bytes_max(next.bytes));
  if (outcome == status::capacity_exceeded) {
    claim(model_.capacity_bytes() != 0 && wanted > model_.capacity_bytes(), "refused for the capacity, which has room");
  } else {
    claim(wanted + others_bytes_ > plan_.device.memory_bytes, "refused for the device, which has room");
  }
}

/// What is said of the last refusal by the ladder.
void player::judge_failure(const operation& next, status outcome) {
  const failure_record said = memory_->last_failure();
  claim(said.outcome == outcome && said.requested_bytes == next.bytes && said.on == captures_.named(next.on),
        "the failure record is of another request");
  claim(said.allocated_bytes + said.pending_bytes + said.cached_bytes + said.slack_bytes + said.pinned_bytes +
                said.stuck_bytes ==
            said.reserved_bytes,
        "the terms of the failure record do not add up");
}

}  // namespace arcalloc::testing
