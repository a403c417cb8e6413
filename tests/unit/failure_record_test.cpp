// SPDX-License-Identifier: Apache-2.0
// What is kept of a request that failed: every figure of that moment, and its text.
#include <gtest/gtest.h>

#include <string>

#include "simulated_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::capped;
using testing::mib;
using testing::simulated_engine;
using testing::small_world;

TEST(failure_record, has_the_figures_of_the_moment) {
  options settings = capped(64 * mib);
  settings.capacity_bytes = 200 * mib;
  simulated_engine at(settings, {.memory_bytes = 100 * mib});
  (void)at.get(40 * mib, stream{7});
  const block waiting = at.get(20 * mib, stream{7});
  at.use(waiting, 20 * mib, stream{8});
  at.device.plan_fault(sim_call::wait_event, 1, true, status::backend_failed);
  at.device.busy(stream{8});
  at.put(waiting);
  block refused;
  ASSERT_EQ(at.try_get(50 * mib, stream{7}, refused), status::device_out_of_memory);
  const failure_record record = at.memory->last_failure();
  EXPECT_EQ(record.outcome, status::device_out_of_memory);
  EXPECT_EQ(record.requested_bytes, 50 * mib);
  EXPECT_EQ(record.class_bytes, 52 * mib);
  EXPECT_EQ(record.on, stream{7});
  EXPECT_EQ(record.allocated_bytes, 40 * mib);
  EXPECT_EQ(record.pending_bytes, 20 * mib);
  EXPECT_EQ(record.cached_bytes, 0U);
  EXPECT_EQ(record.slack_bytes, 0U);
  EXPECT_EQ(record.stuck_bytes, 0U);
  EXPECT_EQ(record.reserved_bytes, 60 * mib);
  EXPECT_EQ(record.cached_bytes_max, 64 * mib);
  EXPECT_EQ(record.capacity_bytes, 200 * mib);
  EXPECT_EQ(record.driver_free_bytes, 40 * mib);
  EXPECT_EQ(record.largest_idle_bytes, 0U);
  at.device.finish(stream{8});
}

TEST(failure_record, says_how_large_a_block_would_have_been_served) {
  small_world at(capped(0), 4 * mib);
  std::vector<block> pieces;
  for (int i = 0; i < 64; ++i) pieces.push_back(at.get(32 * 1024));
  block refused;
  ASSERT_EQ(at.memory->allocate(3 * mib, default_stream, refused), status::device_out_of_memory);
  EXPECT_EQ(at.memory->last_failure().largest_idle_bytes, 0U) << "all of the one segment is live";
  EXPECT_EQ(at.memory->last_failure().slack_bytes, 0U);
  at.put(pieces[5]);
  ASSERT_EQ(at.memory->allocate(3 * mib, default_stream, refused), status::device_out_of_memory);
  EXPECT_EQ(at.memory->last_failure().largest_idle_bytes, 32U * 1024) << "an idle block in a partly used segment";
  EXPECT_EQ(at.memory->last_failure().slack_bytes, 32U * 1024);
}

TEST(failure_record, counts_units_that_no_run_has_taken_as_idle) {
  small_world at(capped(0), 4 * mib);
  (void)at.get(512 * 1024);
  block refused;
  ASSERT_EQ(at.memory->allocate(3 * mib, default_stream, refused), status::device_out_of_memory);
  EXPECT_EQ(at.memory->last_failure().largest_idle_bytes, 2 * mib - 512 * 1024);
}

TEST(failure_record, knows_what_the_driver_would_not_say) {
  small_world at(capped(0), 4 * mib);
  at.device.fail_query = status::backend_failed;
  block refused;
  ASSERT_EQ(at.memory->allocate(5 * mib, default_stream, refused), status::device_out_of_memory);
  EXPECT_EQ(at.memory->last_failure().driver_free_bytes, ARCALLOC_NO_BOUND);
}

TEST(failure_text, fits_any_buffer) {
  const failure_record record{};
  char whole[1024];
  const std::size_t length = format_failure(record, whole, sizeof whole);
  EXPECT_EQ(length, std::string(whole).size());
  char text[16];
  EXPECT_EQ(format_failure(record, text, sizeof text), 15U);
  EXPECT_EQ(std::string(text), std::string(whole).substr(0, 15));
  EXPECT_EQ(format_failure(record, text, 0), 0U);
  std::vector<char> exact(length + 1);
  EXPECT_EQ(format_failure(record, exact.data(), length + 1), length);
  EXPECT_EQ(format_failure(record, exact.data(), length), length - 1) << "the last place is the terminator's";
}

}  // namespace
}  // namespace arcalloc
