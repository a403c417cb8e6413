// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/formats/event.hpp"
#include "trace/replay/device_work.hpp"

namespace arcalloc::trace {

/// Where a trace ended because a request that it served was refused.
struct replay_refusal {
  std::uint64_t event = 0;  ///< which event of the trace, from 1
  status outcome = status::ok;
  std::uint64_t bytes = 0;
  failure_record record{};
};

/// What came of a trace under one policy.
struct replay_result {
  std::optional<replay_refusal> refusal;   ///< none: every request that the trace served was served
  std::uint64_t requested_bytes_peak = 0;  ///< most bytes out at once, as requested: what no allocator can do without
  std::uint64_t refusals_recorded = 0;     ///< requests that the trace's own allocator refused
  std::uint64_t refusals_served = 0;       ///< ... and this one would have served
  std::uint64_t steps = 0;
  std::uint64_t driver_calls_step_max = 0;  ///< most driver allocations and frees in one step; all, without steps
  std::uint64_t device_ns = 0;              ///< virtual time of the driver's calls; 0 on a real device
  std::uint64_t cached_bytes_max_wanted = 0;
  counters last{};
  std::vector<std::string> convictions;  ///< of the simulated device: a fault of ours
};

/// Plays the events of a trace to an allocator: every block, stream, phase, step and capture window as it was.
///
/// On the simulated device each block is work on its stream, so that the device judges who gets it next; on another it
/// is what the caller's device_work does; without one no memory is touched. What the trace's own allocator refused is
/// asked for too, and given back at once. From the first refusal of ours on nothing more is played, as the engine would
/// have ended there. Events of several devices are refused: a replay has one. Concurrency: one thread. Memory: for the
/// blocks that are live. Throws trace_error.
class trace_replay final : public trace_sink {
 public:
  /// `file` is for errors. `simulated` is the same device, or null where it is a real one.
  trace_replay(std::string file, backend& device, sim_backend* simulated, const options& settings);
  /// `work` is done on the same device, and outlives this.
  trace_replay(std::string file, backend& device, device_work& work, const options& settings);
  void take(const event& what) override;

  /// What it plays to, for whoever watches.
  [[nodiscard]] allocator& memory() noexcept { return *memory_; }

  /// Frees what is left, asks the device for its verdict, and says what came of it. Called once.
  [[nodiscard]] replay_result finish();

 private:
  struct live_block {
    block piece;
    std::uint64_t bytes = 0;
  };
  struct captured_graph {
    graph_id pinned{};
    std::uint64_t on_device = 0;
  };

  void allocate(const event& what);
  void give_back(const event& what);
  void use(const event& what);
  void ask_for_refused(const event& what);
  void end_step();
  void begin_capture(const event& what);
  void join_capture(const event& what);
  void end_capture(const event& what);
  void launch(const event& what);
  void release_graph(const event& what);
  void require(status outcome, const event& what) const;
  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] stream stream_of(std::uint64_t named);
  [[nodiscard]] bool hand_out(std::uint64_t bytes, stream on, block& piece);

  std::string file_;
  std::optional<simulated_work> simulated_;
  device_work* work_;  ///< null where nobody touches memory
  allocator_ptr memory_;
  std::unordered_map<std::uint64_t, live_block> live_;
  std::unordered_map<std::uint64_t, captured_graph> graphs_;
  std::unordered_map<std::uint64_t, stream> streams_;  ///< a trace's streams are any numbers; ours are not
  std::optional<std::uint32_t> only_device_;
  std::uint64_t events_ = 0;
  std::uint64_t requested_bytes_ = 0;
  replay_result result_;
};

}  // namespace arcalloc::trace
