// SPDX-License-Identifier: Apache-2.0
#include "cli/leg_message.hpp"

#include <gtest/gtest.h>

#include <arcalloc/counters.hpp>

#include "results.hpp"

namespace arcalloc::cli {
namespace {

const std::string every_byte = [] {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}();

TEST(leg_message, a_request_arrives_as_it_was_sent) {
  leg_request sent;
  sent.session.model_path = every_byte;
  sent.session.tokenizer_path = "t";
  sent.session.config_name = "c";
  sent.session.prompt = every_byte;
  sent.session.tokens = 12;
  sent.session.context = 34;
  sent.session.kv = decode::kv_mode::preallocated;
  sent.session.ranks = 9;
  sent.session.layers = 7;
  sent.session.serving = decode::serving_settings{every_byte, 1, 2, 3, 4, UINT64_MAX};
  sent.session.capture = true;
  sent.session.prewarm = false;
  sent.session.profile_path = every_byte;
  sent.session.profile_record_path = "r";
  sent.device_bytes = UINT64_MAX;
  sent.cuda_ordinal = 3;
  sent.metrics_port = 65535;
  sent.name = "bounded";
  sent.is_stream_ordered = true;
  sent.memory.enabled = false;
  sent.memory.classes = geometry::exact;
  sent.memory.cached_bytes_max = {bound_mode::explicit_bytes, UINT64_MAX - 1, true};
  sent.memory.capacity_bytes = 56;
  sent.memory.oom_retry = false;
  sent.memory.cache_in_prefill = true;
  sent.memory.stats_every_steps = 78;
  sent.memory.capture_miss = capture_policy::refuse;
  sent.memory.profile_path = "p/q";
  sent.sim = sim_choice{"a100", decode::driver_calls::synchronous, 4096, UINT64_MAX - 2};
  sent.memory.trace_path = "r/s";
  const std::string line = request_line(sent);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto arrived = request_from(line);
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->session.model_path, every_byte);
  EXPECT_EQ(arrived->session.tokenizer_path, "t");
  EXPECT_EQ(arrived->session.config_name, "c");
  EXPECT_EQ(arrived->session.prompt, every_byte);
  EXPECT_EQ(arrived->session.tokens, 12U);
  EXPECT_EQ(arrived->session.context, 34U);
  EXPECT_EQ(arrived->session.kv, decode::kv_mode::preallocated);
  EXPECT_EQ(arrived->device_bytes, UINT64_MAX);
  EXPECT_EQ(arrived->cuda_ordinal, 3);
  EXPECT_EQ(arrived->metrics_port, 65535U);
  EXPECT_EQ(arrived->name, "bounded");
  EXPECT_TRUE(arrived->is_stream_ordered);
  EXPECT_EQ(arrived->session.ranks, 9U);
  EXPECT_EQ(arrived->session.layers, 7U);
  ASSERT_TRUE(arrived->session.serving);
  EXPECT_EQ(arrived->session.serving->requests_path, every_byte);
  EXPECT_EQ(arrived->session.serving->batch, 1U);
  EXPECT_EQ(arrived->session.serving->chunk_rows, 2U);
  EXPECT_EQ(arrived->session.serving->draft, 3U);
  EXPECT_EQ(arrived->session.serving->window_s, 4U);
  EXPECT_EQ(arrived->session.serving->stop_after_s, UINT64_MAX);
  EXPECT_TRUE(arrived->session.capture);
  EXPECT_FALSE(arrived->session.prewarm);
  EXPECT_EQ(arrived->session.profile_path, every_byte);
  EXPECT_EQ(arrived->session.profile_record_path, "r");
  EXPECT_FALSE(arrived->memory.enabled);
  EXPECT_EQ(arrived->memory.classes, geometry::exact);
  EXPECT_EQ(arrived->memory.cached_bytes_max.mode, bound_mode::explicit_bytes);
  EXPECT_EQ(arrived->memory.cached_bytes_max.bytes, UINT64_MAX - 1);
  EXPECT_TRUE(arrived->memory.cached_bytes_max.from_environment);
  EXPECT_EQ(arrived->memory.capacity_bytes, 56U);
  EXPECT_FALSE(arrived->memory.oom_retry);
  EXPECT_TRUE(arrived->memory.cache_in_prefill);
  EXPECT_EQ(arrived->memory.stats_every_steps, 78U);
  EXPECT_EQ(arrived->memory.capture_miss, capture_policy::refuse);
  EXPECT_EQ(arrived->memory_profile_path, "p/q");
  EXPECT_EQ(arrived->memory_trace_path, "r/s");
  ASSERT_TRUE(arrived->sim);
  EXPECT_EQ(arrived->sim->model, "a100");
  EXPECT_EQ(arrived->sim->calls, decode::driver_calls::synchronous);
  EXPECT_EQ(arrived->sim->granule_bytes, 4096U);
  EXPECT_EQ(arrived->sim->free_bytes, UINT64_MAX - 2);
  sent.sim.reset();
  EXPECT_FALSE(request_from(request_line(sent))->sim);
  sent.memory.profile_path = nullptr;
  EXPECT_EQ(request_from(request_line(sent))->memory_profile_path, "");
}

TEST(leg_message, what_a_card_saw_arrives) {
  leg_report sent = *test::completed_run(5, 10).report;
  EXPECT_FALSE(std::get<leg_report>(*word_from(word_line(sent))).device);
  sent.device = device_report{{{0.5, 7, UINT64_MAX}, {1.0, 8, 9}}, UINT64_MAX - 1, every_byte};
  const auto arrived = word_from(word_line(sent));
  ASSERT_TRUE(arrived);
  const auto& found = std::get<leg_report>(*arrived).device;
  ASSERT_TRUE(found);
  ASSERT_EQ(found->samples.size(), 2U);
  EXPECT_EQ(found->samples[0].seconds, 0.5);
  EXPECT_EQ(found->samples[0].tokens, 7U);
  EXPECT_EQ(found->samples[0].resident_bytes, UINT64_MAX);
  EXPECT_EQ(found->used_bytes_peak, UINT64_MAX - 1);
  EXPECT_EQ(found->conviction, every_byte);
  EXPECT_EQ(std::get<leg_mark>(*word_from(word_line(leg_mark{3, 4}))).used_bytes, 4U);
  EXPECT_FALSE(std::get<leg_mark>(*word_from(word_line(leg_mark{3}))).used_bytes);
}

TEST(leg_message, what_a_load_says_of_itself_arrives) {
  leg_report sent = *test::completed_run(5, 10).report;
  EXPECT_FALSE(std::get<leg_report>(*word_from(word_line(sent))).outcome.load);
  sent.outcome.load = decode::load_report{1, 2, 3, 4, 5, 6, UINT64_MAX, {}};
  const auto found = std::get<leg_report>(*word_from(word_line(sent))).outcome.load;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, 1U);
  EXPECT_EQ(found->slowest_rank, 2U);
  EXPECT_EQ(found->weight_bytes, 3U);
  EXPECT_EQ(found->step_ns_worst, 4U);
  EXPECT_EQ(found->driver_ns_step_worst, 5U);
  EXPECT_EQ(found->driver_ns_step_p99, 6U);
  EXPECT_EQ(found->reserved_bytes_peak_most, UINT64_MAX);
}

TEST(leg_message, what_was_served_arrives) {
  leg_report sent;
  sent.outcome.load.emplace();
  EXPECT_FALSE(std::get<leg_report>(*word_from(word_line(sent))).outcome.load->serving);
  decode::serving_report& served = sent.outcome.load->serving.emplace();
  served.requests = 1;
  served.done = 2;
  served.skipped = 3;
  served.seconds = 0.1;
  served.waited_s = 1.0 / 3;
  decode::serving_window window;
  window.end_s = 0.7;
  window.steps = 4;
  window.tokens = 5;
  window.held_bytes_least = UINT64_MAX;
  window.pause_ns_p99 = 6;
  served.windows = {window, window};
  served.windows[1].reserved_bytes_between = UINT64_MAX - 1;
  const auto found = std::get<leg_report>(*word_from(word_line(sent))).outcome.load->serving;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->requests, 1U);
  EXPECT_EQ(found->done, 2U);
  EXPECT_EQ(found->skipped, 3U);
  EXPECT_EQ(found->seconds, 0.1);
  EXPECT_EQ(found->waited_s, 1.0 / 3);
  ASSERT_EQ(found->windows.size(), 2U);
  EXPECT_EQ(found->windows[0].end_s, 0.7);
  EXPECT_EQ(found->windows[0].steps, 4U);
  EXPECT_EQ(found->windows[0].tokens, 5U);
  EXPECT_EQ(found->windows[0].held_bytes_least, UINT64_MAX);
  EXPECT_EQ(found->windows[0].pause_ns_p99, 6U);
  EXPECT_FALSE(found->windows[0].reserved_bytes_between);
  EXPECT_EQ(found->windows[1].reserved_bytes_between, UINT64_MAX - 1);
}

TEST(leg_message, what_a_capture_found_arrives) {
  leg_report sent = *test::completed_run(5, 10).report;
  EXPECT_FALSE(std::get<leg_report>(*word_from(word_line(sent))).outcome.capture);
  sent.outcome.capture = test::made_up_capture();
  const auto arrived = word_from(word_line(sent));
  ASSERT_TRUE(arrived);
  const auto& found = std::get<leg_report>(*arrived).outcome.capture;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->warm_up_steps, 3U);
  ASSERT_EQ(found->profile.size(), 2U);
  EXPECT_EQ(found->profile[0].on, stream{5});
  EXPECT_EQ(found->profile[0].bytes, 393216U);
  EXPECT_EQ(found->profile[0].blocks, 2U);
  EXPECT_EQ(found->prewarm, status::ok);
  EXPECT_EQ(found->verified, status::capture_miss);
  ASSERT_EQ(found->missing.size(), 1U);
  EXPECT_EQ(found->missing[0].bytes, 393216U);
  EXPECT_EQ(found->window, status::ok);
  ASSERT_EQ(found->misses.size(), 1U);
  EXPECT_EQ(found->misses[0].requested_bytes, 390000U);
  EXPECT_EQ(found->misses[0].class_bytes, 393216U);
  EXPECT_EQ(found->misses[0].on, stream{UINT64_MAX});
  EXPECT_EQ(found->misses[0].count, 2U);
  EXPECT_EQ(found->pinned_bytes, 3U << 20);
  EXPECT_EQ(found->operations, 145U);
  EXPECT_EQ(found->replays, 97U);
  EXPECT_EQ(found->requests_in_replays, 0U);
  EXPECT_EQ(found->driver_calls_in_replays, 0U);
  sent.outcome.capture = decode::capture_report{};
  sent.outcome.capture->requests_in_replays = 11;
  sent.outcome.capture->driver_calls_in_replays = 12;
  const auto bare = word_from(word_line(sent));
  ASSERT_TRUE(bare);
  EXPECT_FALSE(std::get<leg_report>(*bare).outcome.capture->window);
  EXPECT_EQ(std::get<leg_report>(*bare).outcome.capture->requests_in_replays, 11U);
  EXPECT_EQ(std::get<leg_report>(*bare).outcome.capture->driver_calls_in_replays, 12U);
}

TEST(leg_message, a_report_arrives_with_every_counter) {
  leg_report sent = *test::completed_run(5, 10).report;
  sent.outcome.outcome = status::device_out_of_memory;
  sent.outcome.text = every_byte;
  std::size_t count = 0;
  const counter_field* fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) sent.outcome.at_end.*fields[i].value = UINT64_MAX - i;
  const auto arrived = word_from(word_line(sent));
  ASSERT_TRUE(arrived);
  const auto* report = std::get_if<leg_report>(&*arrived);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->outcome.outcome, status::device_out_of_memory);
  EXPECT_EQ(report->outcome.text, every_byte);
  EXPECT_EQ(report->outcome.tokens, sent.outcome.tokens);
  EXPECT_EQ(report->outcome.decode_seconds, sent.outcome.decode_seconds);
  EXPECT_EQ(report->outcome.at_half.steps, sent.outcome.at_half.steps);
  EXPECT_EQ(report->outcome.at_end.size, sizeof(counters));
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(report->outcome.at_end.*fields[i].value, UINT64_MAX - i) << fields[i].name;
  }
  EXPECT_EQ(report->cap.free_bytes, sent.cap.free_bytes);
  EXPECT_EQ(report->cap.reserve_bytes, sent.cap.reserve_bytes);
}

TEST(leg_message, marks_and_refusals_arrive) {
  const auto mark = word_from(word_line(leg_mark{42}));
  ASSERT_TRUE(mark && std::holds_alternative<leg_mark>(*mark));
  EXPECT_EQ(std::get<leg_mark>(*mark).tokens, 42U);
  const auto refusal = word_from(word_line(leg_refusal{"a\nb"}));
  ASSERT_TRUE(refusal && std::holds_alternative<leg_refusal>(*refusal));
  EXPECT_EQ(std::get<leg_refusal>(*refusal).message, "a\nb");
}

TEST(leg_message, what_is_no_message_is_nothing) {
  for (const char* line : {"", "{", "go", "[]", "7", "{\"mark\":\"x\"}", "{\"report\":{}}", "{\"refusal\":1}"}) {
    EXPECT_FALSE(word_from(line)) << line;
    EXPECT_FALSE(request_from(line)) << line;
  }
}

}  // namespace
}  // namespace arcalloc::cli
