// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "fake_cuda.hpp"
#include "shared_card.hpp"
#include "work_queue.hpp"

namespace arcalloc::fake_cuda {

using cuda::capture_mode;
using cuda::result;

struct fake_device;
struct capture;

/// Memory that cuMemAlloc or a pool lent.
struct lent_memory {
  std::size_t bytes = 0;
  cuda::pool_handle* pool = nullptr;
  cuda::context_handle* of = nullptr;  ///< null for memory of a pool, which is the device's
};

}  // namespace arcalloc::fake_cuda

// What the driver's handles point to here.
struct arcalloc::cuda::stream_handle {
  context_handle* of = nullptr;
  stream number{};  ///< of the simulated device
  bool is_blocking = true;
  bool is_legacy = false;
  fake_cuda::capture* in = nullptr;
  std::shared_ptr<fake_cuda::work_queue> work = std::make_shared<fake_cuda::work_queue>();
};

struct arcalloc::cuda::context_handle {
  fake_cuda::fake_device* device = nullptr;
  stream_handle legacy{};
  std::map<std::thread::id, std::unique_ptr<stream_handle>> of_threads{};
  std::map<stream_handle*, std::unique_ptr<stream_handle>> streams{};
};

struct arcalloc::cuda::event_handle {
  context_handle* of = nullptr;
  event point = event::none;
  stream_handle* on = nullptr;  ///< where it was recorded last
  std::uint64_t captured_by = 0;
  std::shared_ptr<fake_cuda::work_queue> work{};  ///< with the position that it stands for
  std::uint64_t position = 0;
};

struct arcalloc::cuda::pool_handle {
  fake_cuda::fake_device* device = nullptr;
  std::multimap<std::size_t, device_address> kept{};  ///< freed, and not given back to the device
};

namespace arcalloc::fake_cuda {

/// What was captured: the simulated device's graph, until the last handle of it is destroyed.
struct captured_body {
  captured_body(fake_device& from, sim_graph made) : device(from), graph(made) {}
  ~captured_body();
  captured_body(const captured_body&) = delete;
  captured_body& operator=(const captured_body&) = delete;
  fake_device& device;
  sim_graph graph;
  std::vector<work_item> work{};
};

/// A CUgraph or a CUgraphExec.
struct graph_handle {
  std::shared_ptr<captured_body> body;
};

struct capture {
  std::uint64_t id = 0;
  cuda::stream_handle* origin = nullptr;
  std::thread::id began_on{};
  capture_mode mode = capture_mode::global;
  bool is_invalid = false;
  std::set<cuda::stream_handle*> streams{};
  std::vector<work_item> work{};  ///< in an order that its streams permit: that of the calls
};

struct fake_device {
  int ordinal = 0;
  std::unique_ptr<sim_backend> sim{};
  cuda::context_handle primary{};
  int retained = 0;
  std::map<cuda::device_address, lent_memory> memory{};
  std::set<std::unique_ptr<cuda::context_handle>> contexts{};  ///< of cuCtxCreate
  std::set<std::unique_ptr<cuda::pool_handle>> pools{};
  cuda::pool_handle* usual_pool = nullptr;  ///< of cuMemAllocAsync
  std::vector<std::string> complaints{};
  device_bytes bytes{};
};

/// What a call needs before it does anything.
enum class needs : std::uint8_t { nothing, init, context };

/// The state of the fake driver, shared by its functions, which stand by subject in the other files.
///
/// A translation of the driver's calls into those of the simulated device, with what that does not know: contexts,
/// handles, modes of capture. Concurrency: one mutex, taken by each function for its length; none blocks, since on the
/// simulated device a wait finishes what it waits for.
class fake_driver final : public control {
 public:
  static fake_driver& get();

  // The control.
  void reset(const settings& how) override;
  int add_device(const sim_options& made_of) override;
  void remove_device(int ordinal) override;
  sim_backend& device(int ordinal) override { return *devices.at(static_cast<std::size_t>(ordinal))->sim; }
  cuda::stream_handle* adopt(int ordinal, stream number) override;
  stream number_of(int ordinal, cuda::stream_handle* on) override;
  result order(int ordinal, stream later, stream earlier) override;
  void set_next_group(std::uint64_t group) override { next_group = group; }
  void set_broken(rule which, bool broken) override {
    broken ? (void)broken_.insert(which) : (void)broken_.erase(which);
  }
  void fail(const std::string& function, std::uint64_t nth, bool persistent, result with) override;
  void answer_always(result with) override { always_ = with; }
  [[nodiscard]] std::uint64_t calls(const std::string& function) const override;
  [[nodiscard]] std::vector<std::string> convictions(int ordinal) const override;

  // For the driver's functions. Requires: the mutex.
  [[nodiscard]] result enter(const char* function, needs what);
  [[nodiscard]] bool holds(rule which) const { return broken_.count(which) == 0; }
  [[nodiscard]] fake_device* known_device(cuda::device_number number);
  [[nodiscard]] cuda::context_handle* current();
  [[nodiscard]] fake_device& current_device() { return *current()->device; }
  /// The stream that a handle means on the calling thread, or null.
  [[nodiscard]] cuda::stream_handle* stream_of(cuda::stream_handle* said);
  /// Sees to the order between the legacy default stream and blocking ones, before work is enqueued.
  [[nodiscard]] result order_with_legacy(cuda::stream_handle& on);
  /// Whether a call that may conflict with a capture may be made; if not, captures are invalidated.
  [[nodiscard]] result unsafe_call(const char* function);
  void synchronise(fake_device& device);
  /// Work on memory: of the simulated device, and what it does to contents.
  [[nodiscard]] result enqueue(cuda::stream_handle& on, work_item item);
  /// What was seen to have finished, on the simulated device, is done.
  void run(fake_device& device, work_queue& work, std::uint64_t position);
  void join(cuda::stream_handle& joining, capture& with);
  [[nodiscard]] result make_wait(cuda::stream_handle& later, cuda::stream_handle& earlier, bool is_captured);
  void give_back_kept(cuda::pool_handle& pool);
  /// What is lent goes back to the device, or to its pool.
  [[nodiscard]] result take_back(fake_device& device, cuda::device_address address);
  void end_context(cuda::context_handle& of);
  /// What other processes have of the device, before it is asked; and what this one has, after it has changed.
  void look_at_card(fake_device& device);
  void tell_card(fake_device& device);
  template <class Visit>
  static void for_each_stream(cuda::context_handle& of, Visit visit) {
    visit(of.legacy);
    for (const auto& [thread, own] : of.of_threads) visit(*own);
    for (const auto& [handle, made] : of.streams) visit(*made);
  }

  mutable std::recursive_mutex mutex;
  settings how{};
  bool is_initialised = false;
  std::vector<std::unique_ptr<fake_device>> devices{};
  std::map<cuda::event_handle*, std::unique_ptr<cuda::event_handle>> events{};
  std::map<graph_handle*, std::unique_ptr<graph_handle>> graphs{};
  std::map<std::uint64_t, std::unique_ptr<capture>> captures{};
  std::uint64_t last_capture = 0;
  std::uint64_t last_stream = 0;
  std::uint64_t next_group = 0;
  shared_card* card = nullptr;  ///< of the first device, where it is shared

 private:
  struct planned {
    std::uint64_t number = 0;
    bool is_persistent = false;
    result with = result::success;
  };

  fake_driver();

  std::map<std::string, std::uint64_t> calls_{};
  std::map<std::string, planned> plans_{};
  std::set<rule> broken_{};
  result always_ = result::success;
};

/// What the driver keeps of each thread. Without a destructor: it is used while a thread exits.
struct thread_state {
  static constexpr std::size_t contexts_max = 64;

  [[nodiscard]] cuda::context_handle* top() const { return depth == 0 ? nullptr : contexts[depth - 1]; }
  [[nodiscard]] bool push(cuda::context_handle* context) {
    if (depth == contexts_max) return false;
    contexts[depth++] = context;
    return true;
  }
  void pop() { depth -= depth == 0 ? 0 : 1; }

  std::uint64_t process = 0;  ///< the reset that this belongs to
  std::size_t depth = 0;
  cuda::context_handle* contexts[contexts_max] = {};
  capture_mode mode = capture_mode::global;
};
[[nodiscard]] thread_state& this_thread();

/// The result that a status of the simulated device is, and what a status must be planned as to become it again.
[[nodiscard]] result result_of(status outcome);

/// Runs the body of one of the driver's functions.
template <class Body>
result call(const char* function, needs what, Body body) {
  fake_driver& at = fake_driver::get();
  const std::lock_guard guard(at.mutex);
  const result entered = at.enter(function, what);
  return entered != result::success ? entered : body(at);
}

}  // namespace arcalloc::fake_cuda
