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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda_device.hpp"
#include "decode/traffic_executor.hpp"
#include "exit_status.hpp"
#include "figures.hpp"
#include "leg_channel.hpp"
#include "leg_message.hpp"
#include "metrics_server.hpp"
#include "sim_leg.hpp"

namespace arcalloc::cli {

namespace {

/// Says `word` and waits for the go. A parent that is gone ends this process: nobody wants the rest.
void say_and_wait(line_channel& parent, const leg_word& word) {
  if (!parent.send(word_line(word)) || !parent.receive()) std::_Exit(EXIT_FAILURE);
}

/// A CUDA device, and the work that a leg does there.
struct cuda_leg {
  cuda_leg(int ordinal, bool is_stream_ordered)
      : device(
            require_cuda_device({device_kind::cuda, 0, ordinal, "cuda:" + std::to_string(ordinal), is_stream_ordered})),
        enqueued(*device),
        work(enqueued) {}

  /// As run_session. Throws decode::device_error too.
  decode::session_outcome run(allocator& memory, const decode::session_settings& session,
                              const std::function<void(std::size_t)>& after_token);

  std::unique_ptr<cuda_backend> device;
  decode::cuda_stream enqueued;
  decode::traffic_executor work;
};

/// Nothing, or at which token memory had something else in it than the work on it put there: a token is its position.
std::string wrong_token(const decode::session_outcome& outcome, std::size_t first_position) {
  for (std::size_t i = 0; i < outcome.tokens.size(); ++i) {
    if (outcome.tokens[i] == static_cast<std::int32_t>(first_position + i)) continue;
    return "token " + std::to_string(i + 1) + " is " + std::to_string(outcome.tokens[i]) + " and not its position, " +
           std::to_string(first_position + i) + ": some memory of the step was somebody else's";
  }
  return {};
}

decode::session_outcome cuda_leg::run(allocator& memory, const decode::session_settings& session,
                                      const std::function<void(std::size_t)>& after_token) {
  const decode::session_device there{.work = work, .capturing = &work, .on = enqueued.on()};
  decode::session_outcome outcome = decode::run_session(memory, session, after_token, &there);
  const std::string wrong = wrong_token(outcome, session.context);
  if (!wrong.empty()) throw decode::device_error{wrong};
  return outcome;
}

leg_word run_leg(line_channel& parent, token_board& board, leg_request request) try {
  std::optional<cuda_leg> cuda;
  if (request.cuda_ordinal) cuda.emplace(*request.cuda_ordinal, request.is_stream_ordered);
  std::optional<sim_leg> sim;
  if (request.sim) sim.emplace(*request.sim, request.session.ranks);
  host_backend host(request.device_bytes);
  backend& device = cuda ? static_cast<backend&>(*cuda->device) : sim ? sim->device() : host;
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
  allocator_ptr memory(made);
  std::optional<metrics_server> served;
  if (request.metrics_port != 0) {
    served.emplace(request.metrics_port, *memory, std::vector<series_label>{{"leg", request.name}});
  }

  std::array<std::uint64_t, decile_count> deciles{};
  for (std::size_t i = 0; i < decile_count; ++i) deciles[i] = decile_tokens(i, request.session.tokens);
  const auto after_token = [&](std::size_t tokens) {
    board.write(tokens);
    if (sim) sim->look(tokens);
    if (!std::binary_search(deciles.begin(), deciles.end(), tokens)) return;
    if (!sim) return say_and_wait(parent, leg_mark{tokens});
    // What the card has lent goes with the mark: nobody has to look while the leg stands still.
    if (!parent.send(word_line(leg_mark{tokens, sim->used_bytes()}))) std::_Exit(EXIT_FAILURE);
  };
  if (cuda) {
    report.outcome = cuda->run(*memory, request.session, after_token);
  } else if (sim) {
    report.outcome = sim->run(*memory, request.memory, request.session, after_token);
  } else {
    report.outcome = decode::run_session(*memory, request.session, after_token);
  }
  report.cap = memory->read_cap();
  served.reset();
  if (sim) {
    memory.reset();
    sim->report_to(report);
  }
  return report;
} catch (const decode::input_error& error) {
  return leg_refusal{error.message};
} catch (const decode::device_error& error) {
  return leg_refusal{error.message};
} catch (const command_failure& failure) {
  return leg_refusal{failure.message};
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
