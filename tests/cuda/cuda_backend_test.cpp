// SPDX-License-Identifier: Apache-2.0
// What the backend makes of the driver: contexts, captures, events, threads, pools, and errors that do not go away.
#include <gtest/gtest.h>

#include <arcalloc/allocator.hpp>
#include <arcalloc/cuda_backend.hpp>
#include <arcalloc/sim_backend.hpp>
#include <string>

#include "error_text.hpp"
#include "loaded_fake.hpp"
#include "support/sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using cuda::capture_mode;
using cuda::result;
using testing::at;
using testing::loaded_fake;
using testing::mib;
using testing::non_blocking;
using testing::text_of;

/// A device of the fake driver, and this thread without a context, as an engine's would be.
class cuda_device : public ::testing::Test {
 protected:
  void open(cuda_source source = cuda_source::driver, fake_cuda::settings how = {}) {
    how.thread_stream = this_thread_stream;
    at().fake.reset(how);
    cuda_options wanted;
    wanted.driver_path = ARCALLOC_FAKE_CUDA;
    wanted.source = source;
    ASSERT_EQ(device_.open(wanted), status::ok) << text_of(device_);
  }
  void SetUp() override { open(); }
  void open_again(cuda_source source, const fake_cuda::settings& how = {}) {
    device_.~cuda_backend();
    ::new (&device_) cuda_backend;
    open(source, how);
  }

  [[nodiscard]] void* lent(std::size_t bytes = mib, stream on = default_stream) {
    void* address = nullptr;
    EXPECT_EQ(device_.allocate(bytes, on, address), status::ok);
    return address;
  }
  [[nodiscard]] event recorded(stream on) {
    event point = event::none;
    EXPECT_EQ(device_.record_event(on, point), status::ok) << text_of(device_);
    return point;
  }
  [[nodiscard]] bool has_passed(event point) {
    bool finished = false;
    EXPECT_EQ(device_.query_event(point, finished), status::ok) << text_of(device_);
    return finished;
  }
  [[nodiscard]] stream made_stream(unsigned int flags = non_blocking) {
    at().enter();
    cuda::stream_handle* const made = at().make_stream(flags);
    leave();
    return cuda_backend::stream_of(made);
  }
  static void leave() {
    cuda::context_handle* popped = nullptr;
    EXPECT_EQ(at().pop(&popped), result::success);
  }
  static cuda::stream_handle* handle(stream on) {
    return reinterpret_cast<cuda::stream_handle*>(static_cast<std::uintptr_t>(on));
  }
  static sim_backend& sim() { return at().fake.device(0); }
  static void begin_capture(stream on, capture_mode mode = capture_mode::global) {
    at().enter();
    ASSERT_EQ(at().begin_capture(handle(on), mode), result::success);
    leave();
  }
  static result end_capture(stream on) {
    at().enter();
    fake_cuda::graph_handle* graph = nullptr;
    const result ended = at().end_capture(handle(on), &graph);
    leave();
    return ended;
  }

  cuda_backend device_;
};

TEST(cuda_backend_not_open, is_refused_by_an_allocator) {
  cuda_backend device;
  allocator* memory = nullptr;
  EXPECT_EQ(allocator::create(device, {}, memory), status::backend_failed);
  cuda_options wanted;
  wanted.driver_path = "/nowhere/libcuda.so.1";
  EXPECT_EQ(device.open(wanted), status::backend_unavailable);
  EXPECT_EQ(allocator::create(device, {}, memory), status::backend_failed);
  EXPECT_EQ(memory, nullptr);
}

TEST_F(cuda_device, is_in_its_context_for_the_length_of_a_call) {
  cuda::context_handle* found = nullptr;
  void* const address = lent();
  ASSERT_EQ(at().current(&found), result::success);
  EXPECT_EQ(found, nullptr);
  cuda::context_handle* other = nullptr;
  ASSERT_EQ(at().create_context(&other, 0, 0), result::success);
  EXPECT_EQ(device_.free(address, mib), status::ok);
  ASSERT_EQ(at().current(&found), result::success);
  EXPECT_EQ(found, other);
  leave();
  const std::uint64_t pushed = at().fake.calls("cuCtxPushCurrent");
  at().enter();
  (void)recorded(default_stream);
  leave();
  EXPECT_EQ(at().fake.calls("cuCtxPushCurrent"), pushed + 1) << "that is the test's own: the context was current";
}

TEST_F(cuda_device, says_which_streams_are_the_default_ones) {
  EXPECT_EQ(cuda_backend::stream_of(nullptr), default_stream);
  EXPECT_EQ(cuda_backend::stream_of(loaded_fake::special(1)), default_stream);
  EXPECT_EQ(cuda_backend::stream_of(loaded_fake::special(2)), per_thread_stream);
  EXPECT_EQ(cuda_backend::stream_of(loaded_fake::special(4096)), stream{4096});
}

TEST_F(cuda_device, lends_while_any_stream_is_captured_and_disturbs_no_capture) {
  const stream on = made_stream();
  begin_capture(on);
  void* const beside = lent();
  void* address = nullptr;
  ASSERT_EQ(device_.allocate_beside_capture(mib, on, address), status::ok);
  std::thread([&] { EXPECT_NE(lent(), nullptr); }).join();
  cuda_capture found;
  EXPECT_EQ(device_.query_capture(on, found), status::ok);
  EXPECT_EQ(found.now, cuda_capture::state::ongoing);
  EXPECT_NE(found.id, 0U);
  EXPECT_EQ(end_capture(on), result::success);
  capture_mode mode = capture_mode::global;
  ASSERT_EQ(at().exchange(&mode), result::success);
  EXPECT_EQ(mode, capture_mode::global) << "the thread is in the mode that it was in";
  EXPECT_EQ(device_.query_capture(on, found), status::ok);
  EXPECT_EQ(found.now, cuda_capture::state::none);
  EXPECT_EQ(found.id, 0U);
  EXPECT_TRUE(at().fake.convictions(0).empty());
  EXPECT_EQ(device_.free(beside, mib), status::ok);
}

TEST_F(cuda_device, says_capture_miss_where_the_driver_will_not_lend_beside) {
  at().fake.fail("cuMemAlloc", 1, false, result::capture_unsupported);
  void* address = nullptr;
  EXPECT_EQ(device_.allocate_beside_capture(mib, default_stream, address), status::capture_miss);
  EXPECT_EQ(address, nullptr);
}

TEST_F(cuda_device, sees_an_invalidated_capture) {
  const stream on = made_stream();
  begin_capture(on);
  at().enter();
  cuda::device_address address = 0;
  EXPECT_EQ(at().allocate(&address, mib), result::capture_unsupported) << "the engine's own, in the mode it is in";
  leave();
  cuda_capture found;
  EXPECT_EQ(device_.query_capture(on, found), status::ok);
  EXPECT_EQ(found.now, cuda_capture::state::invalidated);
  EXPECT_EQ(end_capture(on), result::capture_invalidated);
}

TEST_F(cuda_device, records_no_event_into_a_capture_that_nobody_announced) {
  const stream on = made_stream(0);
  begin_capture(on);
  event point{7};
  EXPECT_EQ(device_.record_event(on, point), status::backend_failed);
  EXPECT_EQ(point, event::none);
  EXPECT_NE(text_of(device_).find("part of the graph"), std::string::npos);
  EXPECT_EQ(device_.record_event(default_stream, point), status::backend_failed) << "implied by a blocking stream";
  EXPECT_EQ(device_.events_out(), 0U);
  EXPECT_EQ(end_capture(on), result::success) << "neither invalidated it";
}

TEST_F(cuda_device, uses_events_again) {
  const stream on = made_stream();
  for (int turn = 0; turn < 1000; ++turn) {
    const event point = recorded(on);
    EXPECT_TRUE(has_passed(point));
    device_.drop_event(point);
  }
  EXPECT_EQ(at().fake.calls("cuEventCreate"), 1U);
  EXPECT_EQ(device_.events_out(), 0U);
  sim().busy(at().fake.number_of(0, handle(on)));
  const event unfinished = recorded(on);
  device_.drop_event(unfinished);
  const event other = recorded(made_stream());
  EXPECT_TRUE(has_passed(other)) << "the same event, of another stream now";
  EXPECT_EQ(at().fake.calls("cuEventCreate"), 1U);
  device_.drop_event(other);
}

TEST_F(cuda_device, sees_and_waits_for_unfinished_work) {
  const stream on = made_stream();
  sim().busy(at().fake.number_of(0, handle(on)));
  const event point = recorded(on);
  EXPECT_FALSE(has_passed(point));
  EXPECT_EQ(device_.wait_event(point), status::ok);
  EXPECT_TRUE(has_passed(point));
  device_.drop_event(point);
}

TEST_F(cuda_device, orders_an_event_after_another_threads_own_stream) {
  stream theirs{};
  std::thread([&] {
    theirs = this_thread_stream();
    device_.drop_event(recorded(theirs));  // the driver makes its stream
    sim().busy(theirs);
    EXPECT_FALSE(has_passed(recorded(per_thread_stream)));
    EXPECT_FALSE(has_passed(recorded(theirs)));
  }).join();
  EXPECT_TRUE(has_passed(recorded(this_thread_stream())));
  const event point = recorded(theirs);
  EXPECT_FALSE(has_passed(point)) << "by the legacy stream, which comes after";
  sim().finish(theirs);
  EXPECT_TRUE(has_passed(point));
}

TEST_F(cuda_device, has_no_stream_for_an_identity_that_has_ended) {
  event point = event::none;
  EXPECT_EQ(device_.record_event(stream{(std::uint64_t{3} << 62) | 1}, point), status::invalid_argument);
}

TEST_F(cuda_device, keeps_the_memory_of_its_pool_until_it_is_trimmed) {
  open_again(cuda_source::stream_ordered);
  void* const address = lent(64 * mib);
  EXPECT_EQ(device_.free(address, 64 * mib), status::ok);
  EXPECT_EQ(sim().lent_bytes(), 64 * mib);
  EXPECT_EQ(lent(64 * mib), address) << "from the pool, without the device";
  EXPECT_EQ(device_.free(address, 64 * mib), status::ok);
  device_.trim();
  EXPECT_EQ(sim().lent_bytes(), 0U);
  EXPECT_EQ(at().fake.calls("cuMemAlloc"), 0U);
}

TEST_F(cuda_device, trims_its_pool_before_memory_runs_out_or_is_counted) {
  fake_cuda::settings small;
  small.devices[0].memory_bytes = 100 * mib;
  open_again(cuda_source::stream_ordered, small);
  EXPECT_EQ(device_.free(lent(60 * mib), 60 * mib), status::ok);
  void* const larger = lent(80 * mib);
  EXPECT_NE(larger, nullptr);
  EXPECT_EQ(device_.free(larger, 80 * mib), status::ok);
  memory_info info;
  EXPECT_EQ(device_.query_memory(info), status::ok);
  EXPECT_EQ(info.free_bytes, 100 * mib);
}

TEST_F(cuda_device, takes_nothing_from_its_pool_for_a_captured_stream) {
  open_again(cuda_source::stream_ordered);
  const stream on = made_stream();
  begin_capture(on);
  EXPECT_NE(lent(mib, on), nullptr);
  void* address = nullptr;
  EXPECT_EQ(device_.allocate_beside_capture(mib, on, address), status::ok);
  EXPECT_EQ(at().fake.calls("cuMemAlloc"), 2U);
  EXPECT_EQ(at().fake.calls("cuMemAllocFromPoolAsync"), 0U);
  EXPECT_EQ(end_capture(on), result::success);
}

TEST_F(cuda_device, of_a_drained_allocator_has_all_its_memory_back) {
  open_again(cuda_source::stream_ordered);
  allocator* made = nullptr;
  ASSERT_EQ(allocator::create(device_, {}, made), status::ok);
  const allocator_ptr memory(made);
  block piece;
  ASSERT_EQ(memory->allocate(100 * mib, default_stream, piece), status::ok);
  ASSERT_EQ(memory->deallocate(piece), status::ok);
  EXPECT_EQ(memory->drain(), status::ok);
  EXPECT_EQ(sim().lent_bytes(), 0U);
}

/// What an allocator does when the driver answers this from some moment on.
class cuda_ending : public cuda_device, public ::testing::WithParamInterface<result> {};

TEST_P(cuda_ending, takes_its_memory_with_it) {
  allocator* made = nullptr;
  ASSERT_EQ(allocator::create(device_, {}, made), status::ok);
  allocator_ptr memory(made);
  const stream on = made_stream();
  block pieces[3];
  for (block& piece : pieces) ASSERT_EQ(memory->allocate(64 * mib, on, piece), status::ok);
  ASSERT_EQ(memory->note_use(pieces[1], made_stream()), status::ok);
  const event point = recorded(on);
  ASSERT_EQ(memory->deallocate(pieces[0]), status::ok);
  at().fake.answer_always(GetParam());
  ASSERT_EQ(memory->deallocate(pieces[1]), status::ok);
  EXPECT_EQ(memory->drain(), status::ok);
  counters now;
  memory->read_counters(now);
  EXPECT_EQ(now.reserved_bytes, 64 * mib) << "what is out with its caller";
  EXPECT_EQ(now.stuck_bytes, 0U);
  block refused;
  EXPECT_EQ(memory->allocate(200 * mib, on, refused), status::shutting_down);
  EXPECT_TRUE(has_passed(point));
  EXPECT_EQ(device_.wait_event(point), status::ok);
  device_.drop_event(point);
  const event late = recorded(on);
  EXPECT_TRUE(has_passed(late));
  EXPECT_EQ(device_.wait_event(late), status::ok);
  device_.drop_event(late);
  EXPECT_NE(text_of(device_).find("its memory is gone"), std::string::npos) << text_of(device_);
  memory.reset();
}

INSTANTIATE_TEST_SUITE_P(driver, cuda_ending, ::testing::Values(result::deinitialized, result::context_is_destroyed));

TEST_F(cuda_device, asks_no_more_after_an_error_that_stays) {
  allocator* made = nullptr;
  ASSERT_EQ(allocator::create(device_, {}, made), status::ok);
  allocator_ptr memory(made);
  const stream on = made_stream();
  block piece;
  ASSERT_EQ(memory->allocate(64 * mib, on, piece), status::ok);
  ASSERT_EQ(memory->deallocate(piece), status::ok);
  const event point = recorded(on);
  at().fake.fail("cuEventQuery", 1, false, result::illegal_address);
  bool finished = true;
  EXPECT_EQ(device_.query_event(point, finished), status::backend_failed);
  EXPECT_FALSE(finished);
  const std::string why = text_of(device_);
  EXPECT_NE(why.find("cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700): the driver does not recover"), std::string::npos);
  const std::uint64_t asked = at().fake.calls("cuMemAlloc") + at().fake.calls("cuMemFree");
  EXPECT_EQ(memory->allocate(200 * mib, on, piece), status::backend_failed);
  EXPECT_EQ(memory->drain(), status::backend_failed);
  counters now;
  memory->read_counters(now);
  EXPECT_EQ(now.stuck_bytes, 64 * mib);
  EXPECT_EQ(at().fake.calls("cuMemAlloc") + at().fake.calls("cuMemFree"), asked);
  EXPECT_EQ(text_of(device_), why) << "the first of these is the reason of all";
  device_.drop_event(point);
}

TEST_F(cuda_device, goes_on_after_an_error_that_does_not_stay) {
  at().fake.fail("cuMemAlloc", 1, false, result::unknown);
  void* address = nullptr;
  EXPECT_EQ(device_.allocate(mib, default_stream, address), status::backend_failed);
  EXPECT_EQ(text_of(device_), "cuMemAlloc: CUDA_ERROR_UNKNOWN (999)");
  EXPECT_EQ(device_.allocate(mib, default_stream, address), status::ok);
  at().fake.fail("cuMemFree", 1, false, result::unknown);
  EXPECT_EQ(device_.free(address, mib), status::backend_failed);
  EXPECT_EQ(device_.free(address, mib), status::ok) << "it was still lent";
  at().fake.fail("cuCtxPushCurrent", 1, false, result::invalid_context);
  EXPECT_EQ(device_.allocate(mib, default_stream, address), status::backend_failed);
  EXPECT_EQ(text_of(device_), "cuCtxPushCurrent: CUDA_ERROR_INVALID_CONTEXT (201)");
  at().fake.fail("cuEventCreate", 1, false, result::out_of_memory);
  event point = event::none;
  EXPECT_EQ(device_.record_event(default_stream, point), status::backend_failed);
  EXPECT_EQ(device_.record_event(default_stream, point), status::ok);
  device_.drop_event(point);
}

TEST_F(cuda_device, of_a_full_device_is_out_of_memory_without_a_complaint) {
  void* address = nullptr;
  EXPECT_EQ(device_.allocate(std::size_t{25} << 30, default_stream, address), status::device_out_of_memory);
  EXPECT_EQ(text_of(device_), "");
}

}  // namespace
}  // namespace arcalloc
