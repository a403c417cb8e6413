// SPDX-License-Identifier: Apache-2.0
#include "trace/replay/trace_replay.hpp"

#include <gtest/gtest.h>
#include <arcalloc/host_backend.hpp>

#include "reading.hpp"

namespace arcalloc::trace {
namespace {

options capped(std::uint64_t bytes) {
  options settings;
  settings.cached_bytes_max = {bound_mode::explicit_bytes, bytes};
  return settings;
}

/// Plays the events on a simulated device of so many bytes, with a granule of 2 MiB.
replay_result play(const std::vector<event>& events, std::uint64_t device_bytes = 64 * mib,
                   const options& settings = capped(64 * mib)) {
  sim_options described;
  described.memory_bytes = device_bytes;
  described.granularity = 2 * mib;
  sim_backend device(described);
  trace_replay replay("t", device, &device, settings);
  for (const event& one : events) replay.take(one);
  return replay.finish();
}

std::string refusal_of_play(const std::vector<event>& events) {
  try {
    (void)play(events);
  } catch (const trace_error& error) {
    return error.message;
  }
  ADD_FAILURE() << "was not refused";
  return "";
}

TEST(trace_replay, serves_what_the_trace_served_and_counts_it) {
  const replay_result found = play({allocated(1, 9 * mib / 4), event_of(event_kind::step), allocated(2, 3 * mib / 2),
                                    event_of(event_kind::free, 1), event_of(event_kind::step),
                                    allocated(1, 9 * mib / 4), event_of(event_kind::step)});
  EXPECT_FALSE(found.refusal);
  EXPECT_EQ(found.convictions, std::vector<std::string>());
  EXPECT_EQ(found.requested_bytes_peak, 15 * mib / 4);
  EXPECT_EQ(found.steps, 3U);
  EXPECT_EQ(found.driver_calls_step_max, 1U);
  EXPECT_EQ(found.driver_calls_first_step, 1U);
  EXPECT_EQ(found.last.requests, 3U);
  EXPECT_EQ(found.last.hits, 2U);  // the second block fits behind the first
  EXPECT_EQ(found.last.steps, 3U);
  EXPECT_GT(found.device_ns, 0U);
}

TEST(trace_replay, ends_at_the_first_request_that_is_refused) {
  const replay_result found = play({allocated(1, 40 * mib), allocated(2, 40 * mib), allocated(3, mib)});
  ASSERT_TRUE(found.refusal);
  EXPECT_EQ(found.refusal->event, 2U);
  EXPECT_EQ(found.refusal->outcome, status::device_out_of_memory);
  EXPECT_EQ(found.refusal->bytes, 40 * mib);
  EXPECT_EQ(found.refusal->record.allocated_bytes, 40 * mib);
  EXPECT_EQ(found.requested_bytes_peak, 40 * mib);
  EXPECT_EQ(found.last.requests, 2U);
  EXPECT_EQ(found.convictions, std::vector<std::string>());
}

TEST(trace_replay, asks_for_what_the_trace_s_own_allocator_refused) {
  event refused = event_of(event_kind::refusal);
  refused.bytes = 20 * mib;
  event hopeless = refused;
  hopeless.bytes = 80 * mib;
  const replay_result found = play({allocated(1, 40 * mib), refused, hopeless, event_of(event_kind::free, 1)});
  EXPECT_FALSE(found.refusal);
  EXPECT_EQ(found.refusals_recorded, 2U);
  EXPECT_EQ(found.refusals_served, 1U);
  EXPECT_EQ(found.requested_bytes_peak, 40 * mib);
}

TEST(trace_replay, keeps_the_streams_of_blocks_apart) {
  // Whatever numbers they have, also those that mean something to arcalloc.
  for (const std::uint64_t strange : {std::uint64_t{7}, UINT64_MAX, std::uint64_t{3} << 62, std::uint64_t{1} << 63}) {
    const replay_result found = play({allocated(1, 20 * mib, strange), event_of(event_kind::use, 1, 9),
                                      event_of(event_kind::free, 1, strange), allocated(2, 20 * mib, strange)});
    EXPECT_FALSE(found.refusal);
    EXPECT_EQ(found.last.driver_events, 1U) << "the use on another stream is waited for";
    EXPECT_EQ(found.convictions, std::vector<std::string>());
  }
}

TEST(trace_replay, enters_phases_and_gives_back_when_told) {
  event prefill = event_of(event_kind::phase);
  prefill.entered = phase::prefill;
  event trim = event_of(event_kind::trim);
  trim.bytes = 2 * mib;
  const std::vector<event> played = {allocated(1, 20 * mib), allocated(2, 20 * mib), event_of(event_kind::free, 1),
                                     event_of(event_kind::free, 2)};
  const auto with = [&](const event& last) {
    std::vector<event> all = played;
    all.push_back(last);
    return play(all).last;
  };
  EXPECT_EQ(with(event_of(event_kind::step)).cached_bytes, 40 * mib);
  EXPECT_EQ(with(prefill).cached_bytes, 0U);
  EXPECT_EQ(with(event_of(event_kind::drain)).cached_bytes, 0U);
  EXPECT_EQ(with(trim).cached_bytes, 0U);
}

TEST(trace_replay, plays_captures_and_their_graphs) {
  const replay_result found = play(
      {event_of(event_kind::capture_begin, 0, 1), allocated(1, mib, 1), event_of(event_kind::free, 1, 1),
       event_of(event_kind::capture_end, 5, 1), event_of(event_kind::graph_launch, 5, 1), event_of(event_kind::drain),
       event_of(event_kind::capture_begin, 0, 1), event_of(event_kind::capture_abort, 0, 1)});
  EXPECT_FALSE(found.refusal);
  EXPECT_EQ(found.last.graphs_pinned, 1U);
  EXPECT_EQ(found.last.pinned_bytes, mib);
  EXPECT_EQ(found.convictions, std::vector<std::string>());
  EXPECT_EQ(play({event_of(event_kind::capture_begin, 0, 1), allocated(1, mib, 1), event_of(event_kind::free, 1, 1),
                  event_of(event_kind::capture_end, 5, 1), event_of(event_kind::release_graph, 5)})
                .last.graphs_pinned,
            0U);
}

TEST(trace_replay, leaves_the_trace_s_own_driver_calls_to_arcalloc) {
  event own = event_of(event_kind::segment_allocate);
  own.bytes = 40 * mib;
  const replay_result found = play({own, event_of(event_kind::snapshot), allocated(1, mib)});
  EXPECT_EQ(found.last.reserved_bytes, 2 * mib);
}

TEST(trace_replay, refuses_what_cannot_be_played_by_the_number_of_the_event) {
  event elsewhere = allocated(2, mib);
  elsewhere.device = 3;
  EXPECT_EQ(refusal_of_play({allocated(1, mib), elsewhere}),
            "t: event 2 is of device 3, those before of device 0; --trace-device chooses one");
  EXPECT_EQ(refusal_of_play({event_of(event_kind::free, 4)}), "t: event 1 frees a block that is not live");
  EXPECT_EQ(refusal_of_play({event_of(event_kind::use, 4)}), "t: event 1 uses a block that is not live");
  EXPECT_EQ(refusal_of_play({event_of(event_kind::graph_launch, 4)}), "t: event 1 launches no graph of the trace");
  EXPECT_EQ(refusal_of_play({event_of(event_kind::release_graph, 4)}), "t: event 1 releases no graph of the trace");
  EXPECT_EQ(refusal_of_play({event_of(event_kind::capture_end, 4)}),
            "t: event 1 (capture_end) cannot be played: invalid_argument");
  EXPECT_EQ(refusal_of_play({event_of(event_kind::capture_abort, 4)}),
            "t: event 1 (capture_abort) cannot be played: invalid_argument");
}

TEST(trace_replay, goes_over_host_memory_too) {
  host_backend device(64 * mib);
  trace_replay replay("t", device, nullptr, capped(8 * mib));
  for (std::uint64_t i = 0; i < 100; ++i) {
    replay.take(allocated(i, (i % 7 + 1) * 100000));
    if (i >= 3) replay.take(event_of(event_kind::free, i - 3));
  }
  const replay_result found = replay.finish();
  EXPECT_FALSE(found.refusal);
  EXPECT_EQ(found.device_ns, 0U);
  EXPECT_EQ(found.last.requests, 100U);
}

/// What PyTorch 2.6 reserved at its peak over the true peak, for the same events from empty.
struct real_trace {
  const char* file;
  double pytorch_reserved;
};

TEST(trace_replay, of_real_traces_reserves_no_more_than_pytorch_did) {
  for (const real_trace& one :
       {real_trace{"snapshots/inference_512.pickle", 1.345}, real_trace{"snapshots/inference_1024.pickle", 1.265},
        real_trace{"snapshots/training_512.pickle", 1.022}, real_trace{"snapshots/training_large.pickle", 1.004},
        real_trace{"snapshots/compiled.pickle", 1.076}, real_trace{"snapshots/attention_small.pickle", 1.164},
        real_trace{"snapshots/opt125m_cold.pickle", 1.064}}) {
    const std::optional<std::string> file = shared_file(one.file);
    if (!file) GTEST_SKIP() << "no traces: set ARCALLOC_SHARED to a folder with data/snapshots";
    sim_options described;
    described.memory_bytes = std::uint64_t{80} << 30;
    described.granularity = 2 * mib;
    sim_backend device(described);
    trace_replay replay(*file, device, &device, capped(40 * mib));
    read_options from_empty;
    from_empty.from_empty = true;
    (void)read_trace(*file, from_empty, replay);
    const replay_result found = replay.finish();
    EXPECT_FALSE(found.refusal) << one.file;
    EXPECT_EQ(found.convictions, std::vector<std::string>()) << one.file;
    const double ratio =
        static_cast<double>(found.last.reserved_bytes_peak) / static_cast<double>(found.requested_bytes_peak);
    EXPECT_LE(ratio, one.pytorch_reserved) << one.file;
  }
}

}  // namespace
}  // namespace arcalloc::trace
