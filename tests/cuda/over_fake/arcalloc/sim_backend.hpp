// SPDX-License-Identifier: Apache-2.0
#pragma once

// Found in place of <arcalloc/sim_backend.hpp> where tests that were written over the simulated device are compiled
// once more, with sim_backend defined to be cuda_over_fake: what they run then is the cuda backend.
#ifndef sim_backend
#error "define sim_backend=cuda_over_fake where this directory is searched"
#endif
#pragma push_macro("sim_backend")
#undef sim_backend

#include "../../../../include/arcalloc/sim_backend.hpp"

#include <arcalloc/cuda_backend.hpp>
#include <map>

#include "cuda/loaded_fake.hpp"

namespace arcalloc {

/// The cuda backend over a simulated device of the fake driver, with the interface of the simulated device itself.
///
/// The allocator's calls go through the real backend, to the fake driver's functions. What the engine does goes there,
/// too: work is a memset, a capture is the driver's, begun in the mode that forbids others most. A stream is a
/// non-blocking one of the driver; the thread's own is the driver's. What no driver knows (who owns which block, what
/// is busy, planned faults, the verdict) is told to the simulated device behind it. Concurrency: any thread. It does
/// not judge; but an event that was recorded and never dropped is a leak.
class cuda_over_fake final : public backend {
 public:
  explicit cuda_over_fake(const sim_options& settings = {});
  ~cuda_over_fake() override;
  cuda_over_fake(const cuda_over_fake&) = delete;
  cuda_over_fake& operator=(const cuda_over_fake&) = delete;

  [[nodiscard]] const char* name() const noexcept override { return "cuda"; }
  [[nodiscard]] std::size_t granularity() const noexcept override { return inner_->granularity(); }
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override {
    return inner_->allocate(bytes, meant(on), address);
  }
  [[nodiscard]] status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override {
    // A device that cannot: the simulated one counts the call and says so.
    if (!can_beside_capture_) return device().allocate_beside_capture(bytes, on, address);
    return inner_->allocate_beside_capture(bytes, meant(on), address);
  }
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override { return inner_->free(address, bytes); }
  void trim() noexcept override { inner_->trim(); }
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override { return inner_->query_memory(out); }
  [[nodiscard]] status record_event(stream on, event& out) noexcept override {
    return inner_->record_event(meant(on), out);
  }
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override {
    return inner_->query_event(point, finished);
  }
  [[nodiscard]] status wait_event(event point) noexcept override { return inner_->wait_event(point); }
  void drop_event(event point) noexcept override { inner_->drop_event(point); }

  void use(stream on, const void* address, std::uint64_t bytes);
  void handed_out(stream on, const void* address, std::uint64_t bytes) { device().handed_out(on, address, bytes); }
  void handed_back(const void* address) { device().handed_back(address); }
  void still_out(const void* address) { device().still_out(address); }
  void busy(stream on);
  void finish(stream on) { device().finish(on); }
  void wait(stream later, stream earlier);
  void begin_capture(stream on, std::uint64_t group = 0);
  [[nodiscard]] sim_graph end_capture(stream on);
  void abort_capture(stream on);
  void launch_graph(sim_graph graph, stream on);
  void forget_graph(sim_graph graph);

  void set_others_bytes(std::uint64_t bytes) { device().set_others_bytes(bytes); }
  void plan_fault(sim_call call, std::uint64_t nth, bool persistent, status with) {
    device().plan_fault(call, nth, persistent, with);
  }
  void plan_faults_by_seed(sim_call call, std::uint64_t seed, std::uint64_t one_in, status with) {
    device().plan_faults_by_seed(call, seed, one_in, with);
  }
  void set_capacity_bytes(std::uint64_t bytes) { device().set_capacity_bytes(bytes); }

  [[nodiscard]] std::uint64_t now_ns() const { return device().now_ns(); }
  [[nodiscard]] std::uint64_t calls(sim_call call) const { return device().calls(call); }
  [[nodiscard]] std::uint64_t lent_bytes() const { return device().lent_bytes(); }
  [[nodiscard]] std::uint64_t lent_bytes_peak() const { return device().lent_bytes_peak(); }
  [[nodiscard]] std::uint64_t history_hash() const { return device().history_hash(); }
  [[nodiscard]] std::vector<std::string> convictions() const;
  /// The last call but for readings: the backend is closed, since it keeps events to use them again.
  void convict_leaks();

 private:
  [[nodiscard]] sim_backend& device() const { return fake_.device(ordinal_); }
  [[nodiscard]] cuda::stream_handle* handle(stream on) const;
  [[nodiscard]] stream meant(stream on) const noexcept;
  void expect(cuda::result outcome, const char* call);

  testing::loaded_fake& driver_ = testing::loaded_fake::get();
  fake_cuda::control& fake_ = driver_.fake;
  int ordinal_ = 0;
  bool can_beside_capture_ = true;
  std::unique_ptr<cuda_backend> inner_ = std::make_unique<cuda_backend>();
  std::map<sim_graph, fake_cuda::graph_handle*> graphs_;
  std::uint64_t last_graph_ = 0;
  std::vector<std::string> complaints_;
};

}  // namespace arcalloc

#pragma pop_macro("sim_backend")
