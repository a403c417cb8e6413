// SPDX-License-Identifier: Apache-2.0
#include "results.hpp"

namespace arcalloc::cli::test {

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t start_bytes = 500 * mib;

leg_result leg_with(leg which, const leg_run& run) {
  leg_result result;
  result.which = which;
  result.memory = leg_options(which, {}, {});
  result.runs.push_back(run);
  return result;
}

}  // namespace

counters made_up_counters(std::uint64_t steps, std::uint64_t misses) {
  counters c{};
  c.size = sizeof c;
  c.version = ARCALLOC_COUNTERS_VERSION;
  c.steps = steps;
  c.requests = steps * 10;
  c.misses = steps * misses;
  c.hits = c.stream_cache_hits = c.requests - c.misses;
  c.driver_allocs = c.segments_reserved = c.misses;
  c.allocated_bytes = c.allocated_bytes_peak = 40 * mib;
  c.requested_bytes = c.requested_bytes_peak = 32 * mib;
  c.cached_bytes = c.cached_bytes_peak = 6 * mib;
  c.slack_bytes = c.slack_bytes_peak = 2 * mib;
  c.held_bytes = c.held_bytes_peak = 8 * mib;
  c.reserved_bytes = 48 * mib;
  c.reserved_bytes_peak = 50 * mib;
  c.cached_bytes_max = 1024 * mib;
  c.capacity_bytes = ARCALLOC_NO_BOUND;
  c.cap_source = ARCALLOC_CAP_DERIVED;
  return c;
}

leg_run completed_run(double ms, double growth_mib) {
  leg_run run;
  run.outcome = status::ok;
  run.started = true;
  run.tokens_done = made_up_tokens;
  const double seconds = ms * made_up_tokens / 1000;
  for (std::size_t i = 0; i < decile_count; ++i) {
    const double share = static_cast<double>(i) / (decile_count - 1);
    run.decile_bytes[i] = start_bytes + static_cast<std::uint64_t>(share * growth_mib * static_cast<double>(mib));
    run.samples.push_back({share * seconds, decile_tokens(i, made_up_tokens), *run.decile_bytes[i]});
  }
  leg_report report;
  report.outcome.tokens_done = made_up_tokens;
  for (std::uint64_t i = 0; i < made_up_tokens; ++i) report.outcome.tokens.push_back(static_cast<std::int32_t>(i % 7));
  report.outcome.text = "Once <b>upon</b> a time & \"so on\"";
  report.outcome.decode_seconds = seconds;
  report.outcome.at_decode_start = made_up_counters(0, 0);
  report.outcome.at_half = made_up_counters(made_up_tokens / 2, 2);
  report.outcome.at_end = made_up_counters(made_up_tokens, 1);
  report.cap.cached_bytes_max = report.outcome.at_end.cached_bytes_max;
  report.cap.cap_source = ARCALLOC_CAP_DERIVED;
  report.cap.free_bytes = 3072 * mib;
  report.cap.reserve_bytes = 256 * mib;
  run.report = report;
  return run;
}

decode::capture_report made_up_capture() {
  decode::capture_report report;
  report.warm_up_steps = 3;
  report.profile = {{stream{5}, 393216, 2}, {default_stream, 4096, 7}};
  report.prewarm = status::ok;
  report.verified = status::capture_miss;
  report.missing = {{stream{5}, 393216, 2}};
  report.window = status::ok;
  report.misses = {{390000, 393216, stream{UINT64_MAX}, 2}};
  report.pinned_bytes = 3 * mib;
  report.operations = 145;
  report.replays = made_up_tokens - 3;
  return report;
}

leg_run ended_run(status outcome, std::uint64_t tokens) {
  leg_run run = completed_run(5, 100);
  run.outcome = outcome;
  run.tokens_done = tokens;
  run.report->outcome.outcome = outcome;
  run.report->outcome.tokens_done = tokens;
  run.report->outcome.tokens.resize(tokens);
  for (std::size_t i = 0; i < decile_count; ++i) {
    if (decile_tokens(i, made_up_tokens) > tokens) run.decile_bytes[i].reset();
  }
  run.samples.clear();
  run.resident_bytes_peak = start_bytes + 77 * mib;
  return run;
}

decode_result made_up_result() {
  decode_result result;
  result.request.session.config_name = "made-up";
  result.request.session.tokens = made_up_tokens;
  result.request.legs = {leg::off, leg::unbounded, leg::exact, leg::bounded};
  result.from.version = "9.8.7";
  result.from.commit = "c0ffee";
  result.from.dirty = "clean";
  result.from.build_id = "b1d";
  result.from.compiler = "some compiler";
  result.from.build_type = "Release";
  result.from.device = "host:3GiB";
  result.from.driver = "mmap";
  result.from.command = "arcalloc decode --prompt '<script>'";
  result.from.settings = {{"ARC_ALLOC_CACHE_MAX_MB", "derived", "default", "cached max", ""}};
  result.legs.push_back(leg_with(leg::off, completed_run(9, 0)));
  result.legs.push_back(leg_with(leg::unbounded, completed_run(5, 1570)));
  result.legs.push_back(leg_with(leg::exact, completed_run(6, 900)));
  result.legs.push_back(leg_with(leg::bounded, completed_run(5.5, 20)));
  return result;
}

leg_result& leg_of(decode_result& result, leg which) {
  for (leg_result& one : result.legs) {
    if (one.which == which) return one;
  }
  return result.legs.front();
}

}  // namespace arcalloc::cli::test
