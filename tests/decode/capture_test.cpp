// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "decode/session.hpp"
#include "devices.hpp"
#include "files.hpp"

namespace arcalloc::decode {
namespace {

options options_exact() {
  options settings = options_unbounded();
  settings.cached_bytes_max = {.mode = bound_mode::explicit_bytes, .bytes = 64 * mebibyte};
  return settings;
}

using callback = std::function<void(allocator&, std::size_t)>;

/// Runs it on a device of its own, and sees to it that nothing is left.
session_outcome run(const session_settings& settings, const options& policy = {}, const callback& after_token = {}) {
  host_backend device(256 * mebibyte);
  const allocator_ptr memory = make_allocator(device, policy);
  session_outcome outcome = run_session(*memory, settings, [&](std::size_t done) {
    if (after_token) after_token(*memory, done);
  });
  EXPECT_EQ(memory->drain(), status::ok);
  const counters after = counters_of(*memory);
  EXPECT_EQ(after.blocks_live, 0U);
  EXPECT_EQ(after.pinned_bytes, 0U);
  EXPECT_EQ(after.reserved_bytes, 0U);
  EXPECT_EQ(device.lent_bytes(), 0U);
  EXPECT_FALSE(memory->is_capturing(default_stream));
  return outcome;
}

session_settings demo(std::size_t tokens, bool capture) {
  return {.config_name = "demo-3m", .tokens = tokens, .kv = kv_mode::preallocated, .capture = capture};
}

/// Another engine thread's turn: allocates, writes garbage, frees, in an order and in sizes that follow from the seed.
/// Returns how many of its blocks did not hold what it had written.
std::size_t make_mess(allocator& memory, std::uint64_t seed, stream on) {
  std::mt19937_64 random(seed);
  struct held {
    block piece;
    std::size_t bytes = 0;
    int mark = 0;
  };
  std::vector<held> blocks(12);
  std::size_t spoilt = 0;
  const auto give_back = [&](held& each) {
    const auto* at = static_cast<const unsigned char*>(each.piece.data());
    const auto mark = static_cast<unsigned char>(each.mark);
    if (!std::all_of(at, at + each.bytes, [&](unsigned char byte) { return byte == mark; })) ++spoilt;
    EXPECT_EQ(memory.deallocate(each.piece), status::ok);
    each = {};
  };
  for (int turn = 0; turn < 60; ++turn) {
    held& each = blocks[random() % blocks.size()];
    if (each.bytes > 0) {
      give_back(each);
      continue;
    }
    const std::size_t bytes = std::size_t{1} << (2 + random() % 16);
    if (memory.allocate(bytes, on, each.piece) != status::ok) continue;
    each.bytes = bytes;
    each.mark = static_cast<int>(random() % 256);
    std::memset(each.piece.data(), each.mark, bytes);
  }
  for (held& each : blocks) {
    if (each.bytes > 0) give_back(each);
  }
  return spoilt;
}

/// Everything that may happen to an allocator between two replays.
void disturb(allocator& memory, std::size_t done) {
  std::thread([&] { EXPECT_EQ(make_mess(memory, done, done % 2 == 0 ? default_stream : stream{7}), 0U); }).join();
  ASSERT_EQ(memory.drain(), status::ok);
  const std::uint64_t reserved = counters_of(memory).reserved_bytes;
  EXPECT_EQ(memory.set_capacity_bytes(reserved), status::ok);
  EXPECT_EQ(memory.set_capacity_bytes(4096), status::capacity_exceeded);
  std::thread([&] { EXPECT_EQ(make_mess(memory, done + 1000, default_stream), 0U); }).join();
  EXPECT_EQ(memory.set_cached_bytes_max({.mode = bound_mode::explicit_bytes, .bytes = 0}), status::ok);
  EXPECT_EQ(memory.set_capacity_bytes(0), status::ok);
  EXPECT_EQ(memory.set_cached_bytes_max({}), status::ok);
}

class captured_golden : public testing::Test {
 protected:
  void SetUp() override {
    const auto model = shared_file("model/stories260K.bin");
    const auto tokenizer = shared_file("model/tok512.bin");
    const auto golden = shared_file("model/greedy256.txt");
    if (!model || !tokenizer || !golden) GTEST_SKIP() << "no shared data: model/";
    settings_ = {.model_path = *model,
                 .tokenizer_path = *tokenizer,
                 .tokens = 256,
                 .kv = kv_mode::preallocated,
                 .capture = true};
    text_ = text_of(*golden);
  }

  void expect_golden(const session_outcome& outcome) const {
    EXPECT_EQ(outcome.outcome, status::ok);
    EXPECT_EQ(outcome.text + "\n", text_);
    ASSERT_TRUE(outcome.capture);
    EXPECT_EQ(outcome.capture->window, status::ok);
    EXPECT_EQ(outcome.capture->replays, 256 - warm_up_steps);
    EXPECT_EQ(outcome.capture->operations, 1U + 5U * 28U + 4U);
    EXPECT_GT(outcome.capture->pinned_bytes, 0U);
  }

  session_settings settings_;
  std::string text_;
};

TEST_F(captured_golden, replays_write_the_text_of_llama2c_to_the_letter_and_ask_for_nothing) {
  for (const options& policy : {options{}, options_off(), options_unbounded(), options_exact()}) {
    const session_outcome outcome = run(settings_, policy);
    expect_golden(outcome);
    EXPECT_EQ(outcome.capture->requests_in_replays, 0U);
    EXPECT_EQ(outcome.capture->driver_calls_in_replays, 0U);
    EXPECT_EQ(outcome.at_end.requests, outcome.at_half.requests);
    EXPECT_EQ(outcome.at_end.driver_allocs, outcome.at_half.driver_allocs);
    EXPECT_EQ(outcome.at_end.driver_frees, outcome.at_half.driver_frees);
    EXPECT_EQ(outcome.at_end.steps, 256U);
  }
}

TEST_F(captured_golden, drains_a_capacity_squeeze_and_another_thread_between_replays_change_nothing) {
  for (const options& policy : {options{}, options_unbounded()}) {
    const session_outcome outcome = run(settings_, policy, disturb);
    expect_golden(outcome);
    EXPECT_EQ(outcome.capture->requests_in_replays, 0U);
    EXPECT_EQ(outcome.capture->driver_calls_in_replays, 0U);
    EXPECT_GT(outcome.at_end.driver_frees, outcome.at_half.driver_frees);
  }
}

TEST_F(captured_golden, a_thread_that_allocates_and_frees_all_the_while_changes_nothing) {
  host_backend device(256 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> rounds{0};
  std::atomic<std::size_t> spoilt{0};
  std::thread other([&] {
    // A stream of its own: what is requested on the captured one in the window belongs to the graph.
    for (std::uint64_t i = 0; !ends || i < 10; ++i) {
      spoilt += make_mess(*memory, i, stream{7});
      rounds = i + 1;
    }
  });
  const session_outcome outcome = run_session(*memory, settings_, [](std::size_t) {});
  ends = true;
  other.join();
  expect_golden(outcome);
  EXPECT_EQ(spoilt, 0U);
  EXPECT_GE(rounds, 10U);
  ASSERT_EQ(memory->drain(), status::ok);
  EXPECT_EQ(counters_of(*memory).reserved_bytes, 0U);
}

TEST(captured_session, makes_the_tokens_of_an_eager_one_after_any_prefill) {
  for (const std::size_t context : {std::size_t{0}, std::size_t{33}}) {
    session_settings eager = demo(12, false);
    eager.context = context;
    session_settings captured = demo(12, true);
    captured.context = context;
    const session_outcome expected = run(eager);
    const session_outcome found = run(captured, {}, disturb);
    EXPECT_EQ(found.tokens, expected.tokens);
    EXPECT_EQ(found.text, expected.text);
    EXPECT_FALSE(expected.capture);
    ASSERT_TRUE(found.capture);
    EXPECT_EQ(found.capture->replays, 12 - warm_up_steps);
  }
}

TEST(captured_session, replays_from_the_second_token_on_when_there_are_but_two) {
  const session_outcome found = run(demo(2, true));
  EXPECT_EQ(found.tokens, run(demo(2, false)).tokens);
  EXPECT_EQ(found.capture->warm_up_steps, 1U);
  EXPECT_EQ(found.capture->replays, 1U);
}

std::vector<std::uint64_t> sizes_of(const std::vector<profile_entry>& entries) {
  std::vector<std::uint64_t> sizes;
  for (const profile_entry& each : entries) sizes.push_back(each.bytes);
  return sizes;
}

/// 8 heads, 4096 positions, 32 numbers each: keys and values as attention sees them.
constexpr std::uint64_t expanded_bytes = 8 * 4096 * 32 * sizeof(float);

TEST(coverage, without_a_prewarm_the_window_misses_and_the_sizes_are_named) {
  session_settings cold = demo(4, true);
  cold.prewarm = false;
  for (const options& policy : {options{}, options_unbounded()}) {
    const session_outcome outcome = run(cold, policy);
    ASSERT_TRUE(outcome.capture);
    const capture_report& report = *outcome.capture;
    EXPECT_EQ(report.window, status::ok);
    EXPECT_EQ(report.warm_up_steps, 0U);
    EXPECT_TRUE(report.profile.empty());
    EXPECT_FALSE(report.prewarm);
    EXPECT_FALSE(report.verified);
    EXPECT_EQ(report.replays, 4U);
    EXPECT_EQ(outcome.tokens, run(demo(4, false)).tokens);
    std::uint64_t count = 0;
    bool named = false;
    for (const capture_miss_record& miss : report.misses) {
      count += miss.count;
      EXPECT_LE(miss.requested_bytes, miss.class_bytes);
      EXPECT_EQ(miss.on, default_stream);
      named = named || (miss.requested_bytes == expanded_bytes && miss.count == 2);
    }
    EXPECT_TRUE(named);
    EXPECT_EQ(count, outcome.at_end.capture_misses);
  }
}

TEST(coverage, of_the_warm_up_steps_leaves_no_miss_and_verify_says_so_beforehand) {
  for (const options& policy : {options{}, options_unbounded(), options_exact()}) {
    const session_outcome outcome = run(demo(6, true), policy);
    ASSERT_TRUE(outcome.capture);
    EXPECT_EQ(outcome.capture->warm_up_steps, warm_up_steps);
    EXPECT_FALSE(outcome.capture->profile.empty());
    EXPECT_EQ(outcome.capture->prewarm, status::ok);
    EXPECT_EQ(outcome.capture->verified, status::ok);
    EXPECT_TRUE(outcome.capture->missing.empty());
    EXPECT_TRUE(outcome.capture->misses.empty());
    EXPECT_EQ(outcome.at_end.capture_misses, 0U);
    EXPECT_EQ(outcome.at_end.capture_hits, 4U * 26U + 4U);
  }
}

class profile_files : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.path() + "/" + name; }

  /// The profile of a run, as it was written.
  profile recorded() {
    session_settings recording = demo(5, true);
    recording.profile_record_path = file("whole.json");
    EXPECT_EQ(run(recording).outcome, status::ok);
    profile found;
    profile_error error{};
    EXPECT_EQ(read_profile(file("whole.json").c_str(), found, error), status::ok) << error.text;
    EXPECT_FALSE(found.empty());
    return found;
  }

  [[nodiscard]] session_settings using_file(const std::string& name) const {
    session_settings settings = demo(4, true);
    settings.profile_path = file(name);
    return settings;
  }

  temporary_directory directory_;
};

TEST_F(profile_files, of_one_run_cover_the_window_of_the_next_from_its_first_token) {
  const profile whole = recorded();
  const session_outcome outcome = run(using_file("whole.json"));
  ASSERT_TRUE(outcome.capture);
  EXPECT_EQ(outcome.capture->warm_up_steps, 0U);
  EXPECT_EQ(outcome.capture->replays, 4U);
  EXPECT_EQ(outcome.capture->profile.size(), whole.entries().size());
  EXPECT_EQ(outcome.capture->prewarm, status::ok);
  EXPECT_EQ(outcome.capture->verified, status::ok);
  EXPECT_TRUE(outcome.capture->misses.empty());
  EXPECT_EQ(outcome.tokens, run(demo(4, false)).tokens);
}

TEST_F(profile_files, are_verified_without_a_prewarm_too_and_what_is_short_then_misses) {
  static_cast<void>(recorded());
  session_settings cold = using_file("whole.json");
  cold.prewarm = false;
  const session_outcome outcome = run(cold);
  ASSERT_TRUE(outcome.capture);
  EXPECT_FALSE(outcome.capture->prewarm);
  EXPECT_EQ(outcome.capture->verified, status::capture_miss);
  EXPECT_FALSE(outcome.capture->missing.empty());
  EXPECT_FALSE(outcome.capture->misses.empty());
  EXPECT_EQ(outcome.tokens, run(demo(4, false)).tokens);
}

TEST_F(profile_files, with_a_size_left_out_leave_that_size_short_and_verify_of_the_whole_names_it) {
  const profile whole = recorded();
  const auto largest = std::max_element(whole.entries().begin(), whole.entries().end(),
                                        [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  EXPECT_GE(largest->bytes, expanded_bytes);
  profile rest;
  for (const profile_entry& each : whole.entries()) {
    if (each.bytes == largest->bytes) continue;
    ASSERT_TRUE(rest.add(each));
  }
  EXPECT_EQ(rest.entries().size() + 1, whole.entries().size());
  profile_error error{};
  ASSERT_EQ(write_profile(file("rest.json").c_str(), rest, error), status::ok) << error.text;

  const session_outcome outcome = run(using_file("rest.json"), {}, [&](allocator& memory, std::size_t done) {
    if (done > 0) return;
    // Before the session covers what its file has: nothing else is there for the size that the file lacks.
    profile missing;
    EXPECT_EQ(memory.prewarm(rest), status::ok);
    EXPECT_EQ(memory.verify(whole, &missing), status::capture_miss);
    ASSERT_EQ(missing.entries().size(), 1U);
    EXPECT_EQ(missing.entries()[0].bytes, largest->bytes);
    EXPECT_EQ(missing.entries()[0].blocks, largest->blocks);
  });
  ASSERT_TRUE(outcome.capture);
  EXPECT_EQ(outcome.capture->verified, status::ok);
  ASSERT_EQ(outcome.capture->misses.size(), 1U);
  EXPECT_EQ(outcome.capture->misses[0].requested_bytes, expanded_bytes);
  EXPECT_EQ(outcome.capture->misses[0].count, largest->blocks);
  EXPECT_EQ(sizes_of(outcome.capture->profile), sizes_of({rest.entries().begin(), rest.entries().end()}));
}

TEST_F(profile_files, that_cannot_be_read_or_written_are_refused_by_name) {
  std::ofstream(file("bad.json")) << "{\n\"schema\": 7}\n";
  EXPECT_NE(refusal_of([&] { run(using_file("bad.json")); }).find("bad.json"), std::string::npos);
  EXPECT_NE(refusal_of([&] { run(using_file("none.json")); }).find("none.json"), std::string::npos);
  session_settings recording = demo(5, true);
  recording.profile_record_path = "/nonexistent/p.json";
  EXPECT_NE(refusal_of([&] { run(recording); }).find("/nonexistent/p.json"), std::string::npos);
}

TEST(captured_session, whose_window_is_refused_goes_on_eagerly_with_the_same_tokens) {
  options refusing;
  refusing.capture_miss = capture_policy::refuse;
  session_settings cold = demo(6, true);
  cold.prewarm = false;
  const session_outcome outcome = run(cold, refusing, disturb);
  EXPECT_EQ(outcome.outcome, status::ok);
  EXPECT_EQ(outcome.tokens, run(demo(6, false)).tokens);
  ASSERT_TRUE(outcome.capture);
  EXPECT_EQ(outcome.capture->window, status::capture_miss);
  EXPECT_EQ(outcome.capture->replays, 0U);
  EXPECT_EQ(outcome.capture->operations, 0U);
  EXPECT_EQ(outcome.capture->pinned_bytes, 0U);
  EXPECT_EQ(outcome.capture->misses.size(), 1U);
  EXPECT_EQ(outcome.at_end.failed_capture_miss, 1U);
}

TEST(captured_session, policy_refuse_is_content_with_a_covered_window) {
  options refusing;
  refusing.capture_miss = capture_policy::refuse;
  const session_outcome outcome = run(demo(6, true), refusing);
  ASSERT_TRUE(outcome.capture);
  EXPECT_EQ(outcome.capture->window, status::ok);
  EXPECT_EQ(outcome.capture->replays, 6 - warm_up_steps);
}

TEST(capture_settings, that_contradict_each_other_are_refused) {
  session_settings growing = demo(5, true);
  growing.kv = kv_mode::concat;
  EXPECT_EQ(refusal_of([&] { run(growing); }),
            "capture needs preallocated key and value caches: with concatenated ones no step is like another");
  EXPECT_EQ(refusal_of([&] { run(demo(1, true)); }),
            "capture needs 2 tokens at least: one to warm up and one to replay");
  for (const int which : {0, 1, 2}) {
    session_settings without = demo(5, false);
    if (which == 0) without.prewarm = false;
    if (which == 1) without.profile_path = "p";
    if (which == 2) without.profile_record_path = "p";
    EXPECT_EQ(refusal_of([&] { run(without); }), "prewarming and profiles are of use only with capture");
  }
  session_settings both = demo(5, true);
  both.profile_record_path = "p";
  both.prewarm = false;
  EXPECT_EQ(refusal_of([&] { run(both); }),
            "p: no profile is recorded where one is given or there are no warm-up steps");
}

/// Refuses the n-th driver request, for every n there is, of a run that captures: each ends with a prefix of the
/// tokens, or with all of them where only the window was refused, and nothing is left.
TEST(every_refusal_of_a_captured_run, leaves_a_prefix_of_the_tokens_and_gives_everything_back) {
  const temporary_directory directory;
  const std::string model = directory.write("model.bin", model_bytes(small_config()));
  const std::string tokenizer = directory.write("tokenizer.bin", tokenizer_bytes(small_pieces()));
  session_settings settings{.model_path = model, .tokenizer_path = tokenizer, .tokens = 5, .kv = kv_mode::preallocated};
  const std::vector<std::int32_t> expected = run(settings).tokens;
  settings.capture = true;
  for (const options& policy : {options_off(), options_unbounded()}) {
    std::size_t refused_windows = 0;
    for (std::uint64_t refuse_from = 1;; ++refuse_from) {
      refusing_backend device(16 * mebibyte, refuse_from);
      status ended = status::ok;
      bool was_captured = false;
      {
        const allocator_ptr memory = make_allocator(device, policy);
        const session_outcome outcome = run_session(*memory, settings, [](std::size_t) {});
        ended = outcome.outcome;
        was_captured = outcome.capture && outcome.capture->window == status::ok;
        ASSERT_LE(outcome.tokens.size(), expected.size());
        ASSERT_TRUE(std::equal(outcome.tokens.begin(), outcome.tokens.end(), expected.begin()));
        ASSERT_FALSE(memory->is_capturing(default_stream));
        ASSERT_EQ(counters_of(*memory).blocks_live, 0U);
        ASSERT_EQ(counters_of(*memory).pinned_bytes, 0U);
        if (outcome.capture && outcome.capture->window && !was_captured) ++refused_windows;
      }
      ASSERT_EQ(device.lent_bytes(), 0U) << refuse_from;
      if (ended == status::ok && was_captured) break;
      ASSERT_TRUE(ended == status::device_out_of_memory || ended == status::ok) << status_name(ended);
    }
    // Without a cache each of the window's requests is one to the driver.
    if (!policy.enabled) {
      EXPECT_GE(refused_windows, 50U);
    }
  }
}

}  // namespace
}  // namespace arcalloc::decode
