// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode_request.hpp"
#include "exit_status.hpp"
#include "leg_process.hpp"
#include "provenance.hpp"

namespace arcalloc::cli {

/// The figures of one run of one leg. All per-step figures are over the decode steps, not over the
/// loading of weights. What could not be measured is absent.
struct leg_figures {
  bool completed = false;
  std::string outcome;  ///< "completed" or the status it ended with
  std::string ended;    ///< the same for people, with the token at which it died
  std::uint64_t tokens_done = 0;
  std::optional<double> ms_per_token;
  std::optional<double> tokens_per_s;
  std::optional<std::int64_t> memory_growth_bytes;  ///< of a leg that did not reach its last token: its highest
  std::optional<double> memory_slope_bytes_per_s;
  std::array<std::optional<std::int64_t>, decile_count> memory_deciles_bytes{};  ///< above decile 0
  std::optional<double> hit_rate;
  std::optional<double> driver_allocs_per_step;
  std::optional<double> driver_frees_per_step;
  std::optional<double> driver_allocs_per_step_second_half;
  std::optional<double> driver_frees_per_step_second_half;
  std::optional<double> requests_per_step;
  std::optional<double> reserved_over_allocated;   ///< of the peaks
  std::optional<double> allocated_over_requested;  ///< of the peaks: rounding
  std::optional<counters> at_end;                  ///< nothing when the process died
  std::optional<counters> decode_window;           ///< over the decode steps; nothing if they never began
  std::string accounting;                          ///< the identity that is violated; empty when all hold
};

/// One leg with all its rounds. Medians are over the rounds; every other figure is from `shown`.
struct leg_result {
  leg which = leg::bounded;
  options memory;
  std::vector<leg_run> runs;           ///< one a round
  std::vector<leg_figures> rounds;     ///< the same, as figures
  std::size_t shown = 0;               ///< the round with the median time, or the first that did not complete
  std::optional<spread> ms_per_token;  ///< over the rounds that completed
  std::optional<spread> memory_growth_bytes;

  [[nodiscard]] const leg_figures& figures() const { return rounds[shown]; }
  [[nodiscard]] const leg_run& run() const { return runs[shown]; }
};

/// The result of `arcalloc decode`.
struct decode_result {
  decode_request request;
  provenance from;
  std::vector<leg_result> legs;
  std::optional<double> bound_cost_ms_per_token;  ///< bounded - unbounded
  std::optional<double> gain_kept;                ///< (off - bounded) / (off - unbounded)
  std::vector<double> bounded_over_unbounded;     ///< ms per token, one a round in which both completed
  bool tokens_equal = true;
  std::string token_difference;  ///< the first one, for people
  std::string accounting;        ///< the first identity that is violated, for people; empty when all hold
  exit_status status = exit_status::done;

  [[nodiscard]] const leg_result* find(leg which) const;
};

/// The figures of one run.
leg_figures figures_of(const leg_run& run, const decode::session_settings& session);

/// The first identity stated at arcalloc_counters that `c` violates, written out; empty when all hold.
std::string violated_identity(const counters& c);

/// Fills everything that follows from the runs: figures, medians, comparisons, the exit status.
void conclude(decode_result& result);

}  // namespace arcalloc::cli
