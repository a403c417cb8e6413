// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/host_backend.hpp>
#include <cstdio>
#include <cstdlib>

#include "command.hpp"
#include "cuda_device.hpp"
#include "decode_columns.hpp"
#include "decode_flags.hpp"
#include "decode_json.hpp"
#include "decode_run.hpp"
#include "decode_table.hpp"
#include "page/page.hpp"
#include "result_file.hpp"

namespace arcalloc::cli {

namespace {

constexpr const char* cap_variable = "ARC_ALLOC_CACHE_MAX_MB";
constexpr const char* trace_variable = "ARC_ALLOC_CACHE_TRACE";

/// A profile is read before anything runs; the leg that uses it reads it again.
void require_profile(const std::string& path) {
  profile ignored;
  profile_error error{};
  if (read_profile(path.c_str(), ignored, error) != status::ok)
    throw command_failure{exit_status::bad_usage, std::string("--profile: ") + error.text};
}

/// The environment's settings, with the flag that wins over one of them.
settings_view settings_of(const decode_request& request) {
  settings_view settings = read_settings();
  require_settings(settings);
  if (request.bounds.cap_mb) {
    const std::string value = std::to_string(*request.bounds.cap_mb);
    if (std::getenv(cap_variable) != nullptr) {
      print_error("warning: --cap " + value + " wins over " + cap_variable + "=" + std::getenv(cap_variable));
    }
    settings.override_by_flag(cap_variable, value);
  }
  if (!request.trace_path.empty()) {
    settings.override_by_flag(trace_variable, request.trace_path);
    settings.from_environment.trace_path = request.trace_path.c_str();
  }
  return settings;
}

/// Which driver, and what is free: of the device as it is now. Throws command_failure where it cannot be had.
void note_device(decode_result& result) {
  const decode_request& request = result.request;
  memory_info memory;  // 0 where the device will not say: the run finds out why
  switch (request.device.kind) {
    case device_kind::sim:
      result.from.driver = sim_driver_text(*request.sim);
      memory.free_bytes = request.sim->free_bytes.value_or(request.device.size_bytes);
      break;
    case device_kind::cuda: {
      const auto card = require_cuda_device(request.device);
      result.from.driver = driver_text(*card) + ", " + card->device_name();
      (void)card->query_memory(memory);
      break;
    }
    case device_kind::host:
      (void)host_backend(request.device.size_bytes).query_memory(memory);
      break;
  }
  result.from.free_bytes_at_start = memory.free_bytes;
}

}  // namespace

exit_status run_decode(const std::vector<std::string>& words) {
  CLI::App line(
      "Runs a decode workload leg against leg, each in a fresh process, and reports what each\n"
      "cost and held. The memory of a leg is measured from outside its process.\n",
      "arcalloc decode");
  set_layout(line);
  decode_flags flags;
  add_flags(line, flags);
  if (parse_or_help(line, words)) return exit_status::done;

  decode_result result;
  result.request = request_of(line, flags);
  const settings_view settings = settings_of(result.request);
  if (!flags.profile.empty()) require_profile(flags.profile);
  if (!flags.record_profile.empty()) require_writable("--record-profile", flags.record_profile);
  if (!flags.trace.empty()) require_writable("--trace", flags.trace);
  if (!flags.report.empty()) require_writable("--report", flags.report);
  if (!flags.json.empty()) require_writable("--json", flags.json);

  result.from = this_provenance(flags.device, words);
  result.from.settings = settings.rows;
  note_device(result);
  run_legs(result, settings.from_environment);
  conclude(result);

  std::fputs(decode_table(result).c_str(), stdout);
  for (const std::string& complaint : complaints(result)) print_error(complaint);
  if (!flags.report.empty()) write_result_file("--report", flags.report, page::decode_page(result));
  if (!flags.json.empty()) write_result_file("--json", flags.json, decode_json(result));
  return result.status;
}

}  // namespace arcalloc::cli
