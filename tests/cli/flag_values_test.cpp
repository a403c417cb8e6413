// SPDX-License-Identifier: Apache-2.0
#include "cli/flag_values.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cli/exit_status.hpp"

namespace arcalloc::cli {
namespace {

TEST(flag_values, takes_whole_numbers_in_range) {
  EXPECT_EQ(parse_count("0", 0, 10), 0U);
  EXPECT_EQ(parse_count("10", 0, 10), 10U);
  EXPECT_EQ(parse_count("18446744073709551615", 0, std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(flag_values, refuses_everything_else) {
  for (const char* text : {"", " ", "-1", "+1", "01", "00", "1e3", "0x10", "1.0", " 1", "1 ", "1k", "4Gi", "abc", "11",
                           "18446744073709551616", "99999999999999999999999"}) {
    EXPECT_FALSE(parse_count(text, 0, 10)) << '"' << text << '"';
  }
  EXPECT_FALSE(parse_count("18446744073709551616", 0, std::numeric_limits<std::uint64_t>::max()));
  EXPECT_FALSE(parse_count("0", 1, 10));
}

TEST(flag_values, takes_sizes_with_the_three_units_and_without) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("1KiB"), 1024U);
  EXPECT_EQ(parse_size("262MiB"), 262U << 20);
  EXPECT_EQ(parse_size("3GiB"), std::uint64_t{3} << 30);
  EXPECT_EQ(parse_size("17179869183GiB"), std::uint64_t{17179869183} << 30);
}

TEST(flag_values, refuses_other_units_and_what_does_not_fit) {
  for (const char* text : {"", "MiB", "1MB", "1mib", "1 MiB", "1.5GiB", "-1MiB", "01MiB", "1MiBs", "1M", "1G",
                           "17179869184GiB", "18446744073709551616"}) {
    EXPECT_FALSE(parse_size(text)) << '"' << text << '"';
  }
}

/// The status with which a device name is refused, and the message.
command_failure refusal_of(const std::string& device) {
  try {
    require_device(device);
  } catch (const command_failure& failure) {
    return failure;
  }
  return {exit_status::done, {}};
}

TEST(flag_values, a_host_device_has_a_size_or_the_default) {
  EXPECT_EQ(require_device("host").size_bytes, std::uint64_t{3} << 30);
  EXPECT_EQ(require_device("host:262MiB").size_bytes, std::uint64_t{262} << 20);
  EXPECT_EQ(require_device("host:262MiB").text, "host:262MiB");
}

TEST(flag_values, a_cuda_device_has_a_number) {
  EXPECT_EQ(require_device("cuda:7").kind, device_kind::cuda);
  EXPECT_EQ(require_device("cuda:7").ordinal, 7);
  EXPECT_EQ(require_device("cuda:7").text, "cuda:7");
}

TEST(flag_values, a_device_that_is_none_is_bad_usage) {
  for (const char* text : {"", "gpu", "host:", "host:1e9", "host:0", "host:4095", "Host", "cuda", "cuda:", "cuda:x",
                           "cuda:-1", "sim", "sim:", "host :1GiB"}) {
    const command_failure failure = refusal_of(text);
    EXPECT_EQ(failure.status, exit_status::bad_usage) << '"' << text << '"';
    EXPECT_NE(failure.message.find("--device"), std::string::npos) << failure.message;
  }
}

TEST(flag_values, a_simulated_card_is_refused_by_its_name) {
  const command_failure failure = refusal_of("sim:h200");
  EXPECT_EQ(failure.status, exit_status::device_refused);
  EXPECT_NE(failure.message.find("sim:h200"), std::string::npos) << failure.message;
}

TEST(flag_values, a_refused_number_names_flag_value_and_range) {
  try {
    require_count("--tokens", "1e3", 1, 100);
    FAIL() << "1e3 was taken";
  } catch (const command_failure& failure) {
    EXPECT_EQ(failure.status, exit_status::bad_usage);
    EXPECT_EQ(failure.message, "--tokens: \"1e3\" is not a whole number from 1 to 100");
  }
}

}  // namespace
}  // namespace arcalloc::cli
