// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>

#include <cstring>

#include "audit.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::mib;

TEST(host_backend, lends_real_memory_and_takes_it_back) {
  host_backend device(64 * mib);
  void* address = nullptr;
  ASSERT_EQ(device.allocate(2 * mib, default_stream, address), status::ok);
  std::memset(address, 0xA5, 2 * mib);
  EXPECT_EQ(device.lent_bytes(), 2 * mib);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % device.granularity(), 0U);
  EXPECT_EQ(device.free(address, 2 * mib), status::ok);
  EXPECT_EQ(device.lent_bytes(), 0U);
}

TEST(host_backend, enforces_its_size) {
  host_backend device(4 * mib);
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(device.allocate(3 * mib, default_stream, first), status::ok);
  EXPECT_EQ(device.allocate(2 * mib, default_stream, second), status::device_out_of_memory);
  EXPECT_EQ(second, nullptr);
  memory_info info;
  ASSERT_EQ(device.query_memory(info), status::ok);
  EXPECT_EQ(info.free_bytes, mib);
  EXPECT_EQ(info.total_bytes, 4 * mib);
  EXPECT_EQ(device.free(first, 3 * mib), status::ok);
}

TEST(host_backend, refuses_what_it_was_never_asked_properly) {
  host_backend device(4 * mib);
  void* address = nullptr;
  EXPECT_EQ(device.allocate(0, default_stream, address), status::invalid_argument);
  EXPECT_EQ(device.allocate(100, default_stream, address), status::invalid_argument);
  EXPECT_EQ(device.free(nullptr, 4096), status::invalid_argument);
}

TEST(host_backend, a_device_with_262_mebibytes_gets_its_cap_from_them_and_survives_1000_steps) {
  host_backend device(262 * mib);
  allocator* raw = nullptr;
  ASSERT_EQ(allocator::create(device, {}, raw), status::ok);
  const allocator_ptr memory(raw);
  EXPECT_EQ(memory->read_cap().cached_bytes_max * 4, 393 * mib);
  ASSERT_EQ(memory->begin_phase(phase::decode), status::ok);
  // Two growing buffers of 4 KiB a step each: an exact-size cache of 1 GiB would hold 16 GiB at the end.
  for (std::uint64_t step = 1; step <= 1000; ++step) {
    block pieces[2];
    for (block& piece : pieces) {
      ASSERT_EQ(memory->allocate(step * 4096, default_stream, piece), status::ok) << "step " << step;
      std::memset(piece.data(), 1, 4096);
    }
    for (const block& piece : pieces) ASSERT_EQ(memory->deallocate(piece), status::ok);
    memory->end_step();
  }
  counters said;
  memory->read_counters(said);
  EXPECT_LE(said.cached_bytes_peak, said.cached_bytes_max);
  EXPECT_LE(said.driver_allocs, 40U);
  EXPECT_TRUE(testing::check_invariants(*memory).empty());
}

}  // namespace
}  // namespace arcalloc
