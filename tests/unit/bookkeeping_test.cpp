// SPDX-License-Identifier: Apache-2.0
// What the allocator keeps in host memory about itself: it follows what is there at one time, not how long it has run.

#include <gtest/gtest.h>

#include "capturing_engine.hpp"
#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::bookkeeping_bytes;
using testing::capped;
using testing::capturing_engine;
using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
using testing::small_world;

/// A record lost in every round would take more than a chunk of host memory in these.
constexpr int rounds = 3000;

template <class Engine, class Round>
void expect_no_growth(Engine& at, Round round) {
  for (int turn = 0; turn < 40; ++turn) round(turn);
  const std::uint64_t before = bookkeeping_bytes(*at.memory);
  for (int turn = 0; turn < rounds; ++turn) round(turn);
  EXPECT_EQ(bookkeeping_bytes(*at.memory), before);
  at.check();
}

TEST(bookkeeping, of_graphs_is_reused) {
  small_world at;
  expect_no_growth(at, [&](int turn) {
    graph_id made[2] = {};
    for (graph_id& one : made) {
      EXPECT_EQ(at.memory->begin_capture(s1, {capture_policy::as_configured, pool_group{turn % 2 == 0 ? 0U : 7U}}),
                status::ok);
      EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
      at.put(at.get(3000, s1));
      at.put(at.get(mib, s2));
      EXPECT_EQ(at.memory->end_capture(s1, one), status::ok);
      EXPECT_EQ(at.memory->note_replay(one, s3), status::ok);
      EXPECT_EQ(at.memory->note_replay(one, s3), status::ok);
    }
    for (const graph_id one : made) EXPECT_EQ(at.memory->release_graph(one), status::ok);
    EXPECT_EQ(at.now().graphs_pinned, 0U);
    EXPECT_EQ(at.memory->drain(), status::ok);
  });
}

TEST(bookkeeping, of_windows_that_are_aborted_is_reused) {
  small_world at;
  expect_no_growth(at, [&](int) {
    EXPECT_EQ(at.memory->begin_capture(s1, {capture_policy::refuse, pool_group{3}}), status::ok);
    EXPECT_EQ(at.memory->join_capture(s2, s1), status::ok);
    block refused;
    EXPECT_EQ(at.memory->allocate(3 * mib, s1, refused), status::capture_miss);
    EXPECT_EQ(at.memory->allocate(20 * mib, s2, refused), status::capture_miss);
    EXPECT_EQ(at.memory->read_capture_misses(nullptr, 0), 2U);
    EXPECT_EQ(at.memory->abort_capture(s1), status::ok);
  });
}

TEST(bookkeeping, of_uses_and_events_is_reused) {
  capturing_engine at;
  expect_no_growth(at, [&](int) {
    const block shared = at.get(3000, s1);
    const block single = at.get(20 * mib, s1);
    for (const stream on : {s2, s3}) {
      at.use(shared, 3000, on);
      at.use(single, 20 * mib, on);
    }
    at.put(shared);
    at.put(single);
    EXPECT_EQ(at.memory->trim(0), status::ok);
    EXPECT_EQ(at.now().pending_bytes, 0U);
  });
  at.memory.reset();
  at.device.convict_leaks();
  EXPECT_TRUE(at.device.convictions().empty()) << at.device.convictions().front();
}

TEST(bookkeeping, of_ended_streams_is_reused) {
  capturing_engine at;
  const block kept = at.get(3000, s3);
  expect_no_growth(at, [&](int turn) {
    const stream passing{100 + static_cast<std::uint64_t>(turn) % 3};
    at.put(at.get(3000, passing));
    EXPECT_EQ(at.memory->end_stream(passing), status::ok);
  });
  at.put(kept);
}

TEST(bookkeeping, of_streams_that_end_in_the_middle_of_work_is_reused) {
  capturing_engine at(capped(64 * mib));
  expect_no_growth(at, [&](int turn) {
    const stream passing{100 + static_cast<std::uint64_t>(turn) % 3};
    at.device.busy(passing);
    at.put(at.get(3000, passing));
    EXPECT_EQ(at.memory->end_stream(passing), status::ok);
    at.device.finish(passing);
  });
}

TEST(bookkeeping, of_profiles_is_reused) {
  small_world at;
  expect_no_growth(at, [&](int) {
    EXPECT_EQ(at.memory->begin_profile(), status::ok);
    at.put(at.get(3000, s1));
    at.put(at.get(20 * mib, s2));
    profile seen;
    EXPECT_EQ(at.memory->end_profile(seen), status::ok);
    EXPECT_EQ(seen.entries().size(), 2U);
  });
}

TEST(bookkeeping, of_segments_that_come_and_go_is_reused) {
  small_world at(capped(0));
  expect_no_growth(at, [&](int) {
    at.put(at.get(3000, s1));
    at.put(at.get(300000, s1));
    at.put(at.get(20 * mib, s2));
    block refused;
    at.device.fail_allocate = {1, true, status::backend_failed};
    EXPECT_EQ(at.memory->allocate(3000, s1, refused), status::backend_failed);
    EXPECT_EQ(at.memory->allocate(20 * mib, s1, refused), status::backend_failed);
    at.device.fail_allocate = {};
    EXPECT_EQ(at.now().reserved_bytes, 0U);
  });
}

TEST(bookkeeping, of_runs_of_changing_classes_is_reused) {
  small_world at;
  const block kept = at.get(512);
  expect_no_growth(at, [&](int turn) {
    const std::uint64_t sizes[] = {1000, 3000, 70000, 300000};
    block pieces[4];
    for (int i = 0; i < 4; ++i) pieces[i] = at.get(sizes[(i + turn) % 4]);
    for (const block& piece : pieces) at.put(piece);
    if (turn % 5 == 0) at.put(at.get(2 * mib - 600000));
  });
  at.put(kept);
}

}  // namespace
}  // namespace arcalloc
