// SPDX-License-Identifier: Apache-2.0
#include "cli/legs.hpp"

#include <gtest/gtest.h>

#include "cli/exit_status.hpp"

namespace arcalloc::cli {
namespace {

/// An environment that asks for everything that is not the default.
options odd_environment() {
  options asked;
  asked.enabled = false;
  asked.classes = geometry::classes_2;
  asked.cached_bytes_max.mode = bound_mode::unbounded;
  asked.cached_bytes_max.from_environment = true;
  asked.capacity_bytes = 77;
  asked.oom_retry = false;
  asked.stats_every_steps = 5;
  return asked;
}

TEST(legs, off_unbounded_and_exact_are_what_they_are_called_whatever_the_environment_says) {
  for (const options& environment : {options{}, odd_environment()}) {
    const options off = leg_options(leg::off, {}, environment);
    EXPECT_FALSE(off.enabled);
    EXPECT_EQ(off.capacity_bytes, 0U);
    EXPECT_EQ(off.stats_every_steps, 0U);

    const options unbounded = leg_options(leg::unbounded, {}, environment);
    EXPECT_TRUE(unbounded.enabled);
    EXPECT_EQ(unbounded.classes, geometry::exact);
    EXPECT_EQ(unbounded.cached_bytes_max.mode, bound_mode::unbounded);
    EXPECT_FALSE(unbounded.oom_retry);

    const options exact = leg_options(leg::exact, {}, environment);
    EXPECT_TRUE(exact.enabled);
    EXPECT_EQ(exact.classes, geometry::exact);
    EXPECT_EQ(exact.cached_bytes_max.mode, bound_mode::explicit_bytes);
    EXPECT_EQ(exact.cached_bytes_max.bytes, std::uint64_t{1} << 30);
    EXPECT_FALSE(exact.oom_retry);
  }
}

TEST(legs, bounded_takes_the_environment) {
  const options shipped = leg_options(leg::bounded, {}, options{});
  EXPECT_TRUE(shipped.enabled);
  EXPECT_TRUE(shipped.oom_retry);
  EXPECT_EQ(shipped.cached_bytes_max.mode, bound_mode::derived);
  const options asked = leg_options(leg::bounded, {}, odd_environment());
  EXPECT_FALSE(asked.enabled);
  EXPECT_EQ(asked.classes, geometry::classes_2);
  EXPECT_EQ(asked.capacity_bytes, 77U);
  EXPECT_EQ(asked.stats_every_steps, 5U);
  EXPECT_EQ(asked.cached_bytes_max.mode, bound_mode::unbounded);
}

TEST(legs, the_cap_flag_wins_over_the_environment_whole) {
  leg_bounds bounds;
  bounds.cap_mb = 64;
  const options capped = leg_options(leg::bounded, bounds, odd_environment());
  EXPECT_EQ(capped.cached_bytes_max.mode, bound_mode::explicit_bytes);
  EXPECT_EQ(capped.cached_bytes_max.bytes, std::uint64_t{64} << 20);
  EXPECT_FALSE(capped.cached_bytes_max.from_environment);
  EXPECT_TRUE(capped.oom_retry);
}

TEST(legs, an_exact_cap_is_the_exact_legs) {
  leg_bounds bounds;
  bounds.exact_cap_mb = 3;
  EXPECT_EQ(leg_options(leg::exact, bounds, {}).cached_bytes_max.bytes, std::uint64_t{3} << 20);
  EXPECT_EQ(leg_options(leg::bounded, bounds, {}).cached_bytes_max.mode, bound_mode::derived);
}

TEST(legs, a_list_keeps_its_order) {
  EXPECT_EQ(require_legs("bounded,off"), (std::vector<leg>{leg::bounded, leg::off}));
  EXPECT_EQ(require_legs("off,unbounded,exact,bounded").size(), 4U);
}

TEST(legs, a_list_with_an_unknown_a_double_or_an_empty_name_is_refused) {
  for (const char* text : {"", ",", "off,", ",off", "off,,exact", "on", "off,Off", "off, exact", "off,exact,off"}) {
    try {
      require_legs(text);
      ADD_FAILURE() << '"' << text << "\" was taken";
    } catch (const command_failure& failure) {
      EXPECT_EQ(failure.status, exit_status::bad_usage);
      EXPECT_EQ(failure.message.rfind("--legs: ", 0), 0U) << failure.message;
    }
  }
}

TEST(legs, off_and_bounded_must_survive) {
  EXPECT_TRUE(must_survive(leg::off));
  EXPECT_TRUE(must_survive(leg::bounded));
  EXPECT_FALSE(must_survive(leg::unbounded));
  EXPECT_FALSE(must_survive(leg::exact));
}

}  // namespace
}  // namespace arcalloc::cli
