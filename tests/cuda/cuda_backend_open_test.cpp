// SPDX-License-Identifier: Apache-2.0
// How a device is opened, and in which words it is refused.
#include <arcalloc/arcalloc.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arcalloc/cuda_backend.hpp>
#include <arcalloc/sim_backend.hpp>
#include <string>

#include "error_text.hpp"
#include "loaded_fake.hpp"
#include "support/sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using cuda::result;
using testing::at;
using testing::mib;
using testing::text_of;

cuda_options over(const char* driver) {
  cuda_options how;
  how.driver_path = driver;
  return how;
}

/// What opening it says: the status, then the sentence.
std::string refused(const cuda_options& how) {
  cuda_backend device;
  const status opened = device.open(how);
  return std::string(status_name(opened)).append(": ").append(text_of(device));
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

class cuda_open : public ::testing::Test {
 protected:
  void SetUp() override { at().fake.reset({}); }
};

TEST_F(cuda_open, says_what_the_device_is) {
  cuda_backend device;
  ASSERT_EQ(device.open(over(ARCALLOC_FAKE_CUDA)), status::ok);
  EXPECT_STREQ(device.name(), "cuda");
  EXPECT_STREQ(device.device_name(), "simulated device 0");
  EXPECT_EQ(device.driver_version(), 13000);
  EXPECT_EQ(device.ordinal(), 0);
  EXPECT_EQ(device.granularity(), 512U);
  EXPECT_FALSE(device.synchronous());
  EXPECT_EQ(text_of(device), "");
  EXPECT_EQ(device.open(over(ARCALLOC_FAKE_CUDA)), status::invalid_argument) << "it is open";
}

TEST_F(cuda_open, without_a_driver_says_which_file_is_missing) {
  const std::string said = refused(over("/nonexistent/libcuda.so.1"));
  EXPECT_TRUE(contains(said, "backend_unavailable: no CUDA driver: /nonexistent/libcuda.so.1")) << said;
}

TEST_F(cuda_open, of_a_library_that_is_no_driver_says_so) {
  const std::string said = refused(over(ARCALLOC_STUB_OF_NOTHING));
  EXPECT_TRUE(contains(said, "backend_unavailable: cuDriverGetVersion is missing")) << said;
}

TEST_F(cuda_open, of_an_old_driver_names_the_function_and_the_version) {
  EXPECT_EQ(refused(over(ARCALLOC_STUB_OF_10_2)),
            "backend_unavailable: the driver (CUDA 10.2) has no cuDevicePrimaryCtxRelease_v2, which came with CUDA "
            "11.0; arcalloc needs CUDA 11.0 or newer");
}

TEST_F(cuda_open, without_pools_refuses_the_stream_ordered_source_alone) {
  cuda_options how = over(ARCALLOC_STUB_OF_11_0);
  how.source = cuda_source::stream_ordered;
  const std::string said = refused(how);
  EXPECT_TRUE(contains(said, "backend_unavailable: the driver (CUDA 11.0) has no memory pools")) << said;
  cuda_backend device;
  EXPECT_EQ(device.open(over(ARCALLOC_STUB_OF_11_0)), status::ok);
  EXPECT_STREQ(device.device_name(), "");
}

TEST_F(cuda_open, asks_an_old_driver_in_the_old_way_for_captures) {
  cuda_backend device;
  ASSERT_EQ(device.open(over(ARCALLOC_STUB_OF_11_0)), status::ok);
  cuda_capture found;
  EXPECT_EQ(device.query_capture(stream{0x40}, found), status::ok);
  EXPECT_EQ(found.now, cuda_capture::state::ongoing);
  EXPECT_EQ(found.id, 7U);
}

TEST_F(cuda_open, keeps_no_memory_that_is_not_aligned) {
  cuda_backend device;
  ASSERT_EQ(device.open(over(ARCALLOC_STUB_OF_11_0)), status::ok);
  void* address = &device;
  EXPECT_EQ(device.allocate(512, default_stream, address), status::backend_failed);
  EXPECT_EQ(address, nullptr);
  EXPECT_TRUE(contains(text_of(device), "not aligned")) << text_of(device);
  void* const stub = ::dlopen(ARCALLOC_STUB_OF_11_0, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(stub, nullptr);
  EXPECT_EQ(*static_cast<int*>(::dlsym(stub, "stub_frees")), 1);
}

TEST_F(cuda_open, says_what_init_said) {
  const auto said = [](result answer) {
    at().fake.fail("cuInit", 1, false, answer);
    return refused(over(ARCALLOC_FAKE_CUDA));
  };
  EXPECT_EQ(said(result::no_device), "backend_unavailable: cuInit: the driver sees no device");
  EXPECT_TRUE(contains(said(result::stub_library), "the toolkit's stub"));
  EXPECT_EQ(said(result::unknown), "backend_unavailable: cuInit: CUDA_ERROR_UNKNOWN (999)");
}

TEST_F(cuda_open, counts_the_devices_that_there_are) {
  cuda_options how = over(ARCALLOC_FAKE_CUDA);
  for (const int ordinal : {1, -1}) {
    how.ordinal = ordinal;
    EXPECT_EQ(refused(how), "backend_unavailable: there is no device " + std::to_string(ordinal) +
                                ": the driver (CUDA 13.0) sees 1, numbered from 0");
  }
}

TEST_F(cuda_open, refuses_a_granularity_that_is_none) {
  cuda_options how = over(ARCALLOC_FAKE_CUDA);
  for (const std::size_t granularity : {std::size_t{0}, std::size_t{768}}) {
    how.granularity = granularity;
    EXPECT_TRUE(contains(refused(how), "invalid_argument: a granularity of")) << granularity;
  }
}

TEST_F(cuda_open, gives_the_primary_context_back) {
  {
    cuda_backend device;
    ASSERT_EQ(device.open(over(ARCALLOC_FAKE_CUDA)), status::ok);
    EXPECT_EQ(at().fake.calls("cuDevicePrimaryCtxRetain"), 1U);
  }
  EXPECT_EQ(at().fake.calls("cuDevicePrimaryCtxRelease"), 1U);
}

TEST_F(cuda_open, takes_the_callers_context_where_that_is_wanted) {
  cuda_options how = over(ARCALLOC_FAKE_CUDA);
  how.context = cuda_context::current;
  EXPECT_TRUE(contains(refused(how), "invalid_argument: no context is current on this thread"));
  cuda::context_handle* made = nullptr;
  ASSERT_EQ(at().create_context(&made, 0, 0), result::success);
  {
    cuda_backend device;
    ASSERT_EQ(device.open(how), status::ok);
    EXPECT_EQ(device.context(), made);
    void* address = nullptr;
    EXPECT_EQ(device.allocate(mib, default_stream, address), status::ok);
    EXPECT_EQ(device.free(address, mib), status::ok);
  }
  EXPECT_EQ(at().fake.calls("cuDevicePrimaryCtxRetain"), 0U);
  EXPECT_EQ(at().fake.calls("cuDevicePrimaryCtxRelease"), 0U);
}

TEST_F(cuda_open, keeps_several_devices_apart) {
  fake_cuda::settings two;
  two.devices.resize(2);
  at().fake.reset(two);
  cuda_backend devices[2];
  for (int ordinal = 0; ordinal < 2; ++ordinal) {
    cuda_options how = over(ARCALLOC_FAKE_CUDA);
    how.ordinal = ordinal;
    ASSERT_EQ(devices[ordinal].open(how), status::ok);
  }
  void* address = nullptr;
  ASSERT_EQ(devices[1].allocate(mib, default_stream, address), status::ok);
  EXPECT_EQ(at().fake.device(0).lent_bytes(), 0U);
  EXPECT_EQ(at().fake.device(1).lent_bytes(), mib);
  EXPECT_EQ(devices[1].free(address, mib), status::ok);
}

/// The exit status of a child of this process that runs it.
int in_a_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int ended = 0;
  return ::waitpid(child, &ended, 0) == child && WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

TEST_F(cuda_open, refuses_a_forked_child_in_words) {
  cuda_backend device;
  ASSERT_EQ(device.open(over(ARCALLOC_FAKE_CUDA)), status::ok);
  void* address = nullptr;
  ASSERT_EQ(device.allocate(mib, default_stream, address), status::ok);
  event point = event::none;
  ASSERT_EQ(device.record_event(default_stream, point), status::ok);
  const std::uint64_t calls = at().fake.calls("cuMemAlloc");
  EXPECT_EQ(in_a_child([&] {
              void* other = nullptr;
              event fresh = event::none;
              bool finished = false;
              memory_info info;
              bool is_right = device.allocate(mib, default_stream, other) == status::backend_unavailable;
              is_right = is_right && contains(text_of(device), "was forked from process");
              is_right = is_right && device.free(address, mib) == status::backend_unavailable;
              is_right = is_right && device.query_memory(info) == status::backend_unavailable;
              is_right = is_right && device.record_event(default_stream, fresh) == status::backend_unavailable;
              is_right = is_right && device.query_event(point, finished) == status::backend_unavailable && !finished;
              is_right = is_right && device.wait_event(point) == status::backend_unavailable;
              device.trim();
              is_right = is_right && contains(refused(over(ARCALLOC_FAKE_CUDA)), "was forked from process");
              return is_right && at().fake.calls("cuMemAlloc") == calls;
            }),
            0);
  device.drop_event(point);
  EXPECT_EQ(device.free(address, mib), status::ok) << "in the parent nothing has changed";
}

TEST_F(cuda_open, from_c) {
  arcalloc_cuda_options how{};
  how.size = sizeof how;
  how.driver_path = "/nonexistent/libcuda.so.1";
  arcalloc_device* device = nullptr;
  char text[200] = "left";
  EXPECT_EQ(arcalloc_cuda_device_create(&how, nullptr, text, sizeof text), ARCALLOC_INVALID_ARGUMENT);
  EXPECT_EQ(arcalloc_cuda_device_create(&how, &device, nullptr, 1), ARCALLOC_INVALID_ARGUMENT);
  EXPECT_EQ(arcalloc_cuda_device_create(&how, &device, nullptr, 0), ARCALLOC_BACKEND_UNAVAILABLE);
  EXPECT_EQ(arcalloc_cuda_device_create(&how, &device, text, sizeof text), ARCALLOC_BACKEND_UNAVAILABLE);
  EXPECT_EQ(device, nullptr);
  EXPECT_TRUE(contains(text, "no CUDA driver: ")) << text;
  how.driver_path = ARCALLOC_FAKE_CUDA;
  how.source = 2;
  EXPECT_EQ(arcalloc_cuda_device_create(&how, &device, text, sizeof text), ARCALLOC_INVALID_ARGUMENT);
  how.source = ARCALLOC_CUDA_SOURCE_STREAM_ORDERED;
  how.context = ARCALLOC_CUDA_CONTEXT_CURRENT;
  EXPECT_EQ(arcalloc_cuda_device_create(&how, &device, text, sizeof text), ARCALLOC_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(text, "no context is current")) << text;
  how.context = ARCALLOC_CUDA_CONTEXT_PRIMARY;
  how.granularity = 2 * mib;
  ASSERT_EQ(arcalloc_cuda_device_create(&how, &device, text, sizeof text), ARCALLOC_OK);
  EXPECT_STREQ(text, "");
  EXPECT_STREQ(arcalloc_device_name(device), "cuda");
  arcalloc_allocator* memory = nullptr;
  ASSERT_EQ(arcalloc_create(device, nullptr, &memory), ARCALLOC_OK);
  arcalloc_block piece{};
  EXPECT_EQ(arcalloc_allocate(memory, 1000, 0, &piece), ARCALLOC_OK);
  EXPECT_EQ(at().fake.device(0).lent_bytes(), 2 * mib);
  EXPECT_EQ(arcalloc_deallocate(memory, piece), ARCALLOC_OK);
  EXPECT_EQ(arcalloc_device_error_text(device, text, sizeof text), 0);
  at().fake.fail("cuMemAlloc", 1, true, result::unknown);
  at().fake.fail("cuMemAllocFromPoolAsync", 1, true, result::unknown);
  EXPECT_EQ(arcalloc_allocate(memory, 100 * mib, 0, &piece), ARCALLOC_BACKEND_FAILED);
  EXPECT_GT(arcalloc_device_error_text(device, text, sizeof text), 0);
  EXPECT_STREQ(text, "cuMemAllocFromPoolAsync: CUDA_ERROR_UNKNOWN (999)");
  arcalloc_destroy(memory);
  EXPECT_EQ(arcalloc_device_destroy(device), ARCALLOC_OK);
  EXPECT_EQ(at().fake.device(0).lent_bytes(), 0U);
}

}  // namespace
}  // namespace arcalloc
