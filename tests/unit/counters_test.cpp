// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <arcalloc/counters.hpp>

#include <set>
#include <string>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::small_world;

TEST(counters, every_field_has_one_row_in_order) {
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  EXPECT_EQ(count * 8 + 8, sizeof(counters));
  std::set<std::string> names;
  counters probe{};
  for (std::size_t i = 0; i < count; ++i) {
    names.insert(fields[i].name);
    EXPECT_EQ(reinterpret_cast<std::byte*>(&(probe.*fields[i].value)) - reinterpret_cast<std::byte*>(&probe),
              static_cast<std::ptrdiff_t>(8 + 8 * i))
        << fields[i].name;
  }
  EXPECT_EQ(names.size(), count);
}

TEST(counters, a_step_window_subtracts_counts_and_keeps_gauges) {
  small_world at;
  const block piece = at.get(1000);
  at.memory->end_step();
  at.put(piece);
  at.put(at.get(1000));
  at.memory->end_step();
  counters step;
  at.memory->read_step_counters(step);
  EXPECT_EQ(step.steps, 1U);
  EXPECT_EQ(step.requests, 1U);
  EXPECT_EQ(step.hits, 1U);
  EXPECT_EQ(step.driver_allocs, 0U);
  EXPECT_EQ(step.frees, 2U);
  EXPECT_EQ(step.reserved_bytes, 2U << 20);
  EXPECT_EQ(step.segments_reserved, 1U);
}

TEST(counters, classes_idle_are_those_with_a_block_to_hand_out) {
  small_world at;
  const block whole = at.get(2 * testing::mib);
  EXPECT_EQ(at.now().classes_idle, 0U) << "the one block of its run is live";
  const block one_of_many = at.get(1000);
  EXPECT_EQ(at.now().classes_idle, 1U);
  at.put(whole);
  EXPECT_EQ(at.now().classes_idle, 2U);
  at.put(one_of_many);
  at.put(at.get(90 * testing::mib));
  EXPECT_EQ(at.now().classes_idle, 3U);
  at.check();
}

TEST(counters, the_reader_is_told_size_and_version) {
  small_world at;
  EXPECT_EQ(at.now().size, sizeof(counters));
  EXPECT_EQ(at.now().version, ARCALLOC_COUNTERS_VERSION);
}

TEST(step_report, is_one_line_in_the_origins_terms) {
  static std::string reported;
  reported.clear();
  options settings;
  settings.stats_every_steps = 4;
  settings.sink.write = [](void*, const char* line) noexcept { reported += std::string(line) + "\n"; };
  small_world at(settings, 4 * testing::gib);
  for (int step = 0; step < 9; ++step) {
    at.put(at.get(2048));
    at.memory->end_step();
  }
  EXPECT_EQ(reported,
            "arcalloc step 4: allocs/step 0.25 frees/step 0.00 hit rate 0.75000 held 2.0 MiB (cached 2.0 / cap 1024.0 "
            "MiB, slack 0.0) sizes 1 bypassed 0\n"
            "arcalloc step 8: allocs/step 0.00 frees/step 0.00 hit rate 1.00000 held 2.0 MiB (cached 2.0 / cap 1024.0 "
            "MiB, slack 0.0) sizes 1 bypassed 0\n");
}

TEST(step_report, divides_what_a_window_of_steps_counted) {
  counters window{};
  window.steps = 4;
  window.driver_allocs = 2;
  window.driver_frees = 6;
  char text[256];
  (void)format_step_report(window, 4, text, sizeof text);
  EXPECT_NE(std::string(text).find("step 4: allocs/step 0.50 frees/step 1.50 "), std::string::npos) << text;
  (void)format_step_report(window, 1, text, sizeof text);
  EXPECT_NE(std::string(text).find("allocs/step 2.00 frees/step 6.00 "), std::string::npos) << text;
  (void)format_step_report(window, 0, text, sizeof text);
  EXPECT_NE(std::string(text).find("allocs/step 0.00 frees/step 0.00 "), std::string::npos) << text;
}

TEST(step_report, fits_any_buffer) {
  counters window{};
  window.cached_bytes_max = ARCALLOC_NO_BOUND;
  char text[16];
  EXPECT_EQ(format_step_report(window, 0, text, sizeof text), 15U);
  EXPECT_EQ(text[15], '\0');
  EXPECT_EQ(format_step_report(window, 0, text, 0), 0U);
  char whole[256];
  const std::size_t length = format_step_report(window, 1, whole, sizeof whole);
  EXPECT_EQ(length, std::string(whole).size());
  EXPECT_NE(std::string(whole).find("cap none"), std::string::npos);
  EXPECT_EQ(format_step_report(window, 1, whole, length), length - 1) << "the last place is the terminator's";
}

}  // namespace
}  // namespace arcalloc
