// SPDX-License-Identifier: Apache-2.0
// What the fake driver's memory holds: written in the order of the streams, and not before somebody could have seen it.
#include <gtest/gtest.h>

#include <vector>

#include "loaded_fake.hpp"
#include "support/sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using cuda::capture_mode;
using cuda::result;
using cuda::stream_handle;
using testing::at;
using testing::kib;
using testing::non_blocking;

class fake_contents : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::settings how;
    how.has_contents = true;
    at().begin(how);
  }
  void TearDown() override {
    for (const std::string& one : at().fake.convictions(0)) ADD_FAILURE() << one;
    at().fake.reset({});
  }
  static cuda::device_address lent(std::size_t bytes = kib) {
    cuda::device_address address = 0;
    EXPECT_EQ(at().allocate(&address, bytes), result::success);
    return address;
  }
  /// What lies there once the legacy stream, and all that it waits for, has come so far.
  static int byte_at(cuda::device_address address) {
    unsigned char found = 0;
    EXPECT_EQ(at().copy_to_host(&found, address, 1), result::success);
    return found;
  }
};

TEST_F(fake_contents, of_a_copy_are_what_was_copied) {
  const cuda::device_address there = lent();
  const std::vector<unsigned char> out = {1, 2, 3, 4, 5};
  std::vector<unsigned char> back(5);
  ASSERT_EQ(at().copy_to_device(there + 100, out.data(), 5), result::success);
  const cuda::device_address other = lent();
  ASSERT_EQ(at().copy_on(other, there + 100, 5, nullptr), result::success);
  ASSERT_EQ(at().copy_to_host(back.data(), other, 5), result::success);
  EXPECT_EQ(back, out);
}

TEST_F(fake_contents, of_fresh_memory_are_marked) { EXPECT_EQ(byte_at(lent()), 0xDB); }

TEST_F(fake_contents, of_a_stream_that_nobody_waited_for_are_not_there_yet) {
  const cuda::device_address there = lent();
  stream_handle* const apart = at().make_stream(non_blocking);
  ASSERT_EQ(at().set(there, 7, kib, apart), result::success);
  EXPECT_EQ(byte_at(there), 0xDB) << "a non-blocking stream is apart from the copy";
  ASSERT_EQ(at().synchronise_stream(apart), result::success);
  EXPECT_EQ(byte_at(there), 7);
  ASSERT_EQ(at().set(there, 8, kib, at().make_stream(0)), result::success);
  EXPECT_EQ(byte_at(there), 8) << "a blocking one is ordered before it";
}

TEST_F(fake_contents, of_another_stream_are_there_after_its_event) {
  const cuda::device_address there = lent();
  stream_handle* const first = at().make_stream(non_blocking);
  stream_handle* const second = at().make_stream(non_blocking);
  cuda::event_handle* point = nullptr;
  ASSERT_EQ(at().create_event(&point, 2), result::success);
  ASSERT_EQ(at().set(there, 7, kib, first), result::success);
  ASSERT_EQ(at().record(point, first), result::success);
  ASSERT_EQ(at().wait(second, point, 0), result::success);
  unsigned char found = 0;
  ASSERT_EQ(at().copy_to_host_on(&found, there, 1, second), result::success);
  EXPECT_EQ(found, 0);
  ASSERT_EQ(at().synchronise_stream(second), result::success);
  EXPECT_EQ(found, 7);
}

TEST_F(fake_contents, are_there_after_a_free_since_it_synchronises) {
  const cuda::device_address there = lent();
  const cuda::device_address other = lent();
  stream_handle* const apart = at().make_stream(non_blocking);
  unsigned char found = 0;
  ASSERT_EQ(at().set(there, 7, kib, apart), result::success);
  ASSERT_EQ(at().copy_to_host_on(&found, there, 1, apart), result::success);
  EXPECT_EQ(found, 0);
  ASSERT_EQ(at().free(other), result::success);
  EXPECT_EQ(found, 7);
}

TEST_F(fake_contents, of_a_graph_are_written_at_each_launch) {
  const cuda::device_address there = lent();
  stream_handle* const on = at().make_stream(non_blocking);
  ASSERT_EQ(at().begin_capture(on, capture_mode::global), result::success);
  ASSERT_EQ(at().set(there, 9, kib, on), result::success);
  ASSERT_EQ(at().copy_on(there + 512, there, 1, on), result::success);
  fake_cuda::graph_handle* graph = nullptr;
  ASSERT_EQ(at().end_capture(on, &graph), result::success);
  fake_cuda::graph_handle* executable = nullptr;
  ASSERT_EQ(at().instantiate(&executable, graph, 0), result::success);
  EXPECT_EQ(byte_at(there), 0xDB) << "captured, and not done";
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_EQ(at().set(there, 1, kib, on), result::success);
    ASSERT_EQ(at().launch(executable, on), result::success);
    ASSERT_EQ(at().synchronise_stream(on), result::success);
    EXPECT_EQ(byte_at(there), 9);
    EXPECT_EQ(byte_at(there + 512), 9);
  }
}

}  // namespace
}  // namespace arcalloc
