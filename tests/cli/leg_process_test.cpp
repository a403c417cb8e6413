// SPDX-License-Identifier: Apache-2.0
#include "cli/leg_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "cli/exit_status.hpp"
#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::temporary_folder;
using test::write_file;

leg_request small_request() {
  leg_request request;
  request.session.config_name = decode::config_names().back();
  request.session.tokens = 20;
  request.device_bytes = std::uint64_t{256} << 20;
  return request;
}

/// Runs a shell script in place of the leg: it has the channel as file 3.
leg_run run_script(const std::string& script, unsigned idle_samples_most = 1000) {
  const temporary_folder folder;
  write_file(folder.file("leg"), "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(folder.file("leg"), std::filesystem::perms::owner_all);
  leg_watch watch;
  watch.program = folder.file("leg");
  watch.sample_every = std::chrono::milliseconds(5);
  watch.idle_samples_most = idle_samples_most;
  return run_leg_process(small_request(), watch);
}

bool has_child() { return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

TEST(leg_process, a_leg_runs_in_a_process_of_its_own_and_is_measured_from_outside) {
  leg_watch watch;
  watch.program = ARCALLOC_PROGRAM;
  const leg_run run = run_leg_process(small_request(), watch);
  EXPECT_EQ(run.outcome, status::ok);
  EXPECT_TRUE(run.started);
  EXPECT_EQ(run.tokens_done, 20U);
  EXPECT_TRUE(run.death.empty()) << run.death;
  ASSERT_TRUE(run.report);
  EXPECT_EQ(run.report->outcome.tokens.size(), 20U);
  for (const auto& bytes : run.decile_bytes) EXPECT_TRUE(bytes);
  EXPECT_GT(run.decile_bytes.front().value_or(0), run.report->outcome.at_decode_start.requested_bytes);
  EXPECT_FALSE(has_child());
}

TEST(leg_process, a_leg_that_runs_out_of_memory_tells_at_which_token) {
  leg_request request = small_request();
  request.memory.classes = geometry::exact;
  request.memory.cached_bytes_max.mode = bound_mode::unbounded;
  request.memory.oom_retry = false;
  leg_watch watch;
  watch.program = ARCALLOC_PROGRAM;
  const leg_run whole = run_leg_process(request, watch);
  ASSERT_TRUE(whole.report);
  // Room for what it had reserved half way, and no more.
  request.device_bytes = whole.report->outcome.at_half.reserved_bytes;
  const leg_run run = run_leg_process(request, watch);
  EXPECT_EQ(run.outcome, status::device_out_of_memory);
  EXPECT_TRUE(run.started);
  EXPECT_LT(run.tokens_done, 20U);
  EXPECT_TRUE(run.report);
  EXPECT_TRUE(run.death.empty()) << run.death;
}

TEST(leg_process, a_refused_input_is_bad_usage_with_the_message_of_the_leg) {
  leg_request request = small_request();
  request.session.config_name.clear();
  request.session.model_path = "/nonexistent/model.bin";
  request.session.tokenizer_path = "/nonexistent/tokenizer.bin";
  leg_watch watch;
  watch.program = ARCALLOC_PROGRAM;
  try {
    run_leg_process(request, watch);
    ADD_FAILURE() << "the model was taken";
  } catch (const command_failure& failure) {
    EXPECT_EQ(failure.status, exit_status::bad_usage);
    EXPECT_NE(failure.message.find("/nonexistent/"), std::string::npos) << failure.message;
  }
  EXPECT_FALSE(has_child());
}

TEST(leg_process, a_killed_leg_is_an_outcome_that_names_the_signal) {
  const leg_run run = run_script("kill -9 $$");
  EXPECT_EQ(run.outcome, status::backend_failed);
  EXPECT_EQ(run.death, "killed by signal 9 (Killed)");
  EXPECT_FALSE(run.report);
  EXPECT_FALSE(run.started);
  EXPECT_FALSE(has_child());
}

TEST(leg_process, a_leg_that_exits_without_a_report_has_failed) {
  EXPECT_EQ(run_script("exit 3").death, "exited with status 3");
  EXPECT_EQ(run_script("exit 0").death, "exited with status 0");
  EXPECT_EQ(run_script("exit 0").outcome, status::backend_failed);
}

TEST(leg_process, a_leg_that_dies_between_marks_keeps_what_was_seen_of_it) {
  const leg_run run = run_script("read r <&3; echo '{\"mark\":0}' >&3; read go <&3; kill -11 $$");
  EXPECT_TRUE(run.started);
  EXPECT_TRUE(run.decile_bytes[0]);
  EXPECT_FALSE(run.decile_bytes[1]);
  EXPECT_EQ(run.death, "killed by signal 11 (Segmentation fault)");
}

TEST(leg_process, a_leg_that_fails_after_its_report_has_failed) {
  leg_report report;
  const leg_run run = run_script("read r <&3; cat >&3 <<'END'\n" + word_line(report) + "\nEND\nread go <&3; exit 9");
  EXPECT_EQ(run.outcome, status::backend_failed);
  EXPECT_EQ(run.death, "exited with status 9");
  EXPECT_FALSE(run.report);
}

TEST(leg_process, a_leg_that_talks_nonsense_is_ended) {
  const leg_run run = run_script("echo nonsense >&3; read go <&3; read go <&3; read go <&3");
  EXPECT_EQ(run.outcome, status::backend_failed);
  EXPECT_EQ(run.death, "said something that is no message");
  EXPECT_FALSE(has_child());
}

TEST(leg_process, a_leg_that_neither_runs_nor_ends_is_stuck_and_ended) {
  const leg_run run = run_script("kill -STOP $$", 3);
  EXPECT_EQ(run.outcome, status::backend_failed);
  EXPECT_EQ(run.death, "stuck: no token and no CPU time over 3 samples; killed");
  EXPECT_FALSE(has_child());
}

TEST(leg_process, a_program_that_is_not_there_is_refused) {
  leg_watch watch;
  watch.program = "/nonexistent/arcalloc";
  EXPECT_THROW(run_leg_process(small_request(), watch), command_failure);
  EXPECT_FALSE(has_child());
}

TEST(leg_process, a_signal_ends_the_leg_first) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  ::raise(SIGTERM);
  leg_watch watch;
  watch.program = ARCALLOC_PROGRAM;
  int number = 0;
  try {
    run_leg_process(small_request(), watch);
  } catch (const interrupted& asked) {
    number = asked.signal_number;
  }
  ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  EXPECT_EQ(number, SIGTERM);
  EXPECT_FALSE(has_child());
}

}  // namespace
}  // namespace arcalloc::cli
