// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/sim_backend.hpp>
#include <cstdlib>
#include <mutex>

namespace arcalloc {

namespace {

constexpr std::uint64_t own_bit = std::uint64_t{1} << 63;

bool is_own(stream on) { return (static_cast<std::uint64_t>(on) & own_bit) != 0; }

/// The fake driver as these tests need it, set once.
void set_up(fake_cuda::control& fake) {
  static std::once_flag once;
  std::call_once(once, [&fake] {
    fake_cuda::settings how;
    how.devices.clear();
    // A free with work under way is to be seen, not waited for: the documentation says that cuMemFree may wait.
    how.free_synchronises = false;
    how.thread_stream = this_thread_stream;
    fake.reset(how);
    // The engine of these tests ends a capture on whichever thread comes by.
    fake.set_broken(fake_cuda::rule::capture_ends_on_its_thread, true);
  });
}

/// While it lives the calling thread is in the device's primary context.
class in_context {
 public:
  in_context(const testing::loaded_fake& driver, void* context) : driver_(driver) {
    if (driver.push(static_cast<cuda::context_handle*>(context)) != cuda::result::success) std::abort();
  }
  ~in_context() {
    cuda::context_handle* popped = nullptr;
    if (driver_.pop(&popped) != cuda::result::success) std::abort();
  }
  in_context(const in_context&) = delete;
  in_context& operator=(const in_context&) = delete;

 private:
  const testing::loaded_fake& driver_;
};

}  // namespace

cuda_over_fake::cuda_over_fake(const sim_options& settings) : can_beside_capture_(settings.allocates_beside_capture) {
  set_up(fake_);
  ordinal_ = fake_.add_device(settings);
  cuda_options how;
  how.ordinal = ordinal_;
  how.granularity = settings.granularity;
  how.driver_path = ARCALLOC_FAKE_CUDA;
  if (inner_->open(how) != status::ok) {
    char why[400];
    inner_->error_text(why, sizeof why);
    complaints_.emplace_back(why);
  }
}

cuda_over_fake::~cuda_over_fake() {
  inner_.reset();
  fake_.remove_device(ordinal_);
}

cuda::stream_handle* cuda_over_fake::handle(stream on) const {
  return is_own(on) ? testing::loaded_fake::special(cuda::per_thread_stream_number) : fake_.adopt(ordinal_, on);
}

stream cuda_over_fake::meant(stream on) const noexcept {
  return is_own(on) ? on : cuda_backend::stream_of(fake_.adopt(ordinal_, on));
}

void cuda_over_fake::expect(cuda::result outcome, const char* call) {
  if (outcome == cuda::result::success) return;
  std::string complaint(call);
  complaints_.push_back(complaint.append(" answers ").append(std::to_string(static_cast<unsigned int>(outcome))));
}

void cuda_over_fake::use(stream on, const void* address, std::uint64_t bytes) {
  // No driver has work that touches nothing, nor work on another thread's own stream.
  if (bytes == 0 || (is_own(on) && on != this_thread_stream())) return device().use(on, address, bytes);
  const in_context scope(driver_, inner_->context());
  expect(driver_.set(reinterpret_cast<std::uintptr_t>(address), 0, bytes, handle(on)), "cuMemsetD8Async");
}

void cuda_over_fake::busy(stream on) {
  // The driver knows a stream from now on, at the latest.
  if (!is_own(on) || on == this_thread_stream()) (void)fake_.number_of(ordinal_, handle(on));
  device().busy(on);
}

void cuda_over_fake::wait(stream later, stream earlier) {
  expect(fake_.order(ordinal_, later, earlier), "cuStreamWaitEvent");
}

void cuda_over_fake::begin_capture(stream on, std::uint64_t group) {
  const in_context scope(driver_, inner_->context());
  fake_.set_next_group(group);
  expect(driver_.begin_capture(handle(on), cuda::capture_mode::global), "cuStreamBeginCapture");
}

sim_graph cuda_over_fake::end_capture(stream on) {
  const in_context scope(driver_, inner_->context());
  fake_cuda::graph_handle* graph = nullptr;
  fake_cuda::graph_handle* executable = nullptr;
  const cuda::result ended = driver_.end_capture(handle(on), &graph);
  expect(ended, "cuStreamEndCapture");
  if (ended != cuda::result::success) return sim_graph::none;
  expect(driver_.instantiate(&executable, graph, 0), "cuGraphInstantiate");
  expect(driver_.destroy_graph(graph), "cuGraphDestroy");
  const sim_graph made{++last_graph_};
  graphs_[made] = executable;
  return made;
}

void cuda_over_fake::abort_capture(stream on) {
  const in_context scope(driver_, inner_->context());
  fake_cuda::graph_handle* graph = nullptr;
  expect(driver_.end_capture(handle(on), &graph), "cuStreamEndCapture");
  if (graph != nullptr) expect(driver_.destroy_graph(graph), "cuGraphDestroy");
}

void cuda_over_fake::launch_graph(sim_graph graph, stream on) {
  const auto known = graphs_.find(graph);
  if (known == graphs_.end()) return device().launch_graph(sim_graph::none, on);  // convicts
  const in_context scope(driver_, inner_->context());
  expect(driver_.launch(known->second, handle(on)), "cuGraphLaunch");
}

void cuda_over_fake::forget_graph(sim_graph graph) {
  const auto known = graphs_.find(graph);
  if (known == graphs_.end()) return device().forget_graph(sim_graph::none);  // convicts
  expect(driver_.destroy_executable(known->second), "cuGraphExecDestroy");
  graphs_.erase(known);
}

std::vector<std::string> cuda_over_fake::convictions() const {
  std::vector<std::string> all = complaints_;
  for (const std::string& one : fake_.convictions(ordinal_)) all.push_back(one);
  return all;
}

void cuda_over_fake::convict_leaks() {
  if (const std::uint64_t out = inner_->events_out(); out != 0) {
    complaints_.push_back(std::string("leak: events never dropped: ").append(std::to_string(out)));
  }
  inner_ = std::make_unique<cuda_backend>();
  device().convict_leaks();
}

}  // namespace arcalloc
