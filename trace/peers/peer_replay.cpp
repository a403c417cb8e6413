// SPDX-License-Identifier: Apache-2.0
#include "trace/peers/peer_replay.hpp"

#include <algorithm>
#include <arcalloc/sim_backend.hpp>
#include <utility>

namespace arcalloc::trace {

peer_replay::peer_replay(std::string file, peer which, const peer_options& options)
    : which_(which),
      place_(std::move(file)),
      options_(options),
      device_(std::min(options.memory_bytes, options.capacity_bytes.value_or(UINT64_MAX)), options.granule_bytes),
      policy_(make_peer(which, device_, options.cached_bytes_max)) {
  result_.last.capacity_bytes = options.capacity_bytes.value_or(ARCALLOC_NO_BOUND);
  result_.last.cached_bytes_max = policy_->cached_bytes_max();
  const bool is_bound = policy_->cached_bytes_max() != ARCALLOC_NO_BOUND;
  result_.last.cap_source = !is_bound                  ? ARCALLOC_CAP_UNBOUNDED
                            : options.cached_bytes_max ? ARCALLOC_CAP_EXPLICIT
                                                       : ARCALLOC_CAP_DERIVED;
}

void peer_replay::take(const event& what) {
  if (result_.refusal) return;
  place_.next(what);
  switch (what.kind) {
    case event_kind::allocate:
      allocate(what);
      break;
    case event_kind::free:
      give_back(what);
      break;
    case event_kind::use:
      use(what);
      break;
    case event_kind::refusal:
      ask_for_refused(what);
      break;
    case event_kind::step:
      end_step();
      break;
    case event_kind::drain:
      policy_->drain();
      break;
    case event_kind::capture_begin:
    case event_kind::capture_join:
    case event_kind::capture_end:
    case event_kind::capture_abort:
    case event_kind::graph_launch:
    case event_kind::release_graph:
      place_.refuse(std::string("(") + event_kind_name(what.kind) + ") is of a capture, which the rules of " +
                    peer_name(which_) + " do not cover");
    case event_kind::phase:
    case event_kind::stream_end:
    case event_kind::trim:
    case event_kind::segment_allocate:
    case event_kind::segment_free:
    case event_kind::segment_map:
    case event_kind::segment_unmap:
    case event_kind::snapshot:
      return;
  }
  read_bytes();
}

/// Asks the peer, and counts what that was. Nothing where it refuses.
std::optional<std::uint64_t> peer_replay::request(const event& what) {
  const std::uint64_t asked_before = device_.allocates();
  const std::optional<std::uint64_t> address = policy_->allocate(what.bytes, what.stream);
  counters& last = result_.last;
  ++last.requests;
  if (!address) {
    ++last.failed;
    ++(refusal_outcome() == status::capacity_exceeded ? last.failed_capacity_exceeded
                                                      : last.failed_device_out_of_memory);
  } else if (device_.allocates() != asked_before) {
    ++last.misses;
  } else {
    ++last.hits;
    ++last.pool_hits;
  }
  return address;
}

void peer_replay::allocate(const event& what) {
  live_block fresh{std::nullopt, what.bytes, what.stream};
  if (what.bytes != 0) fresh.address = request(what);
  if (what.bytes != 0 && !fresh.address) {
    const failure_record record = record_of(what);
    result_.refusal = replay_refusal{place_.number(), record.outcome, what.bytes, record};
    return;
  }
  if (fresh.address) ++result_.last.blocks_live;
  live_.emplace(what.id, fresh);
  result_.last.requested_bytes += what.bytes;
}

peer_replay::live_block& peer_replay::find(const event& what, const char* doing) {
  const auto found = live_.find(what.id);
  if (found == live_.end()) place_.refuse(std::string(doing) + " a block that is not live");
  return found->second;
}

void peer_replay::give_back(const event& what) {
  const live_block freed = find(what, "frees");
  live_.erase(what.id);
  result_.last.requested_bytes -= freed.bytes;
  if (!freed.address) return;
  if (what.stream != freed.stream) policy_->note_use(*freed.address, what.stream);
  policy_->deallocate(*freed.address);
  ++result_.last.frees;
  --result_.last.blocks_live;
}

void peer_replay::use(const event& what) {
  const live_block& used = find(what, "uses");
  if (used.address) policy_->note_use(*used.address, what.stream);
}

void peer_replay::ask_for_refused(const event& what) {
  ++result_.refusals_recorded;
  const std::optional<std::uint64_t> address = request(what);
  if (!address) return;
  ++result_.refusals_served;
  policy_->deallocate(*address);
  ++result_.last.frees;
}

void peer_replay::end_step() {
  const std::uint64_t calls = device_.allocates() + device_.frees();
  ++result_.last.steps;
  result_.end_step(calls - std::exchange(calls_at_step_, calls), calls);
}

/// Whichever of the two bounds comes first.
status peer_replay::refusal_outcome() const {
  return options_.capacity_bytes.value_or(UINT64_MAX) < options_.memory_bytes ? status::capacity_exceeded
                                                                              : status::device_out_of_memory;
}

failure_record peer_replay::record_of(const event& what) const {
  const peer_bytes now = policy_->bytes();
  failure_record record;
  record.outcome = refusal_outcome();
  record.requested_bytes = what.bytes;
  record.class_bytes = policy_->rounded(what.bytes);
  record.on = stream{what.stream};
  record.allocated_bytes = now.allocated;
  record.pending_bytes = now.pending;
  record.cached_bytes = now.cached;
  record.reserved_bytes = device_.reserved_bytes();
  record.slack_bytes = record.reserved_bytes - now.allocated - now.pending - now.cached;
  record.cached_bytes_max = policy_->cached_bytes_max();
  record.capacity_bytes = options_.capacity_bytes.value_or(ARCALLOC_NO_BOUND);
  record.driver_free_bytes = options_.memory_bytes - device_.reserved_bytes();
  record.largest_idle_bytes = policy_->largest_idle_bytes();
  return record;
}

void peer_replay::read_bytes() {
  const peer_bytes now = policy_->bytes();
  counters& last = result_.last;
  last.allocated_bytes = now.allocated;
  last.pending_bytes = now.pending;
  last.cached_bytes = now.cached;
  last.reserved_bytes = device_.reserved_bytes();
  last.slack_bytes = last.reserved_bytes - now.allocated - now.pending - now.cached;
  last.held_bytes = last.cached_bytes + last.slack_bytes;
  const auto raise = [](std::uint64_t& peak, std::uint64_t value) { peak = std::max(peak, value); };
  raise(last.requested_bytes_peak, last.requested_bytes);
  raise(last.allocated_bytes_peak, last.allocated_bytes);
  raise(last.pending_bytes_peak, last.pending_bytes);
  raise(last.cached_bytes_peak, last.cached_bytes);
  raise(last.slack_bytes_peak, last.slack_bytes);
  raise(last.held_bytes_peak, last.held_bytes);
}

replay_result peer_replay::finish() {
  read_bytes();
  counters& last = result_.last;
  last.reserved_bytes_peak = device_.reserved_bytes_peak();
  last.driver_allocs = device_.allocates();
  last.driver_frees = device_.frees();
  last.driver_refusals = device_.refusals();
  last.evictions = device_.frees();
  last.driver_events = policy_->events();
  last.blocks_idle = policy_->blocks_idle();
  last.segments_reserved = last.driver_allocs - last.driver_frees;
  result_.requested_bytes_peak = last.requested_bytes_peak;
  const sim_options costs;
  result_.device_ns = last.driver_allocs * costs.allocate_ns + last.driver_frees * costs.free_ns;
  result_.end_without_steps(last.driver_allocs + last.driver_frees);
  return result_;
}

}  // namespace arcalloc::trace
