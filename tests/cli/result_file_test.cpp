// SPDX-License-Identifier: Apache-2.0
#include "cli/result_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/exit_status.hpp"
#include "program.hpp"

namespace arcalloc::cli {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::temporary_folder;
using test::write_file;

std::size_t entries_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(result_file, is_written_whole_and_replaces_what_was_there) {
  const temporary_folder folder;
  const std::string path = folder.file("r.json");
  write_file(path, "older and longer than what follows");
  write_result_file("--json", path, "new");
  EXPECT_EQ(content_of(path), "new");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(result_file, is_as_readable_as_any_new_file) {
  const temporary_folder folder;
  const mode_t before = ::umask(022);
  write_result_file("--json", folder.file("r.json"), "x");
  ::umask(before);
  struct stat found {};
  ASSERT_EQ(::stat(folder.file("r.json").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0644U);
}

TEST(result_file, a_link_stays_and_its_target_is_replaced) {
  const temporary_folder folder;
  write_file(folder.file("target"), "old");
  fs::create_symlink(folder.file("target"), folder.file("link"));
  write_result_file("--json", folder.file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(content_of(folder.file("target")), "new");
}

TEST(result_file, a_check_leaves_nothing_behind) {
  const temporary_folder folder;
  require_writable("--json", folder.file("r.json"));
  EXPECT_EQ(entries_in(folder.path()), 0U);
}

TEST(result_file, a_place_that_cannot_be_written_to_is_refused_by_flag_and_name) {
  const temporary_folder folder;
  for (const std::string& path : {folder.file("missing/r.json"), folder.path(), std::string("/proc/r.json")}) {
    for (const bool write : {false, true}) {
      try {
        if (write) {
          write_result_file("--json", path, "x");
        } else {
          require_writable("--json", path);
        }
        ADD_FAILURE() << path << " was taken";
      } catch (const command_failure& failure) {
        EXPECT_EQ(failure.status, exit_status::bad_usage);
        EXPECT_EQ(failure.message.rfind("--json: cannot write " + path + ": ", 0), 0U) << failure.message;
      }
    }
  }
}

TEST(result_file, a_device_is_written_to_directly) {
  write_result_file("--json", "/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_result_file("--json", "/dev/full", "x"), command_failure);
}

}  // namespace
}  // namespace arcalloc::cli
