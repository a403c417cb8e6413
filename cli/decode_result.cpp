// SPDX-License-Identifier: Apache-2.0
#include "decode_result.hpp"

#include <algorithm>
#include <arcalloc/counters.hpp>

namespace arcalloc::cli {

namespace {

std::int64_t difference(std::uint64_t now, std::uint64_t before) {
  return static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before);
}

std::optional<double> ratio(std::uint64_t over, std::uint64_t under) {
  if (under == 0) return std::nullopt;
  return static_cast<double>(over) / static_cast<double>(under);
}

void add_memory(leg_figures& figures, const leg_run& run, std::uint64_t tokens) {
  const auto start = run.decile_bytes.front();
  if (!run.started || !start) return;
  for (std::size_t i = 0; i < decile_count; ++i) {
    if (run.decile_bytes[i]) figures.memory_deciles_bytes[i] = difference(*run.decile_bytes[i], *start);
  }
  figures.memory_slope_bytes_per_s = second_half_slope(run.samples);
  if (figures.completed && run.tokens_done == tokens && figures.memory_deciles_bytes.back()) {
    figures.memory_growth_bytes = figures.memory_deciles_bytes.back();
    return;
  }
  std::uint64_t highest = std::max(*start, run.resident_bytes_peak.value_or(0));
  for (const memory_sample& sample : run.samples) highest = std::max(highest, sample.resident_bytes);
  for (const auto& bytes : run.decile_bytes) highest = std::max(highest, bytes.value_or(0));
  figures.memory_growth_bytes = difference(highest, *start);
}

void add_counters(leg_figures& figures, const decode::session_outcome& outcome) {
  const counters& end = outcome.at_end;
  if (end.size == 0) return;
  figures.at_end = end;
  figures.reserved_over_allocated = ratio(end.reserved_bytes_peak, end.allocated_bytes_peak);
  figures.allocated_over_requested = ratio(end.allocated_bytes_peak, end.requested_bytes_peak);
  figures.accounting = violated_identity(end);
  if (outcome.at_decode_start.size == 0) return;
  const counters window = counters_between(outcome.at_decode_start, end);
  figures.decode_window = window;
  if (window.requests > 0) figures.hit_rate = hit_rate(window);
  figures.requests_per_step = ratio(window.requests, window.steps);
  figures.driver_allocs_per_step = ratio(window.driver_allocs, window.steps);
  figures.driver_frees_per_step = ratio(window.driver_frees, window.steps);
  if (outcome.at_half.size == 0) return;
  const counters half = counters_between(outcome.at_half, end);
  figures.driver_allocs_per_step_second_half = ratio(half.driver_allocs, half.steps);
  figures.driver_frees_per_step_second_half = ratio(half.driver_frees, half.steps);
}

/// Where the runs of a leg disagree on the tokens with `reference`; a run that died must have made
/// the beginning of them.
std::string difference_from(const std::vector<std::int32_t>& reference, const leg_run& run, const std::string& name) {
  if (!run.report) return {};
  const auto& tokens = run.report->outcome.tokens;
  const std::size_t common = std::min(tokens.size(), reference.size());
  const auto [mine, theirs] =
      std::mismatch(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(common), reference.begin());
  const auto at = static_cast<std::size_t>(mine - tokens.begin());
  if (at < common) {
    return name + " has " + std::to_string(*mine) + " as token " + std::to_string(at + 1) + " where the others have " +
           std::to_string(*theirs);
  }
  if (run.outcome == status::ok && tokens.size() != reference.size()) {
    return name + " ended after " + std::to_string(tokens.size()) + " tokens where the others made " +
           std::to_string(reference.size());
  }
  return {};
}

void compare_tokens(decode_result& result) {
  // The longest run that completed, or else the longest: all others are held against it.
  const leg_run* reference = nullptr;
  const auto better = [](const leg_run& a, const leg_run& b) {
    if ((a.outcome == status::ok) != (b.outcome == status::ok)) return a.outcome == status::ok;
    return a.report->outcome.tokens.size() > b.report->outcome.tokens.size();
  };
  for (const leg_result& leg : result.legs) {
    for (const leg_run& run : leg.runs) {
      if (run.report && (reference == nullptr || better(run, *reference))) reference = &run;
    }
  }
  if (reference == nullptr) return;
  for (const leg_result& leg : result.legs) {
    for (std::size_t i = 0; i < leg.runs.size(); ++i) {
      const std::string name = std::string(leg_name(leg.which)) + " (round " + std::to_string(i + 1) + ")";
      const std::string found = difference_from(reference->report->outcome.tokens, leg.runs[i], name);
      if (found.empty()) continue;
      result.tokens_equal = false;
      if (result.token_difference.empty()) result.token_difference = found;
    }
  }
}

void summarise(leg_result& leg) {
  std::vector<double> times;
  std::vector<double> growths;
  for (const leg_figures& round : leg.rounds) {
    if (round.completed && round.ms_per_token) times.push_back(*round.ms_per_token);
    if (round.completed && round.memory_growth_bytes)
      growths.push_back(static_cast<double>(*round.memory_growth_bytes));
  }
  leg.ms_per_token = spread_of(times);
  leg.memory_growth_bytes = spread_of(growths);
  const auto died = std::find_if(leg.rounds.begin(), leg.rounds.end(), [](const auto& r) { return !r.completed; });
  if (died != leg.rounds.end()) {
    leg.shown = static_cast<std::size_t>(died - leg.rounds.begin());
    return;
  }
  // The lower of the two in the middle: figures that are shown together come from one run.
  std::vector<std::size_t> order(leg.rounds.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return leg.rounds[a].ms_per_token.value_or(0) < leg.rounds[b].ms_per_token.value_or(0);
  });
  leg.shown = order[(order.size() - 1) / 2];
}

void compare_times(decode_result& result) {
  // A leg of which any round died has no time to compare.
  const auto time_of = [&](leg which) -> std::optional<double> {
    const leg_result* found = result.find(which);
    if (found == nullptr || !found->figures().completed || !found->ms_per_token) return std::nullopt;
    return found->ms_per_token->median;
  };
  const auto off = time_of(leg::off);
  const auto unbounded = time_of(leg::unbounded);
  const auto bounded = time_of(leg::bounded);
  if (bounded && unbounded) {
    result.bound_cost_ms_per_token = *bounded - *unbounded;
    const auto& above = result.find(leg::bounded)->rounds;
    const auto& below = result.find(leg::unbounded)->rounds;
    for (std::size_t i = 0; i < above.size(); ++i) {
      const double under = below[i].ms_per_token.value_or(0);
      if (under > 0 && above[i].ms_per_token) result.bounded_over_unbounded.push_back(*above[i].ms_per_token / under);
    }
  }
  // Where the cache gains nothing there is no gain to keep a share of.
  if (bounded && unbounded && off && *off > *unbounded) result.gain_kept = (*off - *bounded) / (*off - *unbounded);
}

}  // namespace

const leg_result* decode_result::find(leg which) const {
  const auto found = std::find_if(legs.begin(), legs.end(), [&](const leg_result& l) { return l.which == which; });
  return found == legs.end() ? nullptr : &*found;
}

leg_figures figures_of(const leg_run& run, const decode::session_settings& session) {
  leg_figures figures;
  figures.completed = run.outcome == status::ok;
  figures.outcome = figures.completed ? "completed" : status_name(run.outcome);
  figures.tokens_done = run.tokens_done;
  figures.ended = figures.outcome;
  if (!figures.completed) {
    figures.ended += run.started ? " at token " + std::to_string(run.tokens_done + 1) : " before token 1";
    if (!run.death.empty()) figures.ended += ", " + run.death;
  } else if (run.tokens_done < session.tokens && !session.serving) {
    figures.ended += " early, after token " + std::to_string(run.tokens_done);
  }
  if (run.report) {
    const double seconds = run.report->outcome.decode_seconds;
    const auto tokens = static_cast<double>(run.tokens_done);
    if (tokens > 0 && seconds > 0) {
      figures.ms_per_token = seconds * 1000 / tokens;
      figures.tokens_per_s = tokens / seconds;
    }
    add_counters(figures, run.report->outcome);
    if (figures.accounting.empty() && run.report->device && !run.report->device->conviction.empty()) {
      figures.accounting = "the simulated device convicts: " + run.report->device->conviction;
    }
    const auto& capture = run.report->outcome.capture;
    if (figures.accounting.empty() && capture && capture->requests_in_replays + capture->driver_calls_in_replays > 0) {
      figures.accounting = "a replayed step makes no request and no driver call";
    }
  }
  add_memory(figures, run, session.tokens);
  return figures;
}

std::string violated_identity(const counters& c) {
  struct identity {
    const char* text;
    bool holds;
  };
  const std::uint64_t accounted =
      c.allocated_bytes + c.pending_bytes + c.cached_bytes + c.slack_bytes + c.pinned_bytes + c.stuck_bytes;
  const std::uint64_t found = c.stream_cache_hits + c.pool_hits + c.reclaim_hits + c.cross_stream_hits + c.wait_hits;
  const std::uint64_t failed = c.failed_invalid_argument + c.failed_request_too_large + c.failed_capacity_exceeded +
                               c.failed_device_out_of_memory + c.failed_capture_miss + c.failed_backend_unavailable +
                               c.failed_backend_failed + c.failed_shutting_down;
  const identity identities[] = {
      {"I1: reserved = allocated + pending + cached + slack + pinned + stuck", c.reserved_bytes == accounted},
      {"I2: cached <= cached max", c.cached_bytes <= c.cached_bytes_max},
      {"I2: peak of reserved <= capacity", c.reserved_bytes_peak <= c.capacity_bytes},
      {"I3: requests = hits + misses + bypassed + failed", c.requests == c.hits + c.misses + c.bypassed + c.failed},
      {"I3: driver_allocs - driver_frees = segments_reserved", c.driver_allocs - c.driver_frees == c.segments_reserved},
      {"hits = stream_cache_hits + pool_hits + reclaim_hits + cross_stream_hits + wait_hits", c.hits == found},
      {"bypassed = disabled + phase", c.bypassed == c.bypassed_disabled + c.bypassed_phase},
      {"failed = the sum over its statuses", c.failed == failed},
      {"held = cached + slack", c.held_bytes == c.cached_bytes + c.slack_bytes},
  };
  for (const identity& one : identities) {
    if (!one.holds) return one.text;
  }
  return {};
}

void conclude(decode_result& result) {
  for (leg_result& leg : result.legs) {
    leg.rounds.clear();
    for (const leg_run& run : leg.runs) leg.rounds.push_back(figures_of(run, result.request.session));
    summarise(leg);
    for (std::size_t i = 0; i < leg.rounds.size(); ++i) {
      if (leg.rounds[i].accounting.empty() || !result.accounting.empty()) continue;
      result.accounting =
          std::string(leg_name(leg.which)) + " (round " + std::to_string(i + 1) + "): " + leg.rounds[i].accounting;
    }
  }
  compare_tokens(result);
  compare_times(result);
  if (!result.tokens_equal || !result.accounting.empty()) result.status = exit_status::expectation_failed;
  for (const leg_result& leg : result.legs) {
    if (must_survive(leg.which) && !leg.figures().completed) result.status = exit_status::out_of_memory;
  }
}

}  // namespace arcalloc::cli
