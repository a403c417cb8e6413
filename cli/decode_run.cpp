// SPDX-License-Identifier: Apache-2.0
#include "decode_run.hpp"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda_device.hpp"
#include "device_lock.hpp"
#include "number_text.hpp"

namespace arcalloc::cli {

namespace {

/// One line on a terminal that says how far the run is; nothing elsewhere.
class progress_line {
 public:
  explicit progress_line(bool shown) : shown_(shown && ::isatty(STDERR_FILENO) == 1) {}
  ~progress_line() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void draw(const std::string& text) {
    if (!shown_) return;
    drawn_ = true;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
  }

 private:
  bool shown_;
  bool drawn_ = false;
};

/// What the driver says is in use on the card, whoever uses it.
std::optional<std::uint64_t> used_bytes(const cuda_backend& card) {
  memory_info said;
  if (card.query_memory(said) != status::ok) return std::nullopt;
  return said.total_bytes - said.free_bytes;
}

/// A profile file's sizes are those of the leg that arcalloc ships as; the others record their own.
decode::session_settings session_of(const decode_request& request, leg which) {
  decode::session_settings session = request.session;
  if (which != leg::bounded) {
    session.profile_path.clear();
    session.profile_record_path.clear();
  }
  return session;
}

leg_request leg_request_of(const decode_request& request, const leg_result& leg) {
  leg_request asked{session_of(request, leg.which), request.device.size_bytes, leg.memory, {}, {}};
  if (request.device.kind == device_kind::cuda) asked.cuda_ordinal = request.device.ordinal;
  asked.is_stream_ordered = request.device.is_stream_ordered;
  asked.sim = request.sim;
  asked.metrics_port = request.metrics_port;
  asked.name = leg_name(leg.which);
  return asked;
}

/// Draws the progress of the leg that is `number`-th of `runs`; its start too.
leg_watch watch_of(leg which, std::uint64_t number, std::uint64_t runs, std::uint64_t tokens, progress_line& progress) {
  std::string head = "[";
  head.append(std::to_string(number)).append("/").append(std::to_string(runs)).append("] ");
  head += leg_name(which);
  leg_watch watch;
  watch.on_start = [head, &progress] { progress.draw(head + "  starting"); };
  watch.on_sample = [head, tokens, &progress](std::uint64_t done, std::uint64_t resident_bytes) {
    progress.draw(head + "  token " + count_text(done) + " of " + count_text(tokens) + "  " +
                  count_text(resident_bytes >> 20) + " MiB");
  };
  return watch;
}

}  // namespace

void run_legs(decode_result& result, const options& from_environment) {
  const decode_request& request = result.request;
  const device_kind kind = request.device.kind;
  // A simulated card is each leg's own, and the machine is measured by nobody.
  std::optional<device_lock> lock;
  if (kind != device_kind::sim) lock.emplace(kind == device_kind::cuda ? request.device.text : "host");
  // Open from before the first leg to after the last, so that what its context takes is in every figure alike.
  const std::unique_ptr<cuda_backend> card = kind == device_kind::cuda ? require_cuda_device(request.device) : nullptr;
  for (const leg which : request.legs) {
    leg_result empty;
    empty.which = which;
    empty.memory = leg_options(which, request.bounds, from_environment);
    result.legs.push_back(std::move(empty));
  }
  // Step reports go to stderr as well: a progress line would be torn apart by them.
  progress_line progress(from_environment.stats_every_steps == 0);
  const std::uint64_t runs = request.rounds * request.legs.size();
  std::uint64_t number = 0;
  for (std::uint64_t round = 0; round < request.rounds; ++round) {
    std::vector<leg_request> asked;
    std::vector<leg_watch> watches;
    for (leg_result& leg : result.legs) {
      asked.push_back(leg_request_of(request, leg));
      watches.push_back(watch_of(leg.which, ++number, runs, request.session.tokens, progress));
      if (card) watches.back().device_bytes = [&] { return used_bytes(*card); };
    }
    if (kind == device_kind::sim) {
      std::vector<leg_run> done = run_leg_processes(asked, watches);
      for (std::size_t i = 0; i < done.size(); ++i) result.legs[i].runs.push_back(std::move(done[i]));
      continue;
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (card) {
        require_empty(request.device.text, used_bytes(*card).value_or(0));
      } else {
        require_room(request.device.size_bytes);
      }
      result.legs[i].runs.push_back(run_leg_process(asked[i], watches[i]));
    }
  }
}

}  // namespace arcalloc::cli
