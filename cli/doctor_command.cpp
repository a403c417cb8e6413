// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>
#include <cstdio>
#include <memory>
#include <utility>

#include "command.hpp"
#include "cuda_device.hpp"
#include "flag_values.hpp"
#include "json_text.hpp"
#include "memory_probe.hpp"
#include "number_text.hpp"
#include "provenance.hpp"
#include "result_file.hpp"
#include "settings_view.hpp"
#include "text_table.hpp"

namespace arcalloc::cli {

namespace {

/// Everything that doctor says.
struct findings {
  provenance from;
  std::string device_name;
  std::string cuda;  ///< what there is of it; empty where it is the device
  std::uint64_t granule_bytes = 0;
  memory_info memory;
  settings_view settings;
  cap_arithmetic cap;
  std::uint64_t capacity_bytes = 0;
};

findings examine(const device_choice& device, const std::vector<std::string>& words) {
  findings found;
  found.from = this_provenance(device.text, words);
  found.settings = read_settings();
  std::unique_ptr<backend> opened;
  if (device.kind == device_kind::cuda) {
    auto cuda = require_cuda_device(device);
    found.from.driver = driver_text(*cuda) + ", " + cuda->device_name();
    opened = std::move(cuda);
  } else {
    opened = std::make_unique<host_backend>(device.size_bytes);
    found.cuda = cuda_text();
  }
  found.device_name = opened->name();
  found.granule_bytes = opened->granularity();
  const status asked = opened->query_memory(found.memory);
  if (asked != status::ok) {
    throw command_failure{exit_status::device_refused,
                          "--device " + device.text + ": its memory cannot be queried: " + status_name(asked)};
  }
  found.from.free_bytes_at_start = found.memory.free_bytes;
  allocator* made = nullptr;
  options settings = found.settings.from_environment;
  settings.trace_path = nullptr;  // it looks, and writes nothing
  const status created = allocator::create(*opened, settings, made);
  if (created != status::ok) {
    throw command_failure{exit_status::device_refused,
                          "--device " + device.text + ": no allocator can be made over it: " + status_name(created)};
  }
  const allocator_ptr owner(made);
  found.cap = owner->read_cap();
  counters now{};
  owner->read_counters(now);
  found.capacity_bytes = now.capacity_bytes;
  return found;
}

std::string mib_or_unknown(const std::optional<std::uint64_t>& bytes) {
  return bytes ? mib_text(*bytes) + " MiB" : "unknown";
}

std::string capacity_text(std::uint64_t bytes) {
  return bytes == ARCALLOC_NO_BOUND ? "none" : mib_text(bytes) + " MiB";
}

std::string text_of(const findings& found) {
  text_table device;
  device.add_column("device", "", false);
  device.add_column(found.from.device, "", false);
  device.add_row({"driver", found.from.driver});
  if (!found.cuda.empty()) device.add_row({"cuda", one_line(found.cuda)});
  device.add_row({found.cuda.empty() ? "granule" : "page size", std::to_string(found.granule_bytes) + " bytes"});
  device.add_row({"free", mib_text(found.memory.free_bytes) + " MiB"});
  device.add_row({"total", mib_text(found.memory.total_bytes) + " MiB"});
  device.add_row({"available on this machine", mib_or_unknown(found.from.available_bytes_at_start)});
  device.add_row({"processor", found.from.processor + ", " + count_text(found.from.cores) + " cores"});

  text_table settings;
  settings.add_column("setting", "", false);
  settings.add_column("value", "", false);
  settings.add_column("source", "", false);
  settings.add_column("meaning", "", false);
  for (const setting_view& row : found.settings.rows) {
    const bool refused = !row.refusal.empty();
    settings.add_row({row.variable, one_line(row.value), refused ? row.source + ", refused" : row.source, row.meaning});
  }

  text_table bounds;
  bounds.add_column("cached max", "", false);
  bounds.add_column(cap_text(found.cap), "", false);
  bounds.add_row({"source", cap_source_name(found.cap.cap_source)});
  bounds.add_row({"capacity", capacity_text(found.capacity_bytes)});

  return device.text() + '\n' + settings.text() + '\n' + bounds.text() + '\n' + "version: arcalloc " +
         found.from.version + " commit " + found.from.commit + " (" + found.from.dirty + "), build " +
         found.from.build_id + ", " + found.from.compiler + " " + found.from.build_type + '\n';
}

std::string json_of(const findings& found) {
  return json_file({{"schema", "arcalloc.doctor/1"},
                    {"provenance", provenance_json(found.from)},
                    {"device",
                     {{"name", found.device_name},
                      {"granule_bytes", found.granule_bytes},
                      {"cuda", found.cuda.empty() ? ordered_json(nullptr) : ordered_json(found.cuda)},
                      {"free_bytes", found.memory.free_bytes},
                      {"total_bytes", found.memory.total_bytes}}},
                    {"settings", settings_json(found.settings.rows)},
                    {"errors", found.settings.errors},
                    {"warnings", found.settings.warnings},
                    {"cap", cap_json(found.cap)},
                    {"capacity_bytes", bound_json(found.capacity_bytes)}});
}

}  // namespace

exit_status run_doctor(const std::vector<std::string>& words) {
  CLI::App line(
      "Shows the device, its memory, every setting with its value and source, and the bounds\n"
      "that follow from them, with their arithmetic.\n",
      "arcalloc doctor");
  set_layout(line);
  std::string device = "host";
  std::string json;
  line.add_option("--device", device,
                  "host or host:SIZE: host memory, SIZE a whole number with KiB, MiB or GiB\n"
                  "(default host, which is host:3GiB); cuda:N: a CUDA device")
      ->option_text("DEVICE");
  line.add_option("--json", json, "write the same as JSON, schema arcalloc.doctor/1")->option_text("FILE");
  if (parse_or_help(line, words)) return exit_status::done;

  const device_choice chosen = require_device(device);
  if (line.count("--json") > 0 && json.empty()) {
    throw command_failure{exit_status::bad_usage, "--json: the name is empty"};
  }
  if (!json.empty()) require_writable("--json", json);
  findings found = examine(chosen, words);
  found.from.settings = found.settings.rows;
  std::fputs(text_of(found).c_str(), stdout);
  if (!json.empty()) write_result_file("--json", json, json_of(found));
  // Said last, so that the table above shows what is in force in place of what was refused.
  require_settings(found.settings);
  return exit_status::done;
}

}  // namespace arcalloc::cli
