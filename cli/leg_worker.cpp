// SPDX-License-Identifier: Apache-2.0
#include "leg_worker.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>
#include <arcalloc/settings.hpp>
#include <array>
#include <csignal>
#include <cstdlib>

#include "exit_status.hpp"
#include "figures.hpp"
#include "leg_channel.hpp"
#include "leg_message.hpp"

namespace arcalloc::cli {

namespace {

/// Says `word` and waits for the go. A parent that is gone ends this process: nobody wants the rest.
void say_and_wait(line_channel& parent, const leg_word& word) {
  if (!parent.send(word_line(word)) || !parent.receive()) std::_Exit(EXIT_FAILURE);
}

leg_word run_leg(line_channel& parent, token_board& board, leg_request request) {
  host_backend device(request.device_bytes);
  if (!request.memory_profile_path.empty()) request.memory.profile_path = request.memory_profile_path.c_str();
  if (!request.memory_trace_path.empty()) request.memory.trace_path = request.memory_trace_path.c_str();
  // Step reports, what of a profile does not fit, and why a file cannot be recorded into.
  if (request.memory.stats_every_steps > 0 || request.memory.profile_path != nullptr ||
      request.memory.trace_path != nullptr) {
    request.memory.sink = stderr_sink();
  }
  allocator* made = nullptr;
  leg_report report;
  report.outcome.outcome = allocator::create(device, request.memory, made);
  if (report.outcome.outcome != status::ok) return report;
  const allocator_ptr memory(made);

  std::array<std::uint64_t, decile_count> deciles{};
  for (std::size_t i = 0; i < decile_count; ++i) deciles[i] = decile_tokens(i, request.session.tokens);
  const auto after_token = [&](std::size_t tokens) {
    board.write(tokens);
    if (std::binary_search(deciles.begin(), deciles.end(), tokens)) say_and_wait(parent, leg_mark{tokens});
  };
  try {
    report.outcome = decode::run_session(*memory, request.session, after_token);
  } catch (const decode::input_error& error) {
    return leg_refusal{error.message};
  }
  report.cap = memory->read_cap();
  return report;
}

}  // namespace

int run_leg_worker() {
  if (::fcntl(leg_channel_file, F_GETFD) < 0 || ::fcntl(leg_board_file, F_GETFD) < 0) {
    print_error(std::string(leg_worker_command) + ": started by `arcalloc decode` only");
    return static_cast<int>(exit_status::bad_usage);
  }
  // However the parent ends, the leg ends with it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  line_channel parent(leg_channel_file);
  token_board board(leg_board_file);
  const auto line = parent.receive();
  const auto request = line ? request_from(*line) : std::nullopt;
  if (!request) {
    print_error(std::string(leg_worker_command) + ": no request on the channel");
    return static_cast<int>(exit_status::bad_usage);
  }
  // Waiting at the end as well: the parent reads this process's memory peak before it is gone.
  say_and_wait(parent, run_leg(parent, board, *request));
  return 0;
}

}  // namespace arcalloc::cli
