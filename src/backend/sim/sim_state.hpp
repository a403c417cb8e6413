// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <mutex>

#include <arcalloc/sim_backend.hpp>

#include "captured_work.hpp"
#include "device_memory.hpp"
#include "fault_plans.hpp"
#include "verdict.hpp"
#include "work_order.hpp"

namespace arcalloc {

/// All that the simulated device is, and the judgements over it.
///
/// The backend's functions lock, count and note a call; what is right and wrong stands here.
/// Concurrency: the mutex is taken by the backend's functions, once each; the functions here need it held.
/// Invariants: a judgement that finds work finished settles it, so that no later `busy` takes it back.
struct sim_backend::state {
  explicit state(const sim_options& given);

  /// Taken by other processes or lent; what is left may be lent.
  [[nodiscard]] std::uint64_t free_bytes() const;

  /// False, with a conviction, where the call may not be made while a capture is open.
  [[nodiscard]] bool legal_in_capture(const char* call);

  /// Lends it, with a fault where one was planned.
  status lend(std::size_t bytes, status planned, void*& address);

  /// The range a free means, or null with a conviction.
  [[nodiscard]] lent_range* freed_range(std::uint64_t begin, std::uint64_t bytes);
  /// Convicts where the range is not idle.
  void judge_idle(lent_range& leaving);

  /// The graph of that number, or null with a conviction. In sim_capture.cpp.
  [[nodiscard]] const captured_graph* known_graph(const char* call, sim_graph graph);

  /// What the event stands for, or null with a conviction.
  [[nodiscard]] const work_point* known_event(const char* call, event point);

  /// The work is the range's latest.
  static void note_use(lent_range& around, const noted_use& fresh);

  void judge_overlap(const lent_range& around, const address_range& block);
  /// `capture` is the one that the stream is in, or null: here and below.
  void judge_order(lent_range& around, const address_range& block, stream on, const captured_graph* capture);

  // In graph_judgement.cpp.
  static void record_use(captured_graph& capture, const lent_range& around, const address_range& touched,
                         const work_point& work);
  /// Whether the block may have memory that captures touched.
  void judge_captured(const address_range& block, stream on, const captured_graph* capture);
  /// False, with a conviction, where a launch on the stream may not do this.
  [[nodiscard]] bool judge_launch(const captured_graph& launched, const captured_use& use, stream on);

  std::mutex mutex;
  sim_options settings;
  work_order order;
  device_memory memory;
  fault_plans faults;
  verdict judgement;
  std::map<std::uint64_t, work_point> events;
  std::uint64_t last_event = 0;
  captured_work captured;
  std::uint64_t hand_outs = 0;
  block_out last_back;  ///< the block that came back last
  std::uint64_t capacity_bytes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t now_ns = 0;
};

}  // namespace arcalloc
