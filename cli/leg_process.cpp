// SPDX-License-Identifier: Apache-2.0
#include "leg_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "exit_status.hpp"
#include "leg_channel.hpp"
#include "leg_worker.hpp"
#include "memory_probe.hpp"

namespace arcalloc::cli {

namespace {

using clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what, int error) {
  throw command_failure{exit_status::device_refused,
                        std::string("cannot start a leg: ") + what + ": " + std::strerror(error)};
}

/// A file descriptor that is closed.
class open_file {
 public:
  explicit open_file(int file) noexcept : file_(file) {}
  ~open_file() {
    if (file_ >= 0) ::close(file_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  [[nodiscard]] int get() const noexcept { return file_; }

 private:
  int file_;
};

/// Turns the signals that ask the program to end into a readable file while it lives, so that a leg
/// is ended and reaped first.
class signal_watch {
 public:
  signal_watch() {
    sigset_t asked;
    ::sigemptyset(&asked);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&asked, number);
    ::sigprocmask(SIG_BLOCK, &asked, &before_);
    file_ = ::signalfd(-1, &asked, SFD_CLOEXEC | SFD_NONBLOCK);
    if (file_ < 0) {
      const int error = errno;
      ::sigprocmask(SIG_SETMASK, &before_, nullptr);
      fail("signalfd", error);
    }
  }
  ~signal_watch() {
    ::close(file_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

  [[nodiscard]] int file() const noexcept { return file_; }
  [[nodiscard]] const sigset_t& mask_before() const noexcept { return before_; }

  /// Throws `interrupted` when one of the signals has come.
  void check() const {
    signalfd_siginfo info{};
    if (::read(file_, &info, sizeof info) == sizeof info) throw interrupted{static_cast<int>(info.ssi_signo)};
  }

 private:
  int file_ = -1;
  sigset_t before_{};
};

/// The process of one leg: killed, if need be, and reaped by the destructor.
class leg_process {
 public:
  leg_process(const std::string& program, int channel, int board, const sigset_t& mask) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    // Where source and target are one, dup2 would leave the file closed on exec; ours are above.
    ::posix_spawn_file_actions_adddup2(&files, channel, leg_channel_file);
    ::posix_spawn_file_actions_adddup2(&files, board, leg_board_file);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &mask);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string name = "arcalloc";
    std::string command = leg_worker_command;
    char* const arguments[] = {name.data(), command.data(), nullptr};
    const int error = ::posix_spawn(&id_, program.c_str(), &files, &attributes, arguments, environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) fail(program.c_str(), error);
  }
  ~leg_process() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      reap();
    }
  }
  leg_process(const leg_process&) = delete;
  leg_process& operator=(const leg_process&) = delete;

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  void kill_now() const noexcept { ::kill(id_, SIGKILL); }

  /// Waits for the end; the wait status.
  int reap() noexcept {
    int how = 0;
    while (::waitpid(id_, &how, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return how;
  }

 private:
  pid_t id_ = -1;
};

/// Copies `file` to a number above those that the leg expects.
int raised(int file) {
  const int copy = ::fcntl(file, F_DUPFD_CLOEXEC, 10);
  const int error = errno;
  ::close(file);
  if (copy < 0) fail("fcntl", error);
  return copy;
}

std::string death_text(int how) {
  if (WIFSIGNALED(how)) {
    const int number = WTERMSIG(how);
    return "killed by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
  }
  return "exited with status " + std::to_string(WEXITSTATUS(how));
}

/// Where a leg's memory is seen.
enum class watched {
  process,  ///< from here: the resident memory of the leg's process
  card,     ///< from here: what the driver says of the card (leg_watch::device_bytes)
  marks,    ///< in what the leg says with its marks and its report: its simulated card is its own
};

/// Follows one leg from its start to its end.
class leg_follower {
 public:
  leg_follower(const leg_watch& watch, const signal_watch& signals, leg_process& process, line_channel& channel,
               const token_board& board, std::uint64_t tokens)
      : watch_(watch),
        signals_(signals),
        process_(process),
        channel_(channel),
        board_(board),
        tokens_(tokens),
        watched_(watch.device_bytes ? watched::card : watched::process) {}

  leg_run follow() {
    if (watch_.on_start) watch_.on_start();
    next_sample_ = clock::now() + watch_.sample_every;
    bool open = true;
    while (open) {
      if (wait_for_words()) {
        open = channel_.read_some();
        while (const auto line = channel_.take()) hear(*line);
      }
      if (clock::now() >= next_sample_) {
        sample();
        next_sample_ += watch_.sample_every;
        // After a pause (a stopped terminal job) the missed samples are not made up.
        next_sample_ = std::max(next_sample_, clock::now());
      }
    }
    finish();
    return std::move(run_);
  }

 private:
  /// Until there is something to read (true) or the next sample is due (false).
  bool wait_for_words() const {
    pollfd files[] = {{channel_.socket(), POLLIN, 0}, {signals_.file(), POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_sample_ - clock::now());
    const int ready = ::poll(files, 2, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    signals_.check();
    return ready > 0 && files[0].revents != 0;
  }

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(clock::now() - decode_start_).count(); }

  void hear(const std::string& line) {
    const auto word = word_from(line);
    if (!word) {
      run_.death = "said something that is no message";
      process_.kill_now();
    } else if (const auto* mark = std::get_if<leg_mark>(&*word)) {
      at_mark(*mark);
    } else if (const auto* report = std::get_if<leg_report>(&*word)) {
      run_.report = *report;
      all_done_ = true;
      if (peak_reset_) run_.resident_bytes_peak = resident_bytes_peak(process_.id());
      channel_.send("go");
    } else {
      refusal_ = std::get<leg_refusal>(*word).message;
      channel_.send("go");
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> bytes_at(const leg_mark& mark) const {
    switch (watched_) {
      case watched::process:
        return exact_resident_bytes(process_.id());
      case watched::card:
        return watch_.device_bytes();
      case watched::marks:
        break;
    }
    return mark.used_bytes;
  }

  /// The leg waits while this looks at its memory, unless its marks say it.
  void at_mark(const leg_mark& mark) {
    const std::uint64_t tokens = mark.tokens;
    if (mark.used_bytes) watched_ = watched::marks;
    const auto bytes = bytes_at(mark);
    if (!run_.started) {
      run_.started = true;
      peak_reset_ = watched_ == watched::process && reset_resident_peak(process_.id());
      decode_start_ = clock::now();
      next_sample_ = decode_start_ + watch_.sample_every;
      if (bytes) run_.samples.push_back({0, 0, *bytes});
    }
    for (std::size_t i = 0; i < decile_count; ++i) {
      if (decile_tokens(i, tokens_) == tokens) run_.decile_bytes[i] = bytes;
    }
    // After its last token a leg gives its memory back, which is no part of what is measured.
    if (tokens == tokens_) all_done_ = true;
    idle_samples_ = 0;
    if (watched_ != watched::marks) channel_.send("go");
  }

  void sample() {
    const auto bytes = watched_ == watched::card ? watch_.device_bytes() : resident_bytes(process_.id());
    const auto cpu = cpu_time_ns(process_.id()).value_or(0);
    const std::uint64_t done = board_.read();
    const bool idle = done == last_tokens_ && cpu == last_cpu_ns_;
    last_tokens_ = done;
    last_cpu_ns_ = cpu;
    idle_samples_ = idle ? idle_samples_ + 1 : 0;
    if (idle_samples_ >= watch_.idle_samples_most && run_.death.empty()) {
      run_.death = "stuck: no token and no CPU time over " + std::to_string(idle_samples_) + " samples; killed";
      process_.kill_now();
    }
    if (!bytes) return;
    if (run_.started && !all_done_ && watched_ != watched::marks) run_.samples.push_back({seconds(), done, *bytes});
    if (watch_.on_sample) watch_.on_sample(done, *bytes);
  }

  void finish() {
    const int how = process_.reap();
    signals_.check();
    const bool died = !WIFEXITED(how) || WEXITSTATUS(how) != 0;
    if (!refusal_.empty()) throw command_failure{exit_status::bad_usage, refusal_};
    if (died || !run_.report) {
      if (run_.death.empty()) run_.death = death_text(how);
      run_.report.reset();
      run_.tokens_done = board_.read();
      return;
    }
    run_.outcome = run_.report->outcome.outcome;
    run_.tokens_done = run_.report->outcome.tokens_done;
    if (run_.report->device) {
      run_.samples = run_.report->device->samples;
      run_.resident_bytes_peak = run_.report->device->used_bytes_peak;
      return;
    }
    drop_fall_at_the_end(run_.samples, run_.tokens_done);
  }

  const leg_watch& watch_;
  const signal_watch& signals_;
  leg_process& process_;
  line_channel& channel_;
  const token_board& board_;
  std::uint64_t tokens_;
  watched watched_;
  leg_run run_;
  std::string refusal_;
  clock::time_point next_sample_{};
  clock::time_point decode_start_{};
  std::uint64_t last_tokens_ = 0;
  std::uint64_t last_cpu_ns_ = 0;
  unsigned idle_samples_ = 0;
  bool peak_reset_ = false;
  bool all_done_ = false;
};

/// A leg that was started, until it is followed. Its process is killed, if need be, and reaped with it.
class started_leg {
 public:
  started_leg(const leg_request& request, const leg_watch& watch, const signal_watch& signals)
      : watch_(watch),
        signals_(signals),
        tokens_(request.session.tokens),
        board_file_(raised(token_board::make_file())),
        board_(board_file_.get()) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail("socketpair", errno);
    channel_.emplace(pair[0]);
    const open_file child_end(raised(pair[1]));
    // Only the leg holds the other end when this returns, so that its death ends the channel.
    process_.emplace(watch.program, child_end.get(), board_file_.get(), signals.mask_before());
    // A leg that is dead already shows in the follower.
    channel_->send(request_line(request));
  }

  leg_run follow() { return leg_follower(watch_, signals_, *process_, *channel_, board_, tokens_).follow(); }

 private:
  const leg_watch& watch_;
  const signal_watch& signals_;
  std::uint64_t tokens_;
  open_file board_file_;
  token_board board_;
  std::optional<line_channel> channel_;
  std::optional<leg_process> process_;
};

}  // namespace

leg_run run_leg_process(const leg_request& request, const leg_watch& watch) {
  const signal_watch signals;
  return started_leg(request, watch, signals).follow();
}

std::vector<leg_run> run_leg_processes(const std::vector<leg_request>& requests,
                                       const std::vector<leg_watch>& watches) {
  const signal_watch signals;
  std::vector<std::unique_ptr<started_leg>> started;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    started.push_back(std::make_unique<started_leg>(requests[i], watches[i], signals));
  }
  std::vector<leg_run> runs;
  for (const auto& leg : started) runs.push_back(leg->follow());
  return runs;
}

}  // namespace arcalloc::cli
