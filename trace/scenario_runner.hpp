// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/scenario.hpp"
#include "trace/scenario_run.hpp"

namespace arcalloc::trace {

/// The state of one run: device, allocator, and blocks, graphs and profiles by their names.
///
/// Of run_scenario alone. Plays the engine, one function a kind of line: what is about captures and profiles stands
/// in scenario_capture_run.cpp. The allocator hears of a capture before the device when it begins, and after it when it
/// ends. Concurrency: one thread; the scenario must outlive it.
class runner {
 public:
  explicit runner(const scenario& what) : what_(what), device_(what.device) {}

  scenario_result run();

 private:
  struct held_block {
    block piece;
    stream own = default_stream;
    bool live = false;
    std::uint64_t bytes = 0;
  };
  struct captured_graph {
    graph_id pinned = graph_id::none;
    sim_graph on_device = sim_graph::none;
  };

  void fail(std::string expected, std::string found) {
    result_.failed.push_back({line_, std::move(expected), std::move(found)});
  }
  void answer(status found, const std::string& detail = {});
  void expect_ok(const char* call, status found);
  [[nodiscard]] held_block* find(const std::string& id) {
    const auto at = blocks_.find(id);
    return at == blocks_.end() ? nullptr : &at->second;
  }
  [[nodiscard]] bool is_missed(const held_block* known);
  [[nodiscard]] const captured_graph* find_graph(const std::string& name);
  [[nodiscard]] const profile* find_profile(const std::string& name);

  options settle();
  [[nodiscard]] bool create(const options& settings);
  void finish();
  void finish_captures();
  void check_device();
  void check_identities();

  void carry_out(const act::allocate& asked);
  void carry_out(const act::use& asked);
  void carry_out(const act::deallocate& asked);
  void carry_out(const act::busy& asked) { device_.busy(asked.on); }
  void carry_out(const act::finish& asked) { device_.finish(asked.on); }
  void carry_out(const act::wait& asked);
  void carry_out(const act::end_stream& asked) { answer(memory_->end_stream(asked.on)); }
  void carry_out(const act::end_step&) { memory_->end_step(); }
  void carry_out(const act::begin_phase& asked) { answer(memory_->begin_phase(asked.next)); }
  void carry_out(const act::trim& asked) { answer(memory_->trim(asked.cached_bytes)); }
  void carry_out(const act::drain&) { answer(memory_->drain()); }
  void carry_out(const act::begin_capture& asked);
  void carry_out(const act::end_capture& asked);
  void carry_out(const act::abort_capture& asked);
  void carry_out(const act::replay_graph& asked);
  void carry_out(const act::release_graph& asked);
  void carry_out(const act::prewarm_blocks& asked);
  void carry_out(const act::begin_profile& asked);
  void carry_out(const act::end_profile& asked);
  void carry_out(const act::prewarm_profile& asked);
  void carry_out(const act::verify_profile& asked);
  void carry_out(const act::expect_miss& claim);
  void carry_out(const act::set_others& asked) { device_.set_others_bytes(asked.bytes); }
  void carry_out(const act::plan_fault& plan) { device_.plan_fault(plan.call, plan.nth, plan.persistent, plan.with); }
  void carry_out(const act::expect& claim);
  void carry_out(const act::compare& claim);

  const scenario& what_;
  sim_backend device_;
  allocator_ptr memory_;
  scenario_result result_;
  std::map<std::string, held_block> blocks_;
  std::map<std::string, captured_graph> graphs_;
  std::map<std::string, profile> profiles_;
  std::string recorded_;                          // the profile that is being recorded
  std::set<stream> captures_;                     // where the open ones began
  std::map<std::string, std::string> variables_;  // of the environment: settings may point into it
  std::vector<block> strays_;                     // live, and their IDs name others: only after a failure
  std::uint64_t line_ = 0;                        // of the operation being carried out
  status expected_ = status::ok;
  std::size_t convictions_seen_ = 0;
  std::set<std::string> broken_;  // identities
  char foreign_ = 0;              // its address is nobody's block
};

}  // namespace arcalloc::trace
