// SPDX-License-Identifier: Apache-2.0
// A host that calls libarcalloc_torch.so as PyTorch does, by the names and signatures of its pluggable allocator, over
// the fake driver: from many threads, with streams, and with captures that nobody announces.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cuda/loaded_fake.hpp"

namespace arcalloc::torch {
namespace {

using cuda::capture_mode;
using cuda::event_handle;
using cuda::result;
using cuda::stream_handle;
using testing::loaded_fake;

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned int non_blocking = 1;

loaded_fake& at() { return loaded_fake::get(); }

/// The plug-in, loaded as PyTorch loads it.
struct plug_in {
  static plug_in& get() {
    static plug_in only;
    return only;
  }
  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    auto* const found = reinterpret_cast<Function*>(library == nullptr ? nullptr : ::dlsym(library, name));
    if (found == nullptr) std::abort();
    return found;
  }

  void* library = ::dlopen(ARCALLOC_TORCH, RTLD_NOW | RTLD_LOCAL);
  void* (*allocate)(ssize_t, int, void*) = find<void*(ssize_t, int, void*)>("arcalloc_torch_allocate");
  void (*free)(void*, ssize_t, int, void*) = find<void(void*, ssize_t, int, void*)>("arcalloc_torch_free");
  void (*record_stream)(void*, void*) = find<void(void*, void*)>("arcalloc_torch_record_stream");
  std::size_t (*forget_graphs)(int) = find<std::size_t(int)>("arcalloc_torch_forget_graphs");
  void (*end_step)() = find<void()>("arcalloc_torch_end_step");
  int (*report)(int, char*, std::size_t) = find<int(int, char*, std::size_t)>("arcalloc_torch_report");
};

std::uint64_t figure(const std::string& name, int device = 0) {
  char text[512];
  plug_in::get().report(device, text, sizeof text);
  const std::string line = text;
  const std::size_t found = line.find(" " + name + " ");
  EXPECT_NE(found, std::string::npos) << name << " in " << line;
  return found == std::string::npos ? 0 : std::stoull(line.substr(found + name.size() + 2));
}

cuda::device_address number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// One process of PyTorch's: the driver and the plug-in are there from the first test to the last.
class torch_adapter : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fake_cuda::settings how;
    how.devices = {sim_options{}, sim_options{.memory_bytes = 64 * mib}};
    how.has_contents = true;
    at().begin(how);
    // PyTorch has made tensors before it captures anything.
    ASSERT_NE(plug_in::get().allocate(512, 0, nullptr), nullptr);
  }
  void SetUp() override { on_ = at().make_stream(non_blocking); }
  void TearDown() override {
    (void)plug_in::get().forget_graphs(0);
    // Captures come unannounced, so the driver may be asked beside one, in relaxed mode, which it permits. The
    // simulated device knows of no modes; the fake driver does, and complains where a capture is disturbed.
    for (const std::string& one : at().fake.convictions(0)) {
      if (one.find(" while a capture is open on stream ") == std::string::npos) ADD_FAILURE() << one;
    }
  }

  [[nodiscard]] void* lent(std::size_t bytes, stream_handle* on) const {
    void* const address = plug_in::get().allocate(static_cast<ssize_t>(bytes), 0, on);
    EXPECT_NE(address, nullptr);
    return address;
  }
  void give_back(void* address, std::size_t bytes, stream_handle* on) const {
    plug_in::get().free(address, static_cast<ssize_t>(bytes), 0, on);
  }
  static void write(void* address, unsigned char value, std::size_t bytes, stream_handle* on) {
    ASSERT_EQ(at().set(number(address), value, bytes, on), result::success);
  }
  static int byte_at(const void* address, stream_handle* on) {
    unsigned char found = 0;
    EXPECT_EQ(at().copy_to_host_on(&found, number(address), 1, on), result::success);
    EXPECT_EQ(at().synchronise_stream(on), result::success);
    return found;
  }
  fake_cuda::graph_handle* captured(stream_handle* on) const {
    fake_cuda::graph_handle* graph = nullptr;
    fake_cuda::graph_handle* executable = nullptr;
    EXPECT_EQ(at().end_capture(on, &graph), result::success);
    EXPECT_EQ(at().instantiate(&executable, graph, 0), result::success);
    return executable;
  }
  /// The call after a capture, at which the plug-in sees that it is over.
  void next_call() const { give_back(lent(512, on_), 512, on_); }

  stream_handle* on_ = nullptr;
};

TEST_F(torch_adapter, serves_many_threads_each_on_its_stream) {
  std::vector<std::thread> all;
  std::vector<int> wrong(8);
  const std::uint64_t calls_before = at().fake.calls("cuMemAlloc");
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    all.emplace_back([this, &wrong, t] {
      at().enter();
      stream_handle* const own = at().make_stream(non_blocking);
      for (std::size_t i = 0; i < 400; ++i) {
        const std::size_t bytes = 512 + (i % 40) * 4096;
        void* const first = lent(bytes, own);
        void* const second = lent(bytes * 2, own);
        write(first, static_cast<unsigned char>(t + 1), bytes, own);
        write(second, 99, bytes * 2, own);
        if (byte_at(first, own) != static_cast<int>(t + 1)) ++wrong[t];
        give_back(second, bytes * 2, own);
        give_back(first, bytes, own);
      }
    });
  }
  for (std::thread& one : all) one.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
  EXPECT_LE(at().fake.calls("cuMemAlloc") - calls_before, 8U * 6) << "of 6,400 requests";
}

TEST_F(torch_adapter, frees_what_another_thread_asked_for) {
  void* address = nullptr;
  at().elsewhere([&] { address = lent(mib, on_); });
  const std::uint64_t before = figure("allocated_bytes");
  give_back(address, mib, on_);
  EXPECT_EQ(figure("allocated_bytes"), before - mib);
}

TEST_F(torch_adapter, keeps_what_a_graph_works_on_though_nobody_announced_the_capture) {
  const std::size_t bytes = 3 * mib;
  give_back(lent(bytes, on_), bytes, on_);
  ASSERT_EQ(at().begin_capture(on_, capture_mode::global), result::success);
  void* const scratch = lent(bytes, on_);
  write(scratch, 5, bytes, on_);
  give_back(scratch, bytes, on_);
  fake_cuda::graph_handle* const graph = captured(on_);
  next_call();
  EXPECT_GE(figure("pinned_bytes"), bytes);
  // What is asked for afterwards is not what a replay writes to.
  std::vector<void*> others;
  for (int i = 0; i < 4; ++i) {
    others.push_back(lent(bytes, on_));
    EXPECT_NE(others.back(), scratch);
    write(others.back(), 77, bytes, on_);
  }
  ASSERT_EQ(at().launch(graph, on_), result::success);
  for (void* const other : others) {
    EXPECT_EQ(byte_at(other, on_), 77);
    give_back(other, bytes, on_);
  }
  EXPECT_EQ(byte_at(scratch, on_), 5);
  EXPECT_EQ(at().destroy_executable(graph), result::success);
  EXPECT_EQ(plug_in::get().forget_graphs(0), 1U);
  EXPECT_EQ(figure("pinned_bytes"), 0U);
}

TEST_F(torch_adapter, asks_the_driver_beside_a_capture_without_disturbing_it) {
  ASSERT_EQ(at().begin_capture(on_, capture_mode::global), result::success);
  const std::uint64_t calls_before = at().fake.calls("cuMemAlloc");
  void* const cold = lent(37 * mib, on_);
  EXPECT_EQ(at().fake.calls("cuMemAlloc"), calls_before + 1);
  write(cold, 1, 37 * mib, on_);
  fake_cuda::graph_handle* const graph = captured(on_);
  EXPECT_NE(graph, nullptr) << "the capture is as it was";
  give_back(cold, 37 * mib, on_);
  EXPECT_EQ(at().destroy_executable(graph), result::success);
}

TEST_F(torch_adapter, takes_a_stream_that_waits_for_a_captured_one_into_the_capture) {
  stream_handle* const second = at().make_stream(non_blocking);
  const std::size_t bytes = 5 * mib;
  give_back(lent(bytes, second), bytes, second);
  event_handle* point = nullptr;
  event_handle* back = nullptr;
  ASSERT_EQ(at().create_event(&point, 2), result::success);
  ASSERT_EQ(at().create_event(&back, 2), result::success);
  ASSERT_EQ(at().begin_capture(on_, capture_mode::global), result::success);
  give_back(lent(512, on_), 512, on_);
  ASSERT_EQ(at().record(point, on_), result::success);
  ASSERT_EQ(at().wait(second, point, 0), result::success);
  void* const scratch = lent(bytes, second);
  write(scratch, 6, bytes, second);
  give_back(scratch, bytes, second);
  ASSERT_EQ(at().record(back, second), result::success);
  ASSERT_EQ(at().wait(on_, back, 0), result::success);
  fake_cuda::graph_handle* const graph = captured(on_);
  next_call();
  void* const other = lent(bytes, second);
  EXPECT_NE(other, scratch) << "it is the graph's";
  give_back(other, bytes, second);
  EXPECT_EQ(at().destroy_executable(graph), result::success);
  EXPECT_EQ(plug_in::get().forget_graphs(0), 1U);
}

TEST_F(torch_adapter, goes_on_after_a_capture_that_came_to_nothing) {
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_EQ(at().begin_capture(on_, capture_mode::relaxed), result::success);
    give_back(lent(2 * mib, on_), 2 * mib, on_);
    // What is prohibited on a captured stream invalidates the capture.
    EXPECT_NE(at().synchronise_stream(on_), result::success);
    give_back(lent(mib, on_), mib, on_);
    fake_cuda::graph_handle* graph = nullptr;
    EXPECT_EQ(at().end_capture(on_, &graph), result::capture_invalidated);
    next_call();
    EXPECT_EQ(figure("pinned_bytes"), 0U) << turn;
  }
  EXPECT_EQ(plug_in::get().forget_graphs(0), 0U);
}

TEST_F(torch_adapter, follows_captures_of_two_threads_at_once) {
  std::vector<std::thread> all;
  for (int t = 0; t < 2; ++t) {
    all.emplace_back([this, t] {
      at().enter();
      stream_handle* const own = at().make_stream(non_blocking);
      for (int turn = 0; turn < 10; ++turn) {
        ASSERT_EQ(at().begin_capture(own, capture_mode::thread_local_only), result::success);
        void* const address = lent(mib, own);
        write(address, static_cast<unsigned char>(t), mib, own);
        give_back(address, mib, own);
        fake_cuda::graph_handle* graph = nullptr;
        ASSERT_EQ(at().end_capture(own, &graph), result::success);
        ASSERT_EQ(at().destroy_graph(graph), result::success);
      }
    });
  }
  for (std::thread& one : all) one.join();
  next_call();
  EXPECT_EQ(plug_in::get().forget_graphs(0), 20U);
  EXPECT_EQ(figure("pinned_bytes"), 0U);
}

TEST_F(torch_adapter, does_not_give_away_what_another_stream_still_uses) {
  stream_handle* const second = at().make_stream(non_blocking);
  void* const shared = lent(7 * mib, on_);
  write(shared, 1, 7 * mib, on_);
  at().fake.device(0).busy(at().number(second));
  write(shared, 2, 7 * mib, second);
  plug_in::get().record_stream(shared, second);
  give_back(shared, 7 * mib, on_);
  void* const next = lent(7 * mib, on_);
  EXPECT_NE(next, shared);
  at().fake.device(0).finish(at().number(second));
  give_back(next, 7 * mib, on_);
}

TEST_F(torch_adapter, says_why_there_is_no_memory) {
  plug_in& torch = plug_in::get();
  ::testing::internal::CaptureStderr();
  void* const too_much = torch.allocate(100 * mib, 1, nullptr);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(too_much, nullptr);
  EXPECT_NE(said.find("device 1: device_out_of_memory: requested 104857600"), std::string::npos) << said;
  void* const enough = torch.allocate(10 * mib, 1, nullptr);
  EXPECT_NE(enough, nullptr);
  torch.free(enough, 10 * mib, 1, nullptr);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(torch.allocate(512, 7, nullptr), nullptr);
  EXPECT_EQ(torch.allocate(512, 7, nullptr), nullptr);
  const std::string once = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(once, "arcalloc: device 7: there is no device 7: the driver (CUDA 13.0) sees 2, numbered from 0\n");
  EXPECT_EQ(torch.allocate(0, 0, nullptr), nullptr);
}

TEST_F(torch_adapter, asks_nothing_of_the_driver_for_a_hit_on_the_default_stream) {
  give_back(lent(4096, nullptr), 4096, nullptr);
  const auto asked = [] {
    std::uint64_t sum = 0;
    for (const char* call : {"cuMemAlloc", "cuMemFree", "cuStreamIsCapturing", "cuStreamGetCaptureInfo",
                             "cuCtxGetCurrent", "cuEventRecord", "cuEventQuery"}) {
      sum += at().fake.calls(call);
    }
    return sum;
  };
  const std::uint64_t before = asked();
  for (int i = 0; i < 100; ++i) give_back(lent(4096, nullptr), 4096, nullptr);
  EXPECT_EQ(asked(), before);
  give_back(lent(4096, on_), 4096, on_);
  const std::uint64_t own_before = asked();
  for (int i = 0; i < 100; ++i) give_back(lent(4096, on_), 4096, on_);
  EXPECT_EQ(asked(), own_before + 200) << "on a stream of its own: one question each, whether it is captured";
}

TEST_F(torch_adapter, counts_steps) {
  plug_in::get().end_step();
  EXPECT_GT(figure("requests"), 0U);
  EXPECT_GT(figure("cached_bytes_max"), 0U);
}

}  // namespace
}  // namespace arcalloc::torch
