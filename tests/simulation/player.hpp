// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine_captures.hpp"
#include "engine_model.hpp"
#include "engine_profiles.hpp"
#include "fault_watch.hpp"
#include "plan.hpp"

namespace arcalloc::testing {

/// A wait between streams that no operation of the plan names: one that an operation needs.
struct stream_wait {
  std::size_t operation = 0;  ///< before which
  stream later = default_stream;
  stream earlier = default_stream;
};

/// An engine, its allocator and their device, played one operation at a time, each judged: by the device, by the
/// walk over every structure, by the counters' identities, and by the model.
///
/// Concurrency: any thread, one at a time; what a thread plays counts as its calls. Deterministic.
/// The walk is made after every operation while at most 64 blocks are live, and after every 64th above.
/// It stops at the first violation: what is played after one does nothing.
class player {
 public:
  explicit player(const plan& of);

  /// With `judged` off the model follows and nothing is checked: for a beginning that was judged before.
  void play(const operation& next, bool judged = true);

  /// What is live is freed, the faults end, everything is drained, and the device must have its memory back. Playing
  /// may go on from there.
  void empty(bool judged);

  /// The same, or what is live stays out as the plan says; then the allocator dies, and nothing may be left of it.
  void finish();

  [[nodiscard]] const std::string& violation() const { return violation_; }
  /// Operations played; the violation, if any, is of the last one, or of finish().
  [[nodiscard]] std::size_t played() const { return answers_.size(); }
  /// What each operation was answered; nothing where it did nothing, or is never refused.
  [[nodiscard]] const std::vector<std::optional<status>>& answers() const { return answers_; }
  /// In the order of the operations that needed them.
  [[nodiscard]] const std::vector<stream_wait>& waits() const { return waits_; }
  [[nodiscard]] std::uint64_t promises_kept() const { return promises_kept_; }
  [[nodiscard]] std::uint64_t history_hash() const;
  /// The counters as they were last read.
  [[nodiscard]] const counters& last_reading() const { return last_; }

 private:
  void violate(const std::string& what);
  void claim(bool holds, const char* what) {
    if (!holds) violate(what);
  }
  void expect_nothing_wrong(const std::string& found) {
    if (!found.empty()) violate(found);
  }
  /// ok, unless the driver failed meanwhile.
  void expect_ok(const char* call, status outcome);

  void carry_out(const operation& next);
  void carry_out_capture(const operation& next);
  void allocate(const operation& next);
  void judge_request(const operation& next, status outcome, std::uint64_t driver_asked);
  void free_block(const operation& next);
  void use(const operation& next);
  void misuse(const operation& next);
  [[nodiscard]] std::optional<status> misuse_capture(const operation& next);
  void wait(const operation& next);
  void trim(std::uint64_t target);
  void judge_giving_back(const audit_result& before, std::uint64_t target);
  void drain();
  void set_capacity(std::uint64_t bytes);
  void set_enabled(bool enabled);
  void end_step();
  void finish_streams();
  void end_faults();
  [[nodiscard]] status deallocate(const engine_block& known, way how, stream on);

  // player_captures.cpp
  void begin_capture(const operation& next);
  void end_capture(const operation& next);
  void abort_capture(const operation& next);
  void launch(std::uint32_t graph, stream on, bool always_told);
  void release_graph(std::uint32_t graph);
  void end_stream(stream name);
  void end_profile();
  void prewarm(const operation& next);
  void prewarm_profile(std::uint32_t number);
  void verify_profile(std::uint32_t number);
  void order(stream later, stream earlier);
  void finish_captures(bool judged);
  void judge_window(const engine_window& closed);
  void judge_put_off();
  void judge_captures();
  [[nodiscard]] capture_policy policy_of(const engine_window& window) const;

  void judge();
  void judge_reading(const audit_result* walk);
  void judge_driver(const counters& said);
  void judge_exhaustion(const operation& next, status outcome);
  void judge_failure(const operation& next, status outcome);
  [[nodiscard]] counters read() const;
  [[nodiscard]] std::vector<std::uint64_t> driver_calls() const;

  const plan& plan_;
  sim_backend device_;
  allocator_ptr memory_;
  engine_model model_;
  fault_watch faults_;
  engine_captures captures_;
  engine_profiles profiles_;
  std::set<stream> busy_;
  struct put_off {
    bool drain = false;
    std::uint64_t trim_target = UINT64_MAX;
  };
  put_off put_off_;                 ///< what the open windows put off, of what was asked for
  std::uint64_t misses_noted_ = 0;  ///< in windows, since the last one was opened
  std::uint64_t promises_kept_ = 0;
  std::uint64_t others_bytes_ = 0;
  counters last_{};     ///< the last reading
  counters at_step_{};  ///< when the last step ended
  std::vector<std::optional<status>> answers_;
  std::vector<stream_wait> waits_;
  std::uint64_t answers_hash_ = 0;
  std::string violation_;
};

}  // namespace arcalloc::testing
