// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "command.hpp"
#include "json_text.hpp"
#include "number_text.hpp"
#include "provenance.hpp"
#include "result_file.hpp"
#include "trace/formats/read_trace.hpp"
#include "trace/scenario_run.hpp"
#include "trace/scenario_text.hpp"
#include "trace_flags.hpp"
#include "trace_replay_command.hpp"

namespace arcalloc::cli {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

trace::scenario read(const std::string& file) {
  try {
    return trace::read_scenario(file);
  } catch (const trace::scenario_error& error) {
    throw command_failure{exit_status::bad_usage, error.message};
  }
}

/// "FILE:LINE", or "FILE at the end" for what is looked at when everything was freed.
std::string place_text(const std::string& file, const trace::scenario_failure& failure) {
  return failure.line == 0 ? file + " at the end" : file + ':' + std::to_string(failure.line);
}

void print(const std::string& file, const trace::scenario_result& result) {
  for (const std::string& warning : result.warnings) print_error(file + ": warning: " + warning);
  for (const std::string& report : result.reports) std::printf("%s\n", one_line(report).c_str());
  for (const trace::scenario_failure& failure : result.failed) {
    print_error(place_text(file, failure) + ": expected " + failure.expected + ", found " + failure.found);
  }
  if (result.cached_bytes_max_wanted != 0) {
    std::printf("%s: thrashes; a cached max of %s MiB would have kept what was wanted again\n", one_line(file).c_str(),
                mib_text(result.cached_bytes_max_wanted).c_str());
  }
  std::printf("%s: %s expectations, %s failed\n", one_line(file).c_str(),
              count_text(result.expectations_checked).c_str(), count_text(result.failed.size()).c_str());
}

std::string json_of(const trace::scenario& what, const trace::scenario_result& result,
                    const std::vector<std::string>& words) {
  provenance from = this_provenance("sim", words);
  from.driver = "simulated";
  from.free_bytes_at_start = what.device.memory_bytes - std::min(what.device.memory_bytes, what.device.others_bytes);
  ordered_json failed = ordered_json::array();
  for (const trace::scenario_failure& failure : result.failed) {
    failed.push_back({{"line", failure.line == 0 ? ordered_json(nullptr) : ordered_json(failure.line)},
                      {"expected", failure.expected},
                      {"found", failure.found}});
  }
  return json_file({{"schema", "arcalloc.replay/1"},
                    {"provenance", provenance_json(from)},
                    {"file", what.file},
                    {"outcome", result.held() ? "held" : "failed"},
                    {"expectations_checked", result.expectations_checked},
                    {"failed", failed},
                    {"warnings", result.warnings},
                    {"cached_bytes_max_wanted", result.cached_bytes_max_wanted},
                    {"device_ns", result.device_ns},
                    {"counters", counters_json(result.last)}});
}

exit_status replay_scenario(const std::string& file, const std::string& json, const std::vector<std::string>& words) {
  const trace::scenario what = read(file);
  if (!json.empty()) require_writable("--json", json);
  const trace::scenario_result result = trace::run_scenario(what);
  print(file, result);
  if (!json.empty()) write_result_file("--json", json, json_of(what, result, words));
  return result.held() ? exit_status::done : exit_status::expectation_failed;
}

/// The flags of a trace, as they were written.
struct trace_flags {
  std::string policy, cap, exact_cap, capacity, geometry, device, granularity;
  reading_flags reading;
};

void add_trace_flags(CLI::App& line, trace_flags& flags, trace_replay_request& asked) {
  const auto add = [&line](const char* name, std::string& value, const char* form, const char* help) {
    line.add_option(name, value, help)->option_text(form);
  };
  add("--policy", flags.policy, "LIST",
      "traces: which of off,unbounded,exact,bounded to play it under, or by the\n"
      "rules of which of pytorch,mlx (default: bounded)");
  add("--cap", flags.cap, "MB",
      "cached max in MiB of bounded (default: derived) and of mlx (default: 0.8 of\nthe device)");
  add("--exact-cap", flags.exact_cap, "MB", "cached max of exact in MiB (default 1024)");
  add("--capacity", flags.capacity, "MB", "bound on reserved bytes in MiB (default: none)");
  add("--geometry", flags.geometry, "P", "of bounded: size classes per doubling, 1, 2, 4, 8 or 16, or exact");
  add("--device", flags.device, "DEVICE", "sim[:SIZE], host[:SIZE] or cuda:N (default sim:80GiB)");
  add("--granularity", flags.granularity, "SIZE",
      "of sim: what the device lends at least, a power of two from 512 bytes\nto 2MiB (default 2MiB)");
  line.add_flag("--smallest-device", asked.smallest_device,
                "on sim: also search the smallest device in which nothing is refused");
  add_reading_flags(line, flags.reading, asked.read);
}

constexpr std::uint64_t mib_most = std::uint64_t{1} << 30;

void read_device(const std::string& text, trace_replay_request& asked) {
  if (text.starts_with("cuda:")) {
    asked.card = require_device(text);
    return;
  }
  if (text == "host" || text.starts_with("host:")) {
    asked.on_host = true;
    asked.device_bytes = require_device(text).size_bytes;
    return;
  }
  asked.device_bytes = require_sim_bytes(text, "sim, sim:SIZE, host, host:SIZE (1MiB to 65536GiB) or cuda:N");
}

bool plays(const trace_replay_request& asked, const replay_policy& which) {
  return std::find(asked.policies.begin(), asked.policies.end(), which) != asked.policies.end();
}

/// Refuses flags that say nothing to any policy asked for, and those that one of them cannot obey.
void require_flags_that_apply(const CLI::App& line, const trace_replay_request& asked) {
  const auto given = [&line](const char* name) { return line.count(name) > 0; };
  const auto refuse = [](const std::string& why) { throw command_failure{exit_status::bad_usage, why}; };
  const bool plays_peers = plays(asked, trace::peer::pytorch) || plays(asked, trace::peer::mlx);
  if (given("--geometry") && !plays(asked, leg::bounded)) refuse("--geometry: is about bounded, which is not played");
  if (given("--exact-cap") && !plays(asked, leg::exact)) refuse("--exact-cap: is about exact, which is not played");
  if (given("--cap") && !plays(asked, leg::bounded) && !plays(asked, trace::peer::mlx)) {
    refuse("--cap: is about bounded and mlx, neither of which is played");
  }
  if (given("--capacity") && plays(asked, trace::peer::mlx)) {
    refuse("--capacity: mlx has no bound on all that it takes from the driver");
  }
  if (plays_peers && (asked.on_host || asked.card)) {
    refuse("--device: the rules of peers are played on sim alone");
  }
}

void read_trace_flags(const CLI::App& line, const trace_flags& flags, trace_replay_request& asked) {
  const auto given = [&line](const char* name) { return line.count(name) > 0; };
  if (given("--policy")) asked.policies = require_policies(flags.policy);
  if (given("--cap")) asked.bounds.cap_mb = require_count("--cap", flags.cap, 0, mib_most);
  if (given("--exact-cap")) asked.bounds.exact_cap_mb = require_count("--exact-cap", flags.exact_cap, 0, mib_most);
  if (given("--capacity")) asked.capacity_bytes = require_count("--capacity", flags.capacity, 1, mib_most) * mebibyte;
  if (given("--geometry")) asked.classes = require_geometry(flags.geometry);
  if (given("--device")) read_device(flags.device, asked);
  if (given("--granularity")) asked.granule_bytes = require_sim_granule(flags.granularity);
  if ((asked.on_host || asked.card) && (asked.smallest_device || given("--granularity"))) {
    throw command_failure{exit_status::bad_usage, "--smallest-device and --granularity are about the simulated device"};
  }
  require_flags_that_apply(line, asked);
  read_reading_flags(line, flags.reading, asked.read);
}

/// Whether the file holds one of the trace formats; what it is called decides only where it ends in .ops.
bool is_trace(const std::string& file) {
  if (file.ends_with(".ops")) return false;
  try {
    (void)trace::format_of(*trace::open_source(file));
    return true;
  } catch (const trace::trace_error&) {
    return false;  // then it is read as a scenario, and refused by line
  }
}

}  // namespace

exit_status run_replay(const std::vector<std::string>& words) {
  CLI::App line(
      "Runs a scenario (.ops) over a simulated device, checks what it expects, and names every\n"
      "expectation that does not hold. Its settings come from the scenario alone.\n"
      "Plays a trace of an allocator, in any format that convert reads, to arcalloc under one policy\n"
      "or several, on a simulated device or on host memory, or by the rules of another allocator, and\n"
      "compares what they reserve and what they ask of the driver.\n",
      "arcalloc replay");
  set_layout(line);
  std::string file;
  std::string json;
  trace_flags flags;
  trace_replay_request asked;
  line.add_option("FILE", file, "a scenario (docs/scenarios.md) or a trace (docs/trace_format.md)");
  add_trace_flags(line, flags, asked);
  line.add_option("--json", json, "write the result as JSON, schema arcalloc.replay/1 or arcalloc.trace_replay/1")
      ->option_text("FILE");
  if (parse_or_help(line, words)) return exit_status::done;

  if (line.count("FILE") == 0) {
    throw command_failure{exit_status::bad_usage, "no scenario or trace given; see arcalloc replay --help"};
  }
  if (line.count("--json") > 0 && json.empty()) {
    throw command_failure{exit_status::bad_usage, "--json: the name is empty"};
  }
  if (line.count("--from") > 0 || is_trace(file)) {
    asked.file = file;
    asked.json = json;
    read_trace_flags(line, flags, asked);
    return replay_trace(asked, words);
  }
  for (const CLI::Option* one : line.get_options()) {
    const std::string name = one->get_name();
    if (one->count() > 0 && name.starts_with("--") && name != "--json") {
      throw command_failure{exit_status::bad_usage, name + ": is about traces, and " + file + " is a scenario"};
    }
  }
  return replay_scenario(file, json, words);
}

}  // namespace arcalloc::cli
