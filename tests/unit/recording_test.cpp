// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "recorded_events.hpp"
#include "simulated_engine.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::kib;
using testing::mib;
using testing::recorded_events;
using testing::simulated_engine;
constexpr stream first_stream{1};
constexpr stream second_stream{2};

class engine : public simulated_engine {
 public:
  using simulated_engine::simulated_engine;
  void record() { EXPECT_EQ(memory->begin_recording(kept.sink()), status::ok); }
  std::string end() {
    EXPECT_EQ(memory->end_recording(), status::ok);
    return kept.text();
  }
  recorded_events kept;
};

TEST(recording, says_what_was_called_in_order) {
  engine at;
  at.record();
  const block small = at.get(100);
  const block large = at.get(40 * mib, first_stream);
  at.use(large, 40 * mib, second_stream);
  at.put(small);
  at.memory->end_step();
  const block again = at.get(100);
  at.put(large);
  EXPECT_EQ(at.memory->begin_phase(phase::decode), status::ok);
  EXPECT_EQ(at.memory->begin_phase(phase::decode), status::ok);  // no event: nothing changes
  at.put(again);
  EXPECT_EQ(at.memory->trim(7 * mib), status::ok);
  EXPECT_EQ(at.memory->drain(), status::ok);
  EXPECT_EQ(at.memory->end_stream(first_stream), status::ok);
  EXPECT_EQ(at.end(),
            "allocate 100, allocate 41943040 @1, use @2, free, step, allocate 100, free @1, phase, free, "
            "trim 7340032, drain, stream_end @1");
  EXPECT_EQ(at.kept.closes, 1U);
}

TEST(recording, says_what_windows_and_graphs_did) {
  engine at;
  at.record();
  EXPECT_EQ(at.memory->begin_capture(first_stream, {capture_policy::grow, pool_group{7}}), status::ok);
  at.device.begin_capture(first_stream, 7);
  EXPECT_EQ(at.memory->join_capture(second_stream, first_stream), status::ok);
  at.device.wait(second_stream, first_stream);
  const block inside = at.get(64 * kib, first_stream);
  at.put(inside);
  at.device.wait(first_stream, second_stream);
  const sim_graph made = at.device.end_capture(first_stream);
  graph_id graph = graph_id::none;
  EXPECT_EQ(at.memory->end_capture(first_stream, graph), status::ok);
  at.device.launch_graph(made, first_stream);
  EXPECT_EQ(at.memory->note_replay(graph, first_stream), status::ok);
  at.device.forget_graph(made);
  EXPECT_EQ(at.memory->release_graph(graph), status::ok);
  EXPECT_EQ(at.memory->begin_capture(first_stream), status::ok);
  EXPECT_EQ(at.memory->abort_capture(first_stream), status::ok);
  EXPECT_EQ(at.end(), "begin @1, join @2, allocate 65536 @1, free @1, end @1, launch @1, give_up, begin @1, abort @1");
  const recorded_event& opened = at.kept.all.front();
  EXPECT_EQ(opened.detail, static_cast<std::uint8_t>(capture_policy::grow));
  EXPECT_EQ(opened.other, 7U);
  std::set<std::uint64_t> graphs;
  for (const recorded_event& one : at.kept.all) {
    if (one.kind >= ARCALLOC_RECORDED_CAPTURE_END && one.kind <= ARCALLOC_RECORDED_GRAPH_FORGET &&
        one.kind != ARCALLOC_RECORDED_CAPTURE_ABORT) {
      graphs.insert(one.id);
    }
  }
  EXPECT_EQ(graphs, std::set<std::uint64_t>{static_cast<std::uint64_t>(graph)});
}

TEST(recording, keeps_refusals_with_what_was_free) {
  sim_options described;
  described.memory_bytes = 64 * mib;
  engine at({}, described);
  at.record();
  block none;
  EXPECT_EQ(at.memory->allocate(100 * mib, first_stream, none), status::device_out_of_memory);
  EXPECT_EQ(at.memory->allocate(request_bytes_max + 1, first_stream, none), status::request_too_large);
  EXPECT_EQ(at.end(), "refusal 104857600 @1, refusal 140737488355329 @1");
  EXPECT_EQ(at.kept.all[0].detail, static_cast<std::uint8_t>(status::device_out_of_memory));
  EXPECT_EQ(at.kept.all[0].other, 64 * mib);
  EXPECT_EQ(at.kept.all[1].detail, static_cast<std::uint8_t>(status::request_too_large));
}

TEST(recording, leaves_out_what_is_no_request_and_what_is_refused_at_the_door) {
  engine at;
  const block piece = at.get(100);
  at.put(piece);
  at.record();
  block none;
  EXPECT_EQ(at.memory->allocate(0, default_stream, none), status::ok);
  EXPECT_EQ(at.memory->deallocate(none), status::ok);
  EXPECT_EQ(at.memory->deallocate(piece), status::double_free);
  EXPECT_EQ(at.memory->deallocate(reinterpret_cast<void*>(64)), status::unknown_pointer);
  EXPECT_EQ(at.end(), "");
}

TEST(recording, begins_with_what_is_there) {
  engine at;
  const block kept = at.get(100, first_stream);
  const block idle = at.get(200, first_stream);
  const block large = at.get(40 * mib, second_stream);
  at.put(idle);
  EXPECT_EQ(at.memory->begin_phase(phase::decode), status::ok);
  at.record();
  at.put(kept);
  at.put(large);
  EXPECT_EQ(at.end(), "allocate 100 @1 before, allocate 41943040 @2 before, phase, free @1, free @2");
  EXPECT_EQ(at.kept.count(ARCALLOC_RECORDED_SEGMENT_ALLOCATE), 2U);
  EXPECT_EQ(at.kept.all[0].time_ns, 0U);
}

TEST(recording, follows_every_segment) {
  engine at;
  at.record();
  std::mt19937_64 random(7);
  std::vector<block> live;
  for (int i = 0; i < 500; ++i) {
    if (live.size() < 20 || random() % 2 == 0) {
      live.push_back(at.get(1 + random() % (30 * mib)));
    } else {
      at.put(live.back());
      live.pop_back();
    }
  }
  for (const block& one : live) at.put(one);
  EXPECT_EQ(at.memory->drain(), status::ok);
  (void)at.end();
  std::map<std::uint64_t, std::uint64_t> segments;
  for (const recorded_event& one : at.kept.all) {
    if (one.kind == ARCALLOC_RECORDED_SEGMENT_ALLOCATE) {
      EXPECT_TRUE(segments.emplace(one.id, one.bytes).second);
    } else if (one.kind == ARCALLOC_RECORDED_SEGMENT_FREE) {
      const auto found = segments.find(one.id);
      ASSERT_NE(found, segments.end());
      EXPECT_EQ(found->second, one.bytes);
      segments.erase(found);
    } else if (one.kind == ARCALLOC_RECORDED_ALLOCATE) {
      const auto behind = segments.upper_bound(one.id);
      ASSERT_NE(behind, segments.begin());
      const auto [base, bytes] = *std::prev(behind);
      EXPECT_LE(one.id + one.bytes, base + bytes);
    }
  }
  EXPECT_EQ(at.kept.count(ARCALLOC_RECORDED_SEGMENT_ALLOCATE), at.now().driver_allocs);
  EXPECT_TRUE(segments.empty());
}

/// Plays the same calls, by handle and by address, with steps; returns every counter after each step.
std::vector<counters> play(engine& at, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::pair<block, std::uint64_t>> live;
  std::vector<counters> said;
  for (int step = 0; step < 60; ++step) {
    for (int call = 0; call < 100; ++call) {
      const std::uint64_t what = random() % 10;
      const std::uint64_t place = live.empty() ? 0 : random() % live.size();
      if (live.empty() || (what < 5 && live.size() < 200)) {
        const std::uint64_t bytes = 1 + random() % (random() % 20 == 0 ? 3 * mib : 40 * kib);
        live.emplace_back(at.get(bytes, random() % 4 == 0 ? first_stream : default_stream), bytes);
        continue;
      }
      std::swap(live[place], live.back());
      const block piece = live.back().first;
      at.device.handed_back(piece.data());
      EXPECT_EQ(what < 7 ? at.memory->deallocate(piece) : at.memory->deallocate(piece.data()), status::ok);
      live.pop_back();
    }
    at.memory->end_step();
    said.push_back(at.now());
  }
  for (const auto& [piece, bytes] : live) at.put(piece);
  said.push_back(at.now());
  return said;
}

TEST(recording, changes_nothing_else) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    options settings;
    settings.cached_bytes_max = {bound_mode::explicit_bytes, 4 * mib};
    engine plain(settings);
    engine recorded(settings);
    recorded.record();
    const std::vector<counters> expected = play(plain, seed);
    const std::vector<counters> found = play(recorded, seed);
    std::size_t count = 0;
    const counter_field* const fields = counter_fields(count);
    for (std::size_t step = 0; step < expected.size(); ++step) {
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(found[step].*fields[i].value, expected[step].*fields[i].value)
            << fields[i].name << " after step " << step << " of seed " << seed;
      }
    }
    EXPECT_EQ(recorded.memory->end_recording(), status::ok);
    const counters& last = found.back();
    EXPECT_EQ(recorded.kept.count(ARCALLOC_RECORDED_ALLOCATE), last.requests);
    EXPECT_EQ(recorded.kept.count(ARCALLOC_RECORDED_FREE), last.frees);
    EXPECT_EQ(recorded.kept.count(ARCALLOC_RECORDED_STEP), last.steps);
    recorded.check();
  }
}

TEST(recording, is_written_when_a_page_is_full_and_nothing_is_lost) {
  engine at;
  at.record();
  for (int i = 0; i < 5000; ++i) at.put(at.get(100));
  EXPECT_GT(at.kept.all.size(), 8000U);
  const recording_state going = at.memory->read_recording();
  EXPECT_EQ(going.recording, 1U);
  EXPECT_EQ(going.events, at.kept.all.size());
  (void)at.end();
  EXPECT_EQ(at.kept.count(ARCALLOC_RECORDED_ALLOCATE), 5000U);
  EXPECT_EQ(at.kept.count(ARCALLOC_RECORDED_FREE), 5000U);
  const recording_state over = at.memory->read_recording();
  EXPECT_EQ(over.recording, 0U);
  EXPECT_EQ(over.lost, 0U);
  EXPECT_EQ(over.events, at.kept.all.size());
  std::uint64_t order = 0;
  std::uint64_t time = 0;
  for (const recorded_event& one : at.kept.all) {
    EXPECT_GE(one.order, order);
    order = one.order;
    if (one.time_ns == 0) continue;
    EXPECT_GE(one.time_ns, time);
    time = one.time_ns;
  }
  EXPECT_GT(time, 0U);
}

TEST(recording, tells_the_time_of_what_begins_a_page_and_of_one_hit_in_sixty_four) {
  engine at;
  at.put(at.get(100));
  at.record();
  for (int i = 0; i < 100; ++i) {
    for (int hit = 0; hit < 50; ++hit) at.put(at.get(100));
    at.memory->flush_recording();
  }
  // Each flush takes a page of a hundred hits away.
  std::uint64_t hits = 0;
  std::uint64_t since_time = 64;
  for (const recorded_event& one : at.kept.all) {
    if (one.before != 0 || one.kind >= ARCALLOC_RECORDED_SEGMENT_ALLOCATE) continue;
    since_time = one.time_ns != 0 ? 0 : since_time + 1;
    ASSERT_LE(since_time, hits++ % 100 == 0 ? 0U : 64U) << "hit " << hits;
  }
  EXPECT_EQ(hits, 10'000U);
}

TEST(recording, a_flush_writes_what_was_noted) {
  engine at;
  at.record();
  at.put(at.get(100));
  EXPECT_TRUE(at.kept.all.empty());
  at.memory->flush_recording();
  EXPECT_EQ(at.kept.text(), "allocate 100, free");
  EXPECT_EQ(at.kept.flushes, 1U);
}

TEST(recording, what_a_sink_refuses_is_counted) {
  engine at;
  at.kept.refuse_from = 1;
  at.record();
  at.put(at.get(100));
  at.memory->flush_recording();
  const std::uint64_t kept = at.kept.all.size();
  for (int i = 0; i < 5000; ++i) at.put(at.get(100));
  EXPECT_EQ(at.memory->end_recording(), status::backend_failed);
  const recording_state over = at.memory->read_recording();
  EXPECT_EQ(over.outcome, static_cast<std::int32_t>(status::backend_failed));
  EXPECT_EQ(over.events, kept);
  EXPECT_EQ(at.kept.all.size(), kept);
  EXPECT_EQ(over.events + over.lost, 10'002 + at.now().driver_allocs);
  EXPECT_EQ(at.kept.closes, 1U);
  at.check();
}

TEST(recording, begins_once_and_can_begin_again) {
  engine at;
  EXPECT_EQ(at.memory->end_recording(), status::invalid_argument);
  EXPECT_EQ(at.memory->begin_recording({}), status::invalid_argument);
  at.record();
  EXPECT_EQ(at.memory->begin_recording(at.kept.sink()), status::invalid_argument);
  at.put(at.get(100));
  EXPECT_EQ(at.end(), "allocate 100, free");
  at.put(at.get(100));  // between recordings
  at.kept.all.clear();
  at.record();
  at.put(at.get(300));
  EXPECT_EQ(at.end(), "allocate 300, free");
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{});
}

TEST(recording, into_a_file_is_refused_beside_another_and_leaves_no_file_open) {
  engine at;
  at.record();
  const std::string path = (std::filesystem::temp_directory_path() / "arcalloc_recording_beside.arct").string();
  const std::ptrdiff_t before = open_files();
  EXPECT_EQ(at.memory->record_to(path.c_str()), status::invalid_argument);
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(at.memory->read_recording().recording, 1U) << "the first goes on";
  (void)at.end();
  std::filesystem::remove(path);
}

TEST(recording, of_one_path_goes_to_at_most_64_files) {
  const auto directory = std::filesystem::temp_directory_path() / ("arcalloc_recording_" + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  const std::string path = directory / "run.arct";
  std::vector<int> held;
  for (int number = 1; number <= 64; ++number) {
    const std::string name = number == 1 ? path : path + "." + std::to_string(number);
    held.push_back(::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::flock(held.back(), LOCK_EX | LOCK_NB), 0);
  }
  engine at;
  EXPECT_EQ(at.memory->record_to(path.c_str()), status::invalid_argument);
  ::close(held.back());
  EXPECT_EQ(at.memory->record_to(path.c_str()), status::ok);
  EXPECT_EQ(at.memory->end_recording(), status::ok);
  EXPECT_GT(std::filesystem::file_size(path + ".64"), 0U);
  held.pop_back();
  for (const int file : held) ::close(file);
  std::filesystem::remove_all(directory);
}

TEST(recording, says_why_a_file_cannot_be_had) {
  std::string told;
  options settings;
  settings.sink = {[](void* context, const char* line) noexcept { *static_cast<std::string*>(context) += line; },
                   &told};
  engine at(settings);
  EXPECT_EQ(at.memory->record_to("/nonexistent/run.arct"), status::invalid_argument);
  EXPECT_NE(told.find("/nonexistent/run.arct"), std::string::npos) << told;
}

TEST(recording, ends_with_its_allocator) {
  recorded_events kept;
  {
    simulated_engine at;
    ASSERT_EQ(at.memory->begin_recording(kept.sink()), status::ok);
    const block left = at.get(100);
    at.device.handed_back(left.data());
  }
  EXPECT_EQ(kept.text(), "allocate 100");
  EXPECT_EQ(kept.closes, 1U);
}

TEST(recording, two_allocators_in_turn_record_each_its_own) {
  engine one;
  engine other;
  one.record();
  for (int i = 0; i < 3; ++i) {
    one.put(one.get(100));
    other.put(other.get(200));
  }
  other.record();
  one.put(one.get(100));
  other.put(other.get(200));
  EXPECT_EQ(one.end(), "allocate 100, free, allocate 100, free, allocate 100, free, allocate 100, free");
  EXPECT_EQ(other.end(), "allocate 200, free");
}

}  // namespace
}  // namespace arcalloc
