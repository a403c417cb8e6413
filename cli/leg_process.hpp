// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "figures.hpp"
#include "leg_message.hpp"

namespace arcalloc::cli {

/// How a leg's process is started and watched.
struct leg_watch {
  std::string program = "/proc/self/exe";       ///< the running binary, even if its file was replaced
  std::chrono::milliseconds sample_every{500};  ///< 2 Hz
  unsigned idle_samples_most = 120;             ///< so many samples without a token or CPU time: it is stuck
  /// Bytes in use on the leg's CUDA device, in the place of the memory of its process.
  std::function<std::optional<std::uint64_t>()> device_bytes;
  std::function<void()> on_start;
  /// Called with every sample, for progress on a terminal.
  std::function<void(std::uint64_t tokens, std::uint64_t resident_bytes)> on_sample;
};

/// What one run of one leg in a process of its own came to, with its memory as seen from outside.
struct leg_run {
  status outcome = status::backend_failed;
  std::string death;                 ///< how the process died, when it did: "killed by signal 9 (Killed)"
  std::optional<leg_report> report;  ///< nothing when the process died
  bool started = false;              ///< the decode steps began: decile 0 was sampled
  std::uint64_t tokens_done = 0;
  std::vector<memory_sample> samples;  ///< at 2 Hz (of a simulated card: its own time), decile 0 first
  std::array<std::optional<std::uint64_t>, decile_count> decile_bytes{};  ///< resident, exact; or used of the card
  std::optional<std::uint64_t> resident_bytes_peak;                       ///< since decile 0
};

/// Runs one leg and waits for it. The process is always gone and reaped afterwards, however this
/// returns. A process that dies or gets stuck is an outcome (backend_failed, with `death` set).
/// Throws command_failure when the input is refused (bad_usage, with the message of the leg) or the
/// process cannot be started, and `interrupted` on SIGINT, SIGTERM or SIGHUP.
/// One at a time, from a process with one thread.
leg_run run_leg_process(const leg_request& request, const leg_watch& watch);

/// The same for several legs at the same time, each with its watch: for legs on simulated cards, which keep their own
/// time and wait for nobody. Throws what the first of them throws; the others are gone by then too.
std::vector<leg_run> run_leg_processes(const std::vector<leg_request>& requests, const std::vector<leg_watch>& watches);

}  // namespace arcalloc::cli
