// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "trace/formats/event.hpp"
#include "trace/replay/device_work.hpp"
#include "trace/replay/event_place.hpp"
#include "trace/replay/replay_result.hpp"

namespace arcalloc::trace {

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
    arcalloc::block piece;
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
  [[nodiscard]] stream stream_of(std::uint64_t named);
  [[nodiscard]] bool hand_out(std::uint64_t bytes, stream on, arcalloc::block& piece);

  event_place place_;
  std::optional<simulated_work> simulated_;
  device_work* work_;  ///< null where nobody touches memory
  allocator_ptr memory_;
  std::unordered_map<std::uint64_t, live_block> live_;
  std::unordered_map<std::uint64_t, captured_graph> graphs_;
  std::unordered_map<std::uint64_t, stream> streams_;  ///< a trace's streams are any numbers; ours are not
  std::uint64_t requested_bytes_ = 0;
  replay_result result_;
};

}  // namespace arcalloc::trace
