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
using test::environment;
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
  const ended refused = arcalloc({"decode", "--device", "sim:h200"});
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.err, "arcalloc: --device sim:h200: not available in this version\n");
}

TEST(device, of_cuda_that_is_not_there_is_refused_with_what_is_missing) {
  for (const char* command : {"decode", "doctor"}) {
    // A number that no machine has: where there is a driver, the device is what is missing.
    const ended refused = arcalloc({command, "--device", "cuda:99999"});
    EXPECT_EQ(refused.exit_status, 3) << command;
    EXPECT_EQ(refused.out, "") << command;
    EXPECT_EQ(refused.err.rfind("arcalloc: --device cuda:99999: ", 0), 0U) << refused.err;
    EXPECT_EQ(refused.err.find("not available in this version"), std::string::npos) << refused.err;
  }
}

TEST(device, of_cuda_is_looked_at_and_not_decoded_on) {
  const environment fake = {{"LD_LIBRARY_PATH", ARCALLOC_FAKE_CUDA_FOLDER}, {"FAKE_CUDA_OTHERS_MB", "24314"}};
  const ended seen = arcalloc({"doctor", "--device", "cuda:0"}, fake);
  EXPECT_EQ(seen.exit_status, 0) << seen.err;
  for (const char* part :
       {"CUDA 13.0, simulated device 0", "512 bytes", "262.0 MiB", "min(1024 MiB, (262.0 - 65.5) / 2) = 98.25 MiB"}) {
    EXPECT_NE(seen.out.find(part), std::string::npos) << part << '\n' << seen.out;
  }
  const ended refused = arcalloc({"decode", "--device", "cuda:0"}, fake);
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_EQ(refused.err, "arcalloc: --device cuda:0: decode runs on host devices alone in this version\n");
  const ended none = arcalloc({"doctor", "--device", "cuda:1"}, fake);
  EXPECT_EQ(none.exit_status, 3);
  EXPECT_EQ(none.err,
            "arcalloc: --device cuda:1: there is no device 1: the driver (CUDA 13.0) sees 1, numbered from 0\n");
}

}  // namespace
}  // namespace arcalloc::cli
