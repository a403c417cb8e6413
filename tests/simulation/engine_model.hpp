// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "audit.hpp"
#include "plan.hpp"

namespace arcalloc::testing {

/// A block as the engine knows it. Once freed it stays, spent: a second free names it.
struct engine_block {
  block piece;
  std::uint64_t begin = 0;
  std::uint64_t requested_bytes = 0;
  std::uint64_t true_bytes = 0;
  stream on = default_stream;
  bool live = false;
  bool stream_ended = false;
  /// Handed out in a window: what graphs keep may serve it, though it is larger, and though a group once moved it here
  /// from another stream.
  bool in_window = false;
  bool in_group = false;
};

/// What must be, from what was asked and answered alone: the small, slow, obvious account that an allocator is held
/// against beside the walk over its own structures.
///
/// Told by the player of every answer; judges answers, counters and peaks. It looks into no structure and derives
/// no counter from another. Concurrency: none; whoever plays. Cost: a map of the live blocks.
/// Keeps: live blocks are disjoint, aligned and at least what was requested; every sum is theirs.
/// A judgement returns what is wrong, and nothing where nothing is. Which reuse is legal the device judges.
class engine_model {
 public:
  explicit engine_model(const plan& of);

  [[nodiscard]] const std::map<std::uint32_t, engine_block>& live() const { return live_; }
  [[nodiscard]] const engine_block* find_live(std::uint32_t number) const;
  /// Freed, and no live block begins where it was.
  [[nodiscard]] const engine_block* find_spent(std::uint32_t number) const;

  // What was answered.
  [[nodiscard]] std::string allocated(std::uint32_t number, const engine_block& fresh);
  void refused_request(status with);
  void freed(std::uint32_t number);
  void refused_free(status with);
  void ended_step() { ++steps_; }
  void began(phase next) { phase_ = next; }
  void set_enabled(bool enabled) { enabled_ = enabled; }
  void set_cached_max(const cached_bound& bound) { bound_ = bound; }
  void set_capacity(std::uint64_t bytes) { capacity_bytes_ = bytes; }
  void reset_peaks();
  void ended(stream on);
  void note_windows(std::size_t open) { windows_ = open; }
  void captured() { ++graphs_; }
  void gave_up_graph() { --graphs_; }
  void hit_in_window() { ++capture_hits_; }
  void missed_in_window() { ++capture_misses_; }
  /// The device was asked for memory beside a capture, and has no such call: nobody refused.
  void note_declined_call() { ++declined_calls_; }

  // After every operation, in this order.
  void note_peaks();
  void note_walk(const audit_result& walk);
  /// Not every state was walked: the peaks of what only a walk knows are not known until they are reset.
  void note_no_walk() { walked_all_ = false; }

  [[nodiscard]] std::string judge_blocks(const allocator& subject) const;
  [[nodiscard]] std::string judge_counters(const counters& said) const;
  [[nodiscard]] std::string judge_cap(const cap_arithmetic& said) const;
  [[nodiscard]] std::string judge_peaks(const counters& said) const;

  /// Whether requests go to the driver without a look at the cache.
  [[nodiscard]] bool bypasses() const { return !enabled_ || (phase_ == phase::prefill && !cache_in_prefill_); }
  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  [[nodiscard]] std::uint64_t capacity_bytes() const { return capacity_bytes_; }
  [[nodiscard]] std::uint64_t declined_calls() const { return declined_calls_; }
  /// The most that a request of this size asks the driver for, where it does not ask for less in need.
  [[nodiscard]] std::uint64_t driver_bytes_max(std::uint64_t requested) const;

 private:
  [[nodiscard]] std::uint64_t true_bytes_max(std::uint64_t requested) const;
  [[nodiscard]] std::string judge_bounds(const counters& said) const;

  // settings, as they were last set
  geometry classes_;
  std::uint64_t granule_;
  bool one_actor_;
  bool cache_in_prefill_;
  bool enabled_;
  cached_bound bound_;
  std::uint64_t capacity_bytes_;  ///< 0: none
  phase phase_ = phase::mixed;

  std::map<std::uint32_t, engine_block> live_;
  std::map<std::uint32_t, engine_block> spent_;    ///< the latest
  std::map<std::uint64_t, std::uint64_t> ranges_;  ///< begin to end, of the live ones
  std::uint64_t requested_bytes_ = 0;
  std::uint64_t allocated_bytes_ = 0;

  std::uint64_t requests_ = 0;
  std::uint64_t served_ = 0;  ///< by hits and misses
  std::uint64_t bypassed_disabled_ = 0;
  std::uint64_t bypassed_phase_ = 0;
  std::array<std::uint64_t, status_count> failed_{};
  std::array<std::uint64_t, status_count> refused_{};
  std::uint64_t frees_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t graphs_ = 0;
  std::size_t windows_ = 0;
  std::uint64_t capture_hits_ = 0;
  std::uint64_t capture_misses_ = 0;
  std::uint64_t declined_calls_ = 0;

  std::uint64_t requested_peak_ = 0;
  std::uint64_t allocated_peak_ = 0;
  std::uint64_t cached_peak_ = 0;
  std::uint64_t slack_peak_ = 0;
  std::uint64_t held_peak_ = 0;
  std::uint64_t pinned_peak_ = 0;
  bool walked_all_ = true;
};

}  // namespace arcalloc::testing
