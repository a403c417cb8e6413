// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "settings_view.hpp"

namespace arcalloc::cli {

/// What a figure was measured with: the program, its settings, the device and the machine. Every
/// result carries it, since two figures whose configurations are not known cannot be compared.
/// Nothing in it names a person or a host.
struct provenance {
  std::string version;
  std::string commit;
  std::string dirty;  ///< "clean", "dirty" or "unknown"
  std::string build_id;
  std::string compiler;
  std::string build_type;
  std::string device;
  std::string driver;
  std::uint64_t free_bytes_at_start = 0;                  ///< of the device
  std::optional<std::uint64_t> available_bytes_at_start;  ///< of the machine
  std::vector<setting_view> settings;
  std::string command;
  std::string processor;
  std::uint64_t cores = 0;
  std::optional<std::uint64_t> memory_bytes;
  std::string kernel;
  std::string utc;
};

/// Everything but the device's free memory and the settings, which the caller knows.
provenance this_provenance(const std::string& device, const std::vector<std::string>& command);

/// The GNU build id of the running program, as hexadecimal; "unknown" where it was linked without.
std::string build_id();

/// The words of a command as a shell would take them.
std::string command_text(const std::vector<std::string>& words);

/// One line: version, commit, build, device, machine, time.
std::string provenance_line(const provenance& from);

}  // namespace arcalloc::cli
