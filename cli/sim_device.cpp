// SPDX-License-Identifier: Apache-2.0
#include "sim_device.hpp"

#include "exit_status.hpp"
#include "number_text.hpp"

namespace arcalloc::cli {

namespace {

constexpr const char* prefix = "sim:";

std::string us_text(std::uint64_t ns) { return fixed_text(static_cast<double>(ns) / 1000, 1) + " us"; }

}  // namespace

std::string sim_device_list() {
  std::string list;
  for (const decode::device_model& each : decode::device_models()) {
    if (!list.empty()) list += ", ";
    list.append(prefix).append(each.name);
  }
  return list;
}

const decode::device_model& require_sim_model(const std::string& device) {
  const decode::device_model* found = decode::find_device_model(device.substr(device.find(':') + 1));
  if (found == nullptr) {
    throw command_failure{exit_status::bad_usage, "--device: \"" + device + "\" is none of " + sim_device_list()};
  }
  return *found;
}

decode::driver_calls require_driver_calls(const std::string& text) {
  for (const auto calls : {decode::driver_calls::stream_ordered, decode::driver_calls::synchronous}) {
    if (text == driver_calls_name(calls)) return calls;
  }
  throw command_failure{exit_status::bad_usage, "--alloc: \"" + text + "\" is neither async nor sync"};
}

const char* driver_calls_name(decode::driver_calls calls) {
  return calls == decode::driver_calls::stream_ordered ? "async" : "sync";
}

std::string sim_driver_text(const sim_choice& sim) {
  const decode::driver_cost cost = decode::cost_of(sim.calls);
  std::string text = "simulated, virtual time; driver allocation ";
  text.append(us_text(cost.allocate_ns)).append(", free ").append(us_text(cost.free_ns));
  return text + ", granule " + count_text(sim.granule_bytes) + " bytes";
}

}  // namespace arcalloc::cli
