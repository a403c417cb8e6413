// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <arcalloc/settings.hpp>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace arcalloc::cli {
namespace {

using test::arcalloc;
using test::content_of;
using test::ended;
using test::temporary_folder;
using json = nlohmann::json;

TEST(doctor, shows_the_bound_of_a_small_device_with_its_arithmetic) {
  const ended run = arcalloc({"doctor", "--device", "host:262MiB"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("min(1024 MiB, (262.0 - 65.5) / 2) = 98.25 MiB"), std::string::npos) << run.out;
  for (const char* part : {"host:262MiB", "mmap", "page size", "free", "262.0 MiB", "available on this machine",
                           "source      derived", "capacity    none"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part;
  }
}

TEST(doctor, says_what_there_is_of_cuda) {
  const ended without = arcalloc({"doctor", "--device", "host:262MiB"}, {{"LD_LIBRARY_PATH", "/nonexistent"}});
  EXPECT_EQ(without.exit_status, 0) << without.err;
  EXPECT_NE(without.out.find("\ncuda "), std::string::npos) << without.out;
  const temporary_folder folder;
  const ended with = arcalloc({"doctor", "--device", "host:262MiB", "--json", folder.file("d.json")},
                              {{"LD_LIBRARY_PATH", ARCALLOC_FAKE_CUDA_FOLDER}, {"FAKE_CUDA_VERSION", "12040"}});
  EXPECT_EQ(with.exit_status, 0) << with.err;
  EXPECT_EQ(json::parse(content_of(folder.file("d.json")))["device"]["cuda"], "CUDA 12.4, simulated device 0");
  const ended no_device = arcalloc({"doctor", "--device", "host:262MiB"},
                                   {{"LD_LIBRARY_PATH", ARCALLOC_FAKE_CUDA_FOLDER}, {"FAKE_CUDA_DEVICES", "0"}});
  EXPECT_NE(no_device.out.find("not available: cuInit: the driver sees no device"), std::string::npos) << no_device.out;
}

TEST(doctor, shows_every_setting) {
  const ended run = arcalloc({"doctor"});
  std::size_t count = 0;
  const setting_row* rows = setting_rows(count);
  ASSERT_GT(count, 0U);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NE(run.out.find(rows[i].variable), std::string::npos) << rows[i].variable;
    EXPECT_NE(run.out.find(rows[i].meaning), std::string::npos) << rows[i].meaning;
  }
}

TEST(doctor, says_the_same_as_json) {
  const temporary_folder folder;
  const ended run = arcalloc({"doctor", "--device", "host:262MiB", "--json", folder.file("d.json")},
                             {{"ARC_ALLOC_CACHE_STATS", "7"}, {"ARC_ALLOC_CAPACITY_MB", "200"}});
  EXPECT_EQ(run.exit_status, 0);
  const json found = json::parse(content_of(folder.file("d.json")));
  EXPECT_EQ(found["schema"], "arcalloc.doctor/1");
  EXPECT_EQ(found["device"]["free_bytes"], 262U << 20);
  EXPECT_EQ(found["device"]["total_bytes"], 262U << 20);
  EXPECT_EQ(found["cap"]["cached_bytes_max"], 103022592);
  EXPECT_EQ(found["cap"]["cap_source"], "derived");
  EXPECT_EQ(found["capacity_bytes"], 200U << 20);
  for (const json& row : found["settings"]) {
    if (row["variable"] != "ARC_ALLOC_CACHE_STATS") continue;
    EXPECT_EQ(row["value"], "7");
    EXPECT_EQ(row["source"], "environment");
  }
}

TEST(doctor, shows_what_is_in_force_in_place_of_a_refused_value) {
  const ended run = arcalloc({"doctor", "--device", "host:262MiB"},
                             {{"ARC_ALLOC_CACHE_MAX_MB", "4Gi"}, {"ARC_ALLOC_CACHE_STATS", "5"}});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_NE(run.err.find("ARC_ALLOC_CACHE_MAX_MB=\"4Gi\""), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("= 98.25 MiB"), std::string::npos);
  EXPECT_NE(run.out.find("derived  default, refused"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("5        environment"), std::string::npos) << run.out;
}

TEST(doctor, a_bad_value_never_widens_the_bound) {
  const temporary_folder folder;
  for (const char* value : {"4Gi", "-1", "08", "1e9", "0x100", " 64", "", "18446744073709551616", "abc", "00", "0 "}) {
    const ended run = arcalloc({"doctor", "--device", "host:262MiB", "--json", folder.file("d.json")},
                               {{"ARC_ALLOC_CACHE_MAX_MB", value}});
    EXPECT_EQ(run.exit_status, 2) << value;
    EXPECT_EQ(json::parse(content_of(folder.file("d.json")))["cap"]["cached_bytes_max"], 103022592) << value;
  }
}

TEST(doctor, refuses_devices_as_decode_does) {
  EXPECT_EQ(arcalloc({"doctor", "--device", "gpu"}).exit_status, 2);
  EXPECT_EQ(arcalloc({"doctor", "--device", "cuda:99999"}).exit_status, 3);
  EXPECT_EQ(arcalloc({"doctor", "--json", "/nonexistent/d.json"}).exit_status, 2);
}

}  // namespace
}  // namespace arcalloc::cli
