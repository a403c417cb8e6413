// SPDX-License-Identifier: Apache-2.0
// What hits are noted as, and what comes of it: many with little in common, and blocks that lie far from each other.
#include <gtest/gtest.h>

#include <vector>

#include "recorded_events.hpp"
#include "simulated_engine.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::kib;
using testing::recorded_events;
using testing::simulated_engine;
constexpr std::uint64_t tib = std::uint64_t{1} << 40;

class noting_engine : public simulated_engine {
 public:
  using simulated_engine::simulated_engine;
  void record() { EXPECT_EQ(memory->begin_recording(kept.sink()), status::ok); }

  /// A block and its free, as they should have been recorded.
  void pair(std::uint64_t bytes, stream on, bool by_address = false) {
    const block piece = get(bytes, on);
    device.handed_back(piece.data());
    EXPECT_EQ(by_address ? memory->deallocate(piece.data()) : memory->deallocate(piece), status::ok);
    const auto address = reinterpret_cast<std::uint64_t>(piece.data());
    expected.push_back({ARCALLOC_RECORDED_ALLOCATE, address, bytes, on});
    expected.push_back({ARCALLOC_RECORDED_FREE, address, 0, on});
  }
  void expect_all() {
    EXPECT_EQ(memory->end_recording(), status::ok);
    std::size_t next = 0;
    for (const recorded_event& one : kept.all) {
      if (one.kind > ARCALLOC_RECORDED_FREE || one.before != 0) continue;
      ASSERT_LT(next, expected.size());
      const hit& wanted = expected[next];
      ASSERT_EQ(one.kind, wanted.kind) << next;
      ASSERT_EQ(one.id, wanted.address) << next;
      ASSERT_EQ(one.bytes, wanted.bytes) << next;
      ASSERT_EQ(one.stream, static_cast<std::uint64_t>(wanted.on)) << next;
      ++next;
    }
    EXPECT_EQ(next, expected.size());
    EXPECT_EQ(memory->read_recording().lost, 0U);
    EXPECT_EQ(memory->read_recording().events, kept.all.size());
  }

  struct hit {
    int kind;
    std::uint64_t address;
    std::uint64_t bytes;
    stream on;
  };
  recorded_events kept;
  std::vector<hit> expected;
};

TEST(recorded_hits, of_streams_in_turn_fill_pages_with_what_they_do_not_share) {
  noting_engine at;
  at.record();
  for (int i = 0; i < 3000; ++i) {
    for (const std::uint64_t number : {1U, 2U, 3U}) at.pair(100 * number, stream{number}, i % 3 == 0);
  }
  at.expect_all();
}

TEST(recorded_hits, after_every_step_have_its_number) {
  noting_engine at;
  at.pair(100, default_stream);
  at.expected.clear();
  at.record();
  for (int i = 0; i < 700; ++i) {
    at.pair(100, default_stream);
    at.memory->end_step();
  }
  at.expect_all();
  std::uint64_t steps = 0;
  std::uint64_t hits = 0;
  for (const recorded_event& one : at.kept.all) {
    if (one.kind == ARCALLOC_RECORDED_STEP) ++steps;
    if (one.kind <= ARCALLOC_RECORDED_FREE) {
      ASSERT_EQ(hits++ / 2, steps) << "between the steps that they were made between";
    }
  }
  EXPECT_EQ(steps, 700U);
}

TEST(recorded_hits, of_blocks_that_lie_terabytes_from_each_other) {
  sim_options described;
  described.memory_bytes = 8 * tib;
  noting_engine at({}, described);
  std::vector<block> kept_out;
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    kept_out.push_back(at.get(100, stream{number}));
    kept_out.push_back(at.get(2 * tib, stream{number}));
  }
  const auto first = reinterpret_cast<std::uint64_t>(kept_out[0].data());
  const auto last = reinterpret_cast<std::uint64_t>(kept_out[4].data());
  ASSERT_GT(last - first, 2 * tib) << "far apart was meant";
  at.record();
  for (int i = 0; i < 600; ++i) {
    at.pair(100, stream{1});
    at.pair(100, stream{3}, true);
    at.pair(100, stream{2});
  }
  at.expect_all();
  for (const block& one : kept_out) at.put(one);
  at.check();
}

}  // namespace
}  // namespace arcalloc
