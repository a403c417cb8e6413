// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>
#include <arcalloc/sim_backend.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace arcalloc::trace {

/// What happens on the device beside the allocator while a trace is played: the work on its blocks, and its captures.
///
/// Called by trace_replay, in the order of the events. An engine's part, so it knows nothing of the allocator.
/// Concurrency: one thread. May throw trace_error.
class device_work {
 public:
  virtual ~device_work() = default;

  /// The stream that stands for one of the trace's; these are numbered from 0, its default stream, in the order in
  /// which they are met.
  [[nodiscard]] virtual stream open_stream(std::uint64_t number) { return stream{number}; }

  virtual void handed_out(stream on, void* address, std::uint64_t bytes) = 0;
  virtual void use(stream on, void* address, std::uint64_t bytes) = 0;
  virtual void handed_back(void* address) = 0;

  virtual void begin_capture(stream on, std::uint64_t group) = 0;
  virtual void join_capture(stream joining, stream capturing) = 0;
  /// The number of the graph, to be launched and forgotten by.
  [[nodiscard]] virtual std::uint64_t end_capture(stream on) = 0;
  virtual void abort_capture(stream on) = 0;
  virtual void launch(std::uint64_t graph, stream on) = 0;
  virtual void forget_graph(std::uint64_t graph) = 0;

  [[nodiscard]] virtual std::uint64_t now_ns() const { return 0; }
  /// The verdict, when everything was given back.
  [[nodiscard]] virtual std::vector<std::string> finish() = 0;
};

/// The simulated device's, which judges who gets each block.
class simulated_work final : public device_work {
 public:
  explicit simulated_work(sim_backend& device) noexcept : device_(device) {}

  void handed_out(stream on, void* address, std::uint64_t bytes) override {
    device_.handed_out(on, address, bytes);
    device_.use(on, address, bytes);
  }
  void use(stream on, void* address, std::uint64_t bytes) override { device_.use(on, address, bytes); }
  void handed_back(void* address) override { device_.handed_back(address); }
  void begin_capture(stream on, std::uint64_t group) override { device_.begin_capture(on, group); }
  void join_capture(stream joining, stream capturing) override { device_.wait(joining, capturing); }
  [[nodiscard]] std::uint64_t end_capture(stream on) override {
    return static_cast<std::uint64_t>(device_.end_capture(on));
  }
  void abort_capture(stream on) override { device_.abort_capture(on); }
  void launch(std::uint64_t graph, stream on) override { device_.launch_graph(sim_graph{graph}, on); }
  void forget_graph(std::uint64_t graph) override { device_.forget_graph(sim_graph{graph}); }
  [[nodiscard]] std::uint64_t now_ns() const override { return device_.now_ns(); }
  [[nodiscard]] std::vector<std::string> finish() override {
    device_.convict_leaks();
    return device_.convictions();
  }

 private:
  sim_backend& device_;
};

}  // namespace arcalloc::trace
