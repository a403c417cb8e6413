// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "decode/session.hpp"
#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::ended;
using test::temporary_folder;

std::vector<std::string> short_decode() {
  return {"decode",   "--config",   decode::config_names().back(), "--tokens", "2", "--legs", "bounded",
          "--device", "host:256MiB"};
}

std::string lock_in(const temporary_folder& folder) {
  return folder.file("arcalloc-host-" + std::to_string(::getuid()) + ".lock");
}

TEST(device, that_another_decode_holds_is_refused_with_its_process_id) {
  const temporary_folder folder;
  const int file = ::open(lock_in(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
  ASSERT_EQ(::write(file, "4711\n", 5), 5);
  const ended refused = arcalloc(short_decode(), {{"XDG_RUNTIME_DIR", folder.path()}});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("process 4711"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find(lock_in(folder)), std::string::npos) << refused.err;
  ::close(file);
  const ended taken = arcalloc(short_decode(), {{"XDG_RUNTIME_DIR", folder.path()}});
  EXPECT_EQ(taken.exit_status, 0) << taken.err;
}

TEST(device, whose_lock_file_is_a_link_is_refused) {
  const temporary_folder folder;
  ASSERT_EQ(::symlink("/dev/null", lock_in(folder).c_str()), 0);
  const ended refused = arcalloc(short_decode(), {{"XDG_RUNTIME_DIR", folder.path()}});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_NE(refused.err.find(lock_in(folder)), std::string::npos) << refused.err;
}

TEST(device, larger_than_the_available_memory_is_refused_with_both_figures) {
  const ended refused = arcalloc({"decode", "--device", "host:1000000GiB"});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("MiB of memory available"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("1024000000.0 MiB"), std::string::npos) << refused.err;
}

TEST(device, of_another_kind_is_not_available) {
  const ended refused = arcalloc({"decode", "--device", "cuda:0"});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.err, "arcalloc: --device cuda:0: not available in this version\n");
}

}  // namespace
}  // namespace arcalloc::cli
