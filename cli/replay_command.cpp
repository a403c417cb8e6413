// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "command.hpp"
#include "json_text.hpp"
#include "number_text.hpp"
#include "provenance.hpp"
#include "result_file.hpp"
#include "trace/scenario_run.hpp"
#include "trace/scenario_text.hpp"

namespace arcalloc::cli {

namespace {

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

}  // namespace

exit_status run_replay(const std::vector<std::string>& words) {
  CLI::App line(
      "Runs a scenario (.ops) over a simulated device, checks what it expects, and names every\n"
      "expectation that does not hold. Settings come from the scenario alone.\n",
      "arcalloc replay");
  set_layout(line);
  std::string file;
  std::string json;
  line.add_option("FILE", file, "the scenario; docs/scenarios.md has the language");
  line.add_option("--json", json, "write the result as JSON, schema arcalloc.replay/1")->option_text("FILE");
  if (parse_or_help(line, words)) return exit_status::done;

  if (line.count("FILE") == 0) {
    throw command_failure{exit_status::bad_usage, "no scenario given; see arcalloc replay --help"};
  }
  if (line.count("--json") > 0 && json.empty()) {
    throw command_failure{exit_status::bad_usage, "--json: the name is empty"};
  }
  const trace::scenario what = read(file);
  if (!json.empty()) require_writable("--json", json);
  const trace::scenario_result result = trace::run_scenario(what);
  print(file, result);
  if (!json.empty()) write_result_file("--json", json, json_of(what, result, words));
  return result.held() ? exit_status::done : exit_status::expectation_failed;
}

}  // namespace arcalloc::cli
