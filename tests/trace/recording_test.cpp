// SPDX-License-Identifier: Apache-2.0
// What the library records into a file: read again, and played again.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "reading.hpp"
#include "recorded_events.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/replay/trace_replay.hpp"

namespace arcalloc::trace {
namespace {

using arcalloc::testing::recorded_events;

constexpr stream side{3};

class recording_to_a_file : public ::testing::Test {
 protected:
  recording_to_a_file() {
    char name[] = "/tmp/arcalloc-recording-XXXXXX";
    directory_ = ::mkdtemp(name);
    path = directory_ + "/t.arct";
  }
  ~recording_to_a_file() override { std::filesystem::remove_all(directory_); }

  static std::string bytes_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] reading read() const { return read_text(bytes_of(path)); }
  /// A process that plays `body` and is gone afterwards. Its exit status, or minus its signal.
  template <class Body>
  static int in_a_process(Body body) {
    const ::pid_t child = ::fork();
    if (child == 0) body();
    int how = 0;
    EXPECT_EQ(::waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
  }

  std::string path;

 private:
  std::string directory_;
};

allocator* make(backend& device, const options& settings) {
  allocator* made = nullptr;
  EXPECT_EQ(allocator::create(device, settings, made), status::ok);
  return made;
}

options recording_options(const std::string& path) {
  options settings;
  settings.cached_bytes_max = {bound_mode::explicit_bytes, 4 * mib};
  settings.trace_path = path.c_str();
  return settings;
}

void churn(allocator& memory, int pairs) {
  for (int i = 0; i < pairs; ++i) {
    block piece;
    EXPECT_EQ(memory.allocate(100, default_stream, piece), status::ok);
    EXPECT_EQ(memory.deallocate(piece), status::ok);
  }
}

/// An engine on the simulated device as a replay plays one; all kinds of calls, drawn.
class scripted_engine {
 public:
  scripted_engine(sim_backend& device, allocator& memory) : device_(device), memory_(memory) {}

  void play(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int step = 0; step < 80; ++step) {
      if (step == 20) {
        EXPECT_EQ(memory_.begin_phase(phase::prefill), status::ok);
      }
      if (step == 25) {
        EXPECT_EQ(memory_.begin_phase(phase::decode), status::ok);
      }
      if (step == 40) capture(random);
      for (int call = 0; call < 60; ++call) one_call(random);
      if (step % 16 == 15) {
        EXPECT_EQ(memory_.trim(mib), status::ok);
      }
      if (step == 70) {
        EXPECT_EQ(memory_.drain(), status::ok);
      }
      memory_.end_step();
    }
  }

 private:
  struct live_block {
    block piece;
    std::uint64_t bytes;
  };

  void get(std::uint64_t bytes, stream on) {
    block piece;
    if (memory_.allocate(bytes, on, piece) != status::ok) return;
    device_.handed_out(on, piece.data(), bytes);
    device_.use(on, piece.data(), bytes);
    live_.push_back({piece, bytes});
  }
  void one_call(std::mt19937_64& random) {
    const std::uint64_t what = random() % 20;
    const stream on = random() % 3 == 0 ? side : default_stream;
    if (live_.empty() || (what < 10 && live_.size() < 100)) {
      return get(1 + random() % (what == 0 ? 20 * mib : 200 * kib), on);
    }
    std::swap(live_[random() % live_.size()], live_.back());
    const live_block& last = live_.back();
    if (what == 19) {
      device_.use(on, last.piece.data(), last.bytes);
      EXPECT_EQ(memory_.note_use(last.piece, on), status::ok);
      return;
    }
    device_.handed_back(last.piece.data());
    EXPECT_EQ(what == 18 ? memory_.deallocate(last.piece, on) : memory_.deallocate(last.piece), status::ok);
    live_.pop_back();
  }
  void capture(std::mt19937_64& random) {
    EXPECT_EQ(memory_.begin_capture(default_stream, {capture_policy::grow, pool_group{5}}), status::ok);
    device_.begin_capture(default_stream, 5);
    for (int i = 0; i < 4; ++i) get(1 + random() % (100 * kib), default_stream);
    for (int i = 0; i < 4; ++i) {
      device_.handed_back(live_.back().piece.data());
      EXPECT_EQ(memory_.deallocate(live_.back().piece), status::ok);
      live_.pop_back();
    }
    const sim_graph made = device_.end_capture(default_stream);
    graph_id graph = graph_id::none;
    EXPECT_EQ(memory_.end_capture(default_stream, graph), status::ok);
    device_.launch_graph(made, default_stream);
    EXPECT_EQ(memory_.note_replay(graph, default_stream), status::ok);
    device_.forget_graph(made);
    EXPECT_EQ(memory_.release_graph(graph), status::ok);
  }

  sim_backend& device_;
  allocator& memory_;
  std::vector<live_block> live_;
};

TEST_F(recording_to_a_file, is_replayed_to_the_same_counters) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    options settings = recording_options(path);
    sim_options described;
    described.memory_bytes = 96 * mib;  // some requests are refused
    sim_backend device(described);
    counters recorded;
    {
      const allocator_ptr memory(make(device, settings));
      scripted_engine(device, *memory).play(seed);
      memory->read_counters(recorded);
    }
    EXPECT_TRUE(recorded.failed == 0 || recorded.failed_device_out_of_memory == recorded.failed);
    const reading found = read();
    ASSERT_EQ(found.refusal, "");
    settings.trace_path = nullptr;
    sim_backend again(described);
    trace_replay replay("t", again, &again, settings);
    for (const event& one : found.events) replay.take(one);
    const replay_result played = replay.finish();
    EXPECT_FALSE(played.refusal);
    EXPECT_EQ(played.convictions, std::vector<std::string>{});
    EXPECT_EQ(played.refusals_recorded, recorded.failed);
    EXPECT_EQ(played.refusals_served, 0U);
    std::size_t count = 0;
    const counter_field* const fields = counter_fields(count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(played.last.*fields[i].value, recorded.*fields[i].value) << fields[i].name << ", seed " << seed;
    }
  }
}

/// Plays one script over a device of its own; what is recorded of it but for times, which differ from run to run.
template <class Begin>
void record_script(const options& settings, Begin begin) {
  sim_options described;
  described.memory_bytes = 96 * mib;
  sim_backend device(described);
  const allocator_ptr memory(make(device, settings));
  begin(*memory);
  scripted_engine(device, *memory).play(5);
  EXPECT_EQ(memory->end_recording(), status::ok);
}

TEST_F(recording_to_a_file, holds_what_a_sink_of_events_is_given) {
  options settings = recording_options(path);
  record_script(settings, [](allocator&) {});
  settings.trace_path = nullptr;
  recorded_events kept;
  record_script(settings, [&](allocator& memory) { EXPECT_EQ(memory.begin_recording(kept.sink()), status::ok); });
  const std::vector<event> found = read().events;
  ASSERT_EQ(found.size(), kept.all.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const event& one = found[i];
    const recorded_event& given = kept.all[i];
    ASSERT_EQ(static_cast<int>(one.kind), given.kind) << i;
    ASSERT_EQ(one.id, given.id) << i;
    ASSERT_EQ(one.stream, given.stream) << i;
    if (one.kind != event_kind::free && one.kind != event_kind::use) {
      ASSERT_EQ(one.bytes, given.bytes) << i;
    }
    ASSERT_EQ(one.other, given.other) << i;
  }
}

TEST_F(recording_to_a_file, is_converted_without_a_difference) {
  host_backend device(64 * mib);
  {
    const allocator_ptr memory(make(device, recording_options(path)));
    churn(*memory, 20'000);
    block left;
    EXPECT_EQ(memory->allocate(7 * mib, side, left), status::ok);
    memory->end_step();
  }
  const std::string written = bytes_of(path);
  EXPECT_EQ(written[8], '\x02');
  const reading found = read_text(written);
  ASSERT_EQ(found.refusal, "");
  EXPECT_FALSE(found.facts.cut_at);
  EXPECT_EQ(found.events.size(), 40'004U);
  string_sink small;
  own_writer writer(small);
  for (const event& one : found.events) writer.take(one);
  writer.finish();
  EXPECT_TRUE(read_text(small.bytes()).events == found.events);
}

TEST_F(recording_to_a_file, takes_few_bytes_where_hits_follow_each_other) {
  host_backend device(512 * mib);
  for (const bool far_apart : {false, true}) {
    SCOPED_TRACE(far_apart ? "large blocks all over 400 MiB" : "small blocks");
    {
      const allocator_ptr memory(make(device, recording_options(path)));
      const std::size_t piece_bytes = far_apart ? 512 * kib : 100;
      std::vector<block> out(800);
      for (block& piece : out) EXPECT_EQ(memory->allocate(piece_bytes, default_stream, piece), status::ok);
      for (std::size_t i = 0; i < 20'000; ++i) {
        block& piece = out[i * 7 % out.size()];
        EXPECT_EQ(memory->deallocate(piece), status::ok);
        EXPECT_EQ(memory->allocate(piece_bytes, default_stream, piece), status::ok);
      }
    }
    const std::size_t bytes = bytes_of(path).size();
    EXPECT_GT(read().events.size(), 40'000U);
    EXPECT_LT(bytes, 40'000U * (far_apart ? 7 : 4));
  }
}

TEST_F(recording_to_a_file, that_nobody_closed_is_readable_almost_to_its_end) {
  EXPECT_EQ(in_a_process([&] {
              host_backend device(64 * mib);
              allocator* const memory = make(device, recording_options(path));
              churn(*memory, 100'000);
              ::raise(SIGKILL);
            }),
            -SIGKILL);
  const std::string written = bytes_of(path);
  EXPECT_EQ(written.size() % (64 * kib), 0U) << "whole blocks";
  const reading found = read_text(written);
  EXPECT_EQ(found.refusal, "");
  ASSERT_TRUE(found.facts.cut_at);
  EXPECT_GT(*found.facts.cut_at + 17 * kib, written.size());
  EXPECT_GT(found.events.size(), 150'000U);
}

TEST_F(recording_to_a_file, times_begin_at_nothing_and_never_fall) {
  host_backend device(64 * mib);
  {
    const allocator_ptr memory(make(device, recording_options(path)));
    for (int i = 0; i < 50; ++i) {
      churn(*memory, 100);
      memory->end_step();
    }
  }
  const reading found = read();
  ASSERT_FALSE(found.events.empty());
  EXPECT_EQ(found.events.front().time_ns, 0U);
  std::uint64_t last = 0;
  for (const event& one : found.events) {
    ASSERT_NE(one.time_ns, no_time);
    ASSERT_GE(one.time_ns, last);
    last = one.time_ns;
  }
  EXPECT_GT(last, 0U);
}

TEST_F(recording_to_a_file, is_readable_up_to_the_last_writing_of_a_process_that_was_killed) {
  EXPECT_EQ(in_a_process([&] {
              host_backend device(64 * mib);
              allocator* const memory = make(device, recording_options(path));
              churn(*memory, 10);
              memory->flush_recording();
              churn(*memory, 3);
              ::raise(SIGKILL);
            }),
            -SIGKILL);
  const reading found = read();
  EXPECT_EQ(found.refusal, "");
  EXPECT_TRUE(found.facts.cut_at);
  EXPECT_EQ(found.events.size(), 21U);  // and a segment
}

TEST_F(recording_to_a_file, is_closed_by_a_process_that_exits) {
  EXPECT_EQ(in_a_process([&] {
              static host_backend device(64 * mib);
              allocator* const memory = make(device, recording_options(path));
              churn(*memory, 10);
              std::exit(7);
            }),
            7);
  const reading found = read();
  EXPECT_EQ(found.refusal, "");
  EXPECT_FALSE(found.facts.cut_at);
  EXPECT_EQ(found.events.size(), 21U);
}

TEST_F(recording_to_a_file, is_not_written_by_a_child) {
  host_backend device(64 * mib);
  {
    const allocator_ptr memory(make(device, recording_options(path)));
    churn(*memory, 10);
    EXPECT_EQ(in_a_process([&] {
                churn(*memory, 5000);
                memory->flush_recording();
                std::exit(memory->end_recording() == status::backend_failed ? 0 : 1);
              }),
              0);
    churn(*memory, 1);
  }
  const reading found = read();
  EXPECT_EQ(found.refusal, "");
  EXPECT_FALSE(found.facts.cut_at);
  EXPECT_EQ(found.events.size(), 23U);
}

TEST_F(recording_to_a_file, gives_each_allocator_a_file_of_its_own) {
  host_backend device(64 * mib);
  {
    const allocator_ptr one(make(device, recording_options(path)));
    const allocator_ptr other(make(device, recording_options(path)));
    churn(*one, 1);
    churn(*other, 2);
  }
  EXPECT_EQ(read_text(bytes_of(path)).events.size(), 3U);
  EXPECT_EQ(read_text(bytes_of(path + ".2")).events.size(), 5U);
  { const allocator_ptr later(make(device, recording_options(path))); }
  EXPECT_EQ(read().events.size(), 0U) << "what was there is replaced once nobody writes it";
}

struct kept_line {
  static void keep(void* context, const char* line) noexcept { *static_cast<std::string*>(context) = line; }
  std::string text;
};

TEST_F(recording_to_a_file, refuses_what_is_no_file) {
  host_backend device(64 * mib);
  for (const std::string& where :
       {std::string("/no/such/directory/t"), std::string("/dev/null"), std::string("/tmp")}) {
    options settings = recording_options(where);
    kept_line said;
    settings.sink = {kept_line::keep, &said.text};
    allocator* made = nullptr;
    EXPECT_EQ(allocator::create(device, settings, made), status::invalid_argument) << where;
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(said.text.find(where + ": cannot be recorded into: "), 0U) << said.text;
  }
}

TEST_F(recording_to_a_file, says_that_the_disk_was_full) {
  EXPECT_EQ(in_a_process([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              host_backend device(64 * mib);
              allocator* const memory = make(device, recording_options(path));
              const struct rlimit at_most { 40'000, 40'000 };
              if (::setrlimit(RLIMIT_FSIZE, &at_most) != 0) ::_exit(2);
              churn(*memory, 20'000);
              const bool said = memory->end_recording() == status::backend_failed;
              ::_exit(said && memory->read_recording().lost > 0 ? 0 : 1);
            }),
            0);
  const reading found = read();
  EXPECT_EQ(found.refusal, "");
  EXPECT_TRUE(found.facts.cut_at);
  EXPECT_GT(found.events.size(), 1000U);
}

}  // namespace
}  // namespace arcalloc::trace
