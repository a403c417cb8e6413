// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace arcalloc::cli {

/// Reads what the kernel says about memory: of a leg's process and of the machine.
///
/// Figures of a leg come from here and never from the allocator's own counters, so that a leak the
/// counters do not know of shows. Called by the parent of a leg; a value that the kernel will not
/// tell is absent, never zero.

/// Resident bytes of the process, cheaply: takes no lock of the process that is watched, but may lag
/// by some pages per core.
std::optional<std::uint64_t> resident_bytes(pid_t process);

/// Resident bytes of the process by a walk of its page tables: exact, but stops it from mapping for
/// that long. For a process that is waiting anyway.
std::optional<std::uint64_t> exact_resident_bytes(pid_t process);

/// The highest resident bytes since reset_resident_peak. Where the kernel does not allow the reset
/// (false), the peak spans the whole life of the process and is not used.
std::optional<std::uint64_t> resident_bytes_peak(pid_t process);
bool reset_resident_peak(pid_t process);

/// CPU time the process has used, in nanoseconds.
std::optional<std::uint64_t> cpu_time_ns(pid_t process);

/// Where the kernel's files are; tests point these elsewhere.
struct kernel_files {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

/// Bytes that a new process can have without swapping: MemAvailable, or less where a memory cgroup
/// around this process allows less (its page cache that can be dropped counts as available).
std::optional<std::uint64_t> available_bytes(const kernel_files& files = {});

/// Total memory of the machine.
std::optional<std::uint64_t> total_bytes(const kernel_files& files = {});

}  // namespace arcalloc::cli
