// SPDX-License-Identifier: Apache-2.0
#include "decode_run.hpp"

#include <unistd.h>

#include <cstdio>

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

/// A profile file's sizes are those of the leg that arcalloc ships as; the others record their own.
decode::session_settings session_of(const decode_request& request, leg which) {
  decode::session_settings session = request.session;
  if (which != leg::bounded) {
    session.profile_path.clear();
    session.profile_record_path.clear();
  }
  return session;
}

}  // namespace

void run_legs(decode_result& result, const options& from_environment) {
  const decode_request& request = result.request;
  const device_lock lock;
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
    for (leg_result& leg : result.legs) {
      require_room(request.device.size_bytes);
      ++number;
      std::string head = "[";
      head.append(std::to_string(number)).append("/").append(std::to_string(runs)).append("] ");
      head += leg_name(leg.which);
      progress.draw(head + "  starting");
      leg_watch watch;
      watch.on_sample = [&](std::uint64_t tokens, std::uint64_t resident_bytes) {
        progress.draw(head + "  token " + count_text(tokens) + " of " + count_text(request.session.tokens) + "  " +
                      count_text(resident_bytes >> 20) + " MiB");
      };
      leg.runs.push_back(
          run_leg_process({session_of(request, leg.which), request.device.size_bytes, leg.memory, {}, {}}, watch));
    }
  }
}

}  // namespace arcalloc::cli
