// SPDX-License-Identifier: Apache-2.0
#include "trace_replay_command.hpp"

#include <algorithm>
#include <arcalloc/host_backend.hpp>
#include <arcalloc/sim_backend.hpp>
#include <cstdio>
#include <memory>

#include "cuda_device.hpp"
#include "cuda_replay_work.hpp"
#include "device_lock.hpp"
#include "json_text.hpp"
#include "number_text.hpp"
#include "provenance.hpp"
#include "result_file.hpp"
#include "settings_view.hpp"
#include "text_table.hpp"
#include "trace/formats/read_trace.hpp"
#include "trace/formats/trace_summary.hpp"
#include "trace/peers/peer_replay.hpp"
#include "trace/replay/trace_replay.hpp"

namespace arcalloc::cli {

namespace {

/// What one policy came to.
struct policy_result {
  replay_policy which = leg::bounded;
  trace::replay_result played;
  std::optional<std::uint64_t> smallest_device_bytes;
};

struct all_results {
  trace::trace_facts facts;
  std::uint64_t events = 0;
  std::uint64_t requested_bytes_peak = 0;
  std::uint64_t reserved_bytes_peak = 0;  ///< of the trace's own allocator; 0 where the trace does not say
  std::vector<policy_result> policies;
};

options settings_of(const trace_replay_request& asked, leg which, const options& from_environment) {
  options settings = leg_options(which, asked.bounds, from_environment);
  settings.stats_every_steps = 0;
  settings.profile_path = nullptr;
  settings.trace_path = nullptr;  // it might be the very file that is read
  if (asked.capacity_bytes != 0) settings.capacity_bytes = asked.capacity_bytes;
  if (which == leg::bounded && asked.classes) settings.classes = *asked.classes;
  return settings;
}

/// The same on a card, where each block is memory traffic. Nobody else may be on it.
trace::replay_result play_on_card(const trace_replay_request& asked, const options& settings, trace::trace_facts& facts,
                                  std::unique_ptr<trace::trace_summary>& summary) {
  const device_lock lock(asked.card->text);
  const std::unique_ptr<cuda_backend> card = require_cuda_device(*asked.card);
  memory_info said;
  if (card->query_memory(said) == status::ok) require_empty(asked.card->text, said.total_bytes - said.free_bytes);
  cuda_replay_work work(*card);
  trace::trace_replay replay(asked.file, *card, work, settings);
  summary = std::make_unique<trace::trace_summary>(&replay);
  facts = trace::read_trace(asked.file, asked.read, *summary);
  return replay.finish();
}

/// The same by the rules of a peer, on a device in plain numbers.
trace::replay_result play_peer(const trace_replay_request& asked, trace::peer which, std::uint64_t device_bytes,
                               trace::trace_facts& facts, std::unique_ptr<trace::trace_summary>& summary) {
  trace::peer_options described;
  described.memory_bytes = device_bytes;
  described.granule_bytes = asked.granule_bytes;
  if (asked.capacity_bytes != 0) described.capacity_bytes = asked.capacity_bytes;
  if (asked.bounds.cap_mb) described.cached_bytes_max = *asked.bounds.cap_mb << 20;
  trace::peer_replay replay(asked.file, which, described);
  summary = std::make_unique<trace::trace_summary>(&replay);
  facts = trace::read_trace(asked.file, asked.read, *summary);
  return replay.finish();
}

/// One pass over the file. `summary` stands in front of the replay; `settings` are of arcalloc, and nothing to a peer.
trace::replay_result play(const trace_replay_request& asked, const replay_policy& which, const options& settings,
                          std::uint64_t device_bytes, trace::trace_facts& facts,
                          std::unique_ptr<trace::trace_summary>& summary) {
  if (const trace::peer* other = std::get_if<trace::peer>(&which)) {
    return play_peer(asked, *other, device_bytes, facts, summary);
  }
  if (asked.card) return play_on_card(asked, settings, facts, summary);
  std::unique_ptr<backend> device;
  sim_backend* simulated = nullptr;
  if (asked.on_host) {
    device = std::make_unique<host_backend>(device_bytes);
  } else {
    sim_options described;
    described.memory_bytes = device_bytes;
    described.granularity = asked.granule_bytes;
    auto made = std::make_unique<sim_backend>(described);
    simulated = made.get();
    device = std::move(made);
  }
  trace::trace_replay replay(asked.file, *device, simulated, settings);
  summary = std::make_unique<trace::trace_summary>(&replay);
  facts = trace::read_trace(asked.file, asked.read, *summary);
  return replay.finish();
}

/// The smallest device in which nothing is refused, to a granule; none where the asked one does not do.
std::optional<std::uint64_t> smallest_device(const trace_replay_request& asked, const replay_policy& which,
                                             const options& settings, const trace::replay_result& in_full) {
  if (in_full.refusal) return std::nullopt;
  trace::trace_facts facts;
  std::unique_ptr<trace::trace_summary> summary;
  const std::uint64_t step = asked.granule_bytes;
  std::uint64_t too_small = (in_full.requested_bytes_peak - std::min(in_full.requested_bytes_peak, step)) / step;
  std::uint64_t enough = (in_full.last.reserved_bytes_peak + step - 1) / step;
  while (play(asked, which, settings, enough * step, facts, summary).refusal) enough += enough / 8 + 1;
  while (enough - too_small > 1) {
    const std::uint64_t middle = too_small + (enough - too_small) / 2;
    (play(asked, which, settings, middle * step, facts, summary).refusal ? too_small : enough) = middle;
  }
  return enough * step;
}

std::string ratio_text(std::uint64_t bytes, std::uint64_t of) {
  return of == 0 ? "-" : fixed_text(static_cast<double>(bytes) / static_cast<double>(of), 3);
}

std::string outcome_text(const trace::replay_result& played) {
  return played.refusal ? status_name(played.refusal->outcome) : "completed";
}

void print(const trace_replay_request& asked, const all_results& all) {
  std::printf("%s: %s, %s events, at most %s MiB out at once", one_line(asked.file).c_str(),
              trace::trace_format_name(all.facts.format), count_text(all.events).c_str(),
              mib_text(all.requested_bytes_peak).c_str());
  if (all.reserved_bytes_peak != 0) {
    std::printf("; its own allocator reserved %s MiB, %s times that", mib_text(all.reserved_bytes_peak).c_str(),
                ratio_text(all.reserved_bytes_peak, all.requested_bytes_peak).c_str());
  }
  std::printf("\n\n");
  text_table table;
  table.add_column("policy", "", false);
  table.add_column("outcome", "", false);
  table.add_column("reserved", "MiB", true);
  table.add_column("over peak", "", true);
  table.add_column("allocs", "", true);
  table.add_column("frees", "", true);
  table.add_column("calls/step", "most", true);
  table.add_column("hit rate", "", true);
  table.add_column("driver", "ms", true);
  if (asked.smallest_device) table.add_column("smallest", "over peak", true);
  for (const policy_result& one : all.policies) {
    const counters& last = one.played.last;
    std::vector<std::string> cells{
        policy_name(one.which),
        outcome_text(one.played),
        mib_text(last.reserved_bytes_peak),
        ratio_text(last.reserved_bytes_peak, one.played.requested_bytes_peak),
        count_text(last.driver_allocs),
        count_text(last.driver_frees),
        one.played.steps == 0 ? "-" : count_text(one.played.driver_calls_step_max),
        last.requests == 0 ? "-" : rate_text(static_cast<double>(last.hits) / static_cast<double>(last.requests)),
        asked.on_host || asked.card ? "-" : fixed_text(static_cast<double>(one.played.device_ns) / 1e6, 1)};
    if (asked.smallest_device) {
      cells.push_back(
          one.smallest_device_bytes ? ratio_text(*one.smallest_device_bytes, one.played.requested_bytes_peak) : "-");
    }
    table.add_row(std::move(cells));
  }
  std::printf("%s", table.text().c_str());
  for (const policy_result& one : all.policies) {
    const trace::replay_result& played = one.played;
    if (played.refusal) {
      char record[512];
      (void)format_failure(played.refusal->record, record, sizeof record);
      std::printf("%s: event %s: %s\n", policy_name(one.which), count_text(played.refusal->event).c_str(), record);
    }
    if (played.refusals_recorded != 0) {
      std::printf("%s: the trace's own allocator refused %s requests; %s of them would have been served\n",
                  policy_name(one.which), count_text(played.refusals_recorded).c_str(),
                  count_text(played.refusals_served).c_str());
    }
    if (played.cached_bytes_max_wanted != 0) {
      std::printf("%s: thrashes; a cached max of %s MiB would have kept what was wanted again\n",
                  policy_name(one.which), mib_text(played.cached_bytes_max_wanted).c_str());
    }
    if (!played.convictions.empty()) {
      print_error(asked.file + ": " + policy_name(one.which) +
                  (asked.card ? ": what lay on the card convicts " : ": the simulated device convicts ") +
                  count_text(played.convictions.size()) + " times, first: " + played.convictions.front());
    }
  }
}

ordered_json json_of(const policy_result& one) {
  const trace::replay_result& played = one.played;
  ordered_json refusal = nullptr;
  if (played.refusal) refusal = {{"event", played.refusal->event}, {"requested_bytes", played.refusal->bytes}};
  return {{"policy", policy_name(one.which)},
          {"outcome", outcome_text(played)},
          {"refusal", refusal},
          {"requested_bytes_peak", played.requested_bytes_peak},
          {"steps", played.steps},
          {"driver_calls_step_max", played.driver_calls_step_max},
          {"driver_calls_first_step", played.driver_calls_first_step},
          {"refusals_recorded", played.refusals_recorded},
          {"refusals_served", played.refusals_served},
          {"cached_bytes_max_wanted", played.cached_bytes_max_wanted},
          {"device_ns", played.device_ns},
          {"smallest_device_bytes", json_or_null(one.smallest_device_bytes)},
          {"convictions", played.convictions},
          {"counters", counters_json(played.last)}};
}

std::string json_of(const trace_replay_request& asked, const all_results& all, const std::vector<std::string>& words) {
  provenance from = this_provenance(asked.card ? asked.card->text : asked.on_host ? "host" : "sim", words);
  from.driver = asked.on_host ? "host memory" : "simulated";
  from.free_bytes_at_start = asked.device_bytes;
  if (asked.card) {
    const std::unique_ptr<cuda_backend> card = require_cuda_device(*asked.card);
    memory_info said;
    (void)card->query_memory(said);  // 0 where it will not say
    from.driver = driver_text(*card) + ", " + card->device_name();
    from.free_bytes_at_start = said.free_bytes;
  }
  ordered_json policies = ordered_json::array();
  for (const policy_result& one : all.policies) policies.push_back(json_of(one));
  return json_file(
      {{"schema", "arcalloc.trace_replay/1"},
       {"provenance", provenance_json(from)},
       {"file", asked.file},
       {"format", trace::trace_format_name(all.facts.format)},
       {"events", all.events},
       {"requested_bytes_peak", all.requested_bytes_peak},
       {"reserved_bytes_peak",
        all.reserved_bytes_peak == 0 ? ordered_json(nullptr) : ordered_json(all.reserved_bytes_peak)},
       {"device_bytes", asked.card ? ordered_json(nullptr) : ordered_json(asked.device_bytes)},
       {"granule_bytes", asked.on_host || asked.card ? ordered_json(nullptr) : ordered_json(asked.granule_bytes)},
       {"policies", policies}});
}

exit_status verdict_of(const all_results& all) {
  exit_status worst = exit_status::done;
  for (const policy_result& one : all.policies) {
    if (!one.played.convictions.empty()) return exit_status::expectation_failed;
    if (one.played.refusal && must_survive(one.which)) worst = exit_status::out_of_memory;
  }
  return worst;
}

}  // namespace

exit_status replay_trace(const trace_replay_request& asked, const std::vector<std::string>& words) {
  const settings_view environment = read_settings();
  require_settings(environment);
  if (!asked.json.empty()) require_writable("--json", asked.json);
  all_results all;
  try {
    for (const replay_policy& which : asked.policies) {
      const leg* own = std::get_if<leg>(&which);
      const options settings = own == nullptr ? options{} : settings_of(asked, *own, environment.from_environment);
      std::unique_ptr<trace::trace_summary> summary;
      policy_result one;
      one.which = which;
      one.played = play(asked, which, settings, asked.device_bytes, all.facts, summary);
      all.events = summary->events();
      all.requested_bytes_peak = summary->requested_bytes_peak();
      all.reserved_bytes_peak = summary->reserved_bytes_peak();
      if (asked.smallest_device) one.smallest_device_bytes = smallest_device(asked, which, settings, one.played);
      all.policies.push_back(std::move(one));
    }
  } catch (const trace::trace_error& error) {
    throw command_failure{exit_status::bad_usage, error.message};
  } catch (const decode::device_error& error) {
    throw command_failure{exit_status::device_refused, "--device " + asked.card->text + ": " + error.message};
  }
  print(asked, all);
  if (!asked.json.empty()) write_result_file("--json", asked.json, json_of(asked, all, words));
  return verdict_of(all);
}

}  // namespace arcalloc::cli
