// SPDX-License-Identifier: Apache-2.0
#include "memory_probe.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "flag_values.hpp"

namespace arcalloc::cli {

namespace {

constexpr std::uint64_t no_number_above = std::uint64_t{1} << 62;

std::string process_file(pid_t process, const char* name) { return "/proc/" + std::to_string(process) + "/" + name; }

/// The number after `key` at the start of a line: `Rss:   1640 kB`, `inactive_file 4096`.
std::optional<std::uint64_t> number_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::string number;
    if (words >> word >> number && word == key) return parse_count(number, 0, no_number_above);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> kib_after(const std::string& path, const std::string& key) {
  const auto kib = number_after(path, key);
  if (!kib) return std::nullopt;
  return *kib * 1024;
}

std::optional<std::uint64_t> only_number(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  return parse_count(word, 0, no_number_above);  // "max" is no number: no bound
}

/// Room left in the memory cgroup at `folder`; nothing where it sets no bound.
std::optional<std::uint64_t> cgroup_room(const std::string& folder) {
  const auto most = only_number(folder + "/memory.max");
  const auto current = only_number(folder + "/memory.current");
  if (!most || !current) return std::nullopt;
  const std::uint64_t droppable = number_after(folder + "/memory.stat", "inactive_file").value_or(0);
  const std::uint64_t used = *current - std::min(*current, droppable);
  return *most - std::min(*most, used);
}

/// This process's path in the unified hierarchy, such as "/user.slice/a"; empty where there is none.
std::string cgroup_path(const kernel_files& files) {
  std::ifstream file(files.proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::", 0) == 0) return line.substr(3);
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> resident_bytes(pid_t process) {
  std::ifstream file(process_file(process, "statm"));
  std::uint64_t all_pages = 0;
  std::uint64_t resident_pages = 0;
  if (!(file >> all_pages >> resident_pages)) return std::nullopt;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> exact_resident_bytes(pid_t process) {
  const auto exact = kib_after(process_file(process, "smaps_rollup"), "Rss:");
  return exact ? exact : resident_bytes(process);
}

std::optional<std::uint64_t> resident_bytes_peak(pid_t process) {
  return kib_after(process_file(process, "status"), "VmHWM:");
}

bool reset_resident_peak(pid_t process) {
  std::ofstream file(process_file(process, "clear_refs"));
  file << "5";
  return static_cast<bool>(file.flush());
}

std::optional<std::uint64_t> cpu_time_ns(pid_t process) {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
}

std::optional<std::uint64_t> available_bytes(const kernel_files& files) {
  auto available = kib_after(files.proc + "/meminfo", "MemAvailable:");
  std::string path = cgroup_path(files);
  // Every group from ours to the root bounds us.
  while (!path.empty()) {
    const auto room = cgroup_room(path == "/" ? files.cgroup : files.cgroup + path);
    if (room) available = std::min(available.value_or(*room), *room);
    if (path == "/") break;
    const std::size_t slash = path.rfind('/');
    path = slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
  }
  return available;
}

std::optional<std::uint64_t> total_bytes(const kernel_files& files) {
  return kib_after(files.proc + "/meminfo", "MemTotal:");
}

}  // namespace arcalloc::cli
