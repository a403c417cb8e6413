// SPDX-License-Identifier: Apache-2.0
#include "cli/memory_probe.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::temporary_folder;
using test::write_file;

/// A made-up /proc and /sys/fs/cgroup, in which this process is in the group /a/b.
class made_up_kernel {
 public:
  made_up_kernel() {
    std::filesystem::create_directories(folder_.file("proc/self"));
    std::filesystem::create_directories(folder_.file("cgroup/a/b"));
    write_file(folder_.file("proc/meminfo"), "MemTotal:  2000 kB\nMemFree: 10 kB\nMemAvailable:   1000 kB\n");
    write_file(folder_.file("proc/self/cgroup"), "4:memory:/elsewhere\n0::/a/b\n");
  }
  void bound_group(const std::string& group, const std::string& most, std::uint64_t current, std::uint64_t droppable) {
    const std::string place = folder_.file("cgroup" + group);
    write_file(place + "/memory.max", most + "\n");
    write_file(place + "/memory.current", std::to_string(current) + "\n");
    write_file(place + "/memory.stat", "anon 1\ninactive_file " + std::to_string(droppable) + "\n");
  }
  void remove(const std::string& name) { std::filesystem::remove(folder_.file(name)); }
  [[nodiscard]] std::optional<std::uint64_t> available() const { return available_bytes(files()); }
  [[nodiscard]] kernel_files files() const { return {folder_.file("proc"), folder_.file("cgroup")}; }

 private:
  temporary_folder folder_;
};

TEST(memory_probe, available_memory_is_what_the_kernel_says) {
  const made_up_kernel kernel;
  EXPECT_EQ(kernel.available(), 1000U * 1024);
  EXPECT_EQ(total_bytes(kernel.files()), 2000U * 1024);
}

TEST(memory_probe, a_group_that_allows_less_bounds_it) {
  made_up_kernel kernel;
  kernel.bound_group("/a/b", "500000", 200000, 0);
  EXPECT_EQ(kernel.available(), 300000U);
  // Page cache that can be dropped is room.
  kernel.bound_group("/a/b", "500000", 200000, 50000);
  EXPECT_EQ(kernel.available(), 350000U);
  // So does any group above it.
  kernel.bound_group("/a", "100000", 90000, 0);
  EXPECT_EQ(kernel.available(), 10000U);
}

TEST(memory_probe, a_group_without_a_bound_or_with_a_wide_one_changes_nothing) {
  made_up_kernel kernel;
  kernel.bound_group("/a/b", "max", 200000, 0);
  EXPECT_EQ(kernel.available(), 1000U * 1024);
  kernel.bound_group("/a/b", "999999999999", 1, 0);
  EXPECT_EQ(kernel.available(), 1000U * 1024);
}

TEST(memory_probe, a_group_that_is_full_leaves_nothing_and_does_not_wrap) {
  made_up_kernel kernel;
  kernel.bound_group("/a/b", "1000", 2000, 0);
  EXPECT_EQ(kernel.available(), 0U);
}

TEST(memory_probe, what_the_kernel_does_not_say_is_absent) {
  made_up_kernel kernel;
  kernel.remove("proc/meminfo");
  EXPECT_FALSE(kernel.available());
  EXPECT_FALSE(total_bytes(kernel.files()));
  EXPECT_FALSE(resident_bytes(0));
  EXPECT_FALSE(exact_resident_bytes(0));
}

TEST(memory_probe, resident_memory_follows_what_is_touched) {
  const pid_t self = ::getpid();
  const auto before = exact_resident_bytes(self);
  ASSERT_TRUE(before);
  constexpr std::size_t bytes = std::size_t{32} << 20;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, bytes);
  const auto exact = exact_resident_bytes(self);
  const auto cheap = resident_bytes(self);
  ::munmap(memory, bytes);
  ASSERT_TRUE(exact && cheap);
  constexpr std::uint64_t margin = 8U << 20;
  EXPECT_GE(*exact, *before + bytes - margin);
  EXPECT_LE(*exact, *before + bytes + margin);
  EXPECT_LE(*cheap > *exact ? *cheap - *exact : *exact - *cheap, margin);
  const auto peak = resident_bytes_peak(self);
  ASSERT_TRUE(peak);
  EXPECT_GE(*peak, *exact - margin);
}

}  // namespace
}  // namespace arcalloc::cli
