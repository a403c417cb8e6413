// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <arcalloc/settings.hpp>

#include <map>
#include <string>
#include <vector>

namespace arcalloc {
namespace {

struct environment {
  std::map<std::string, std::string> values;
  std::vector<std::string> lines;
  std::vector<const char*> names;

  settings_result read(options& out) {
    lines.clear();
    names.clear();
    for (const auto& [name, value] : values) lines.push_back(std::string(name).append("=").append(value));
    for (const std::string& line : lines) names.push_back(line.c_str());
    names.push_back(nullptr);
    const auto lookup = [](void* self, const char* name) noexcept -> const char* {
      const auto& all = static_cast<environment*>(self)->values;
      const auto found = all.find(name);
      return found == all.end() ? nullptr : found->second.c_str();
    };
    return settings_from({lookup, this, names.data()}, out);
  }
};

/// A value as a message shows it: its beginning, on one line.
std::string shown(std::string value) {
  for (char& one : value) one = one == '\t' || one == '\n' ? '.' : one;
  return value.substr(0, 100);
}

/// Refused: a status, a line that names variable and value, and nothing changed.
void expect_refused(const std::string& name, const std::string& value) {
  SCOPED_TRACE(std::string(name).append("=").append(value));
  environment at{{{name, value}}, {}, {}};
  options out;
  const settings_result result = at.read(out);
  EXPECT_EQ(result.outcome, status::invalid_argument);
  ASSERT_EQ(result.refused, 1U);
  const std::string text = result.errors[0].text;
  EXPECT_NE(text.find(name), std::string::npos) << text;
  EXPECT_NE(text.find(shown(value)), std::string::npos) << text;
  EXPECT_EQ(out.cached_bytes_max.mode, bound_mode::derived);
  EXPECT_EQ(out.capacity_bytes, 0U);
  EXPECT_EQ(out.classes, geometry::classes_8);
  EXPECT_TRUE(out.enabled);
  EXPECT_TRUE(out.oom_retry);
  EXPECT_EQ(out.stats_every_steps, 0U);
}

options accepted(const std::string& name, const std::string& value) {
  environment at{{{name, value}}, {}, {}};
  options out;
  const settings_result result = at.read(out);
  EXPECT_EQ(result.outcome, status::ok) << name << "=" << value;
  EXPECT_EQ(result.refused, 0U);
  return out;
}

const std::vector<std::string> never_numbers = {
    "4Gi", "-1",  "08",  "1e9", "0x100", " 64",      "64 ", "",   "18446744073709551616",
    "abc", "+5",  "1.5", "00",  "1,000", "\t7",      "7\n", "-0", "99999999999999999999999",
    "∞",   "1 2", "0b1", "64M", "nan",   "unbounded"};

TEST(settings, nothing_set_leaves_the_shipped_defaults) {
  environment at;
  options out;
  const settings_result result = at.read(out);
  EXPECT_EQ(result.outcome, status::ok);
  EXPECT_EQ(result.refused + result.warned, 0U);
  EXPECT_EQ(out.cached_bytes_max.mode, bound_mode::derived);
}

TEST(settings, a_message_is_one_line_whatever_the_environment_holds) {
  environment at{{{"ARC_ALLOC_CACHE_STATS", "1\nARC\r\x1b[2J\x7f"}, {"ARC_ALLOC_CAC\nHE", "1"}}, {}, {}};
  options out;
  const settings_result result = at.read(out);
  ASSERT_EQ(result.refused, 1U);
  EXPECT_NE(std::string(result.errors[0].text).find("\"1.ARC..[2J.\""), std::string::npos) << result.errors[0].text;
  ASSERT_EQ(result.warned, 1U);
  EXPECT_EQ(std::string(result.warnings[0].text).rfind("ARC_ALLOC_CAC.HE is not a setting", 0), 0U)
      << result.warnings[0].text;
}

TEST(settings, no_number_is_read_from_anything_but_a_number) {
  for (const char* name : {"ARC_ALLOC_CACHE_MAX_MB", "ARC_ALLOC_CACHE_STATS", "ARC_ALLOC_CAPACITY_MB",
                           "ARC_ALLOC_CACHE", "ARC_CANDLE_ALLOC_CACHE"}) {
    for (const std::string& value : never_numbers) expect_refused(name, value);
  }
}

TEST(settings, numbers_outside_their_range_are_refused) {
  expect_refused("ARC_ALLOC_CACHE_MAX_MB", "1073741825");
  expect_refused("ARC_ALLOC_CAPACITY_MB", "1073741825");
  expect_refused("ARC_ALLOC_CAPACITY_MB", "0");
  expect_refused("ARC_ALLOC_CACHE_STATS", "4294967296");
  expect_refused("ARC_ALLOC_CACHE", "2");
  for (const char* value : {"3", "32", "EXACT", "exact ", "", "0"}) expect_refused("ARC_ALLOC_CACHE_GEOMETRY", value);
}

TEST(settings, good_values_take_effect) {
  EXPECT_EQ(accepted("ARC_ALLOC_CACHE_MAX_MB", "64").cached_bytes_max.bytes, std::uint64_t{64} << 20);
  EXPECT_TRUE(accepted("ARC_ALLOC_CACHE_MAX_MB", "64").cached_bytes_max.from_environment);
  EXPECT_EQ(accepted("ARC_ALLOC_CACHE_MAX_MB", "1073741824").cached_bytes_max.bytes, std::uint64_t{1} << 50);
  EXPECT_EQ(accepted("ARC_ALLOC_CAPACITY_MB", "1").capacity_bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(accepted("ARC_ALLOC_CACHE_STATS", "0").stats_every_steps, 0U);
  const options reporting = accepted("ARC_ALLOC_CACHE_STATS", "512");
  EXPECT_EQ(reporting.stats_every_steps, 512U);
  EXPECT_NE(reporting.sink.write, nullptr);
  EXPECT_FALSE(accepted("ARC_ALLOC_CACHE", "0").enabled);
  EXPECT_TRUE(accepted("ARC_ALLOC_CACHE", "1").enabled);
  EXPECT_FALSE(accepted("ARC_CANDLE_ALLOC_CACHE", "0").enabled);
  EXPECT_TRUE(accepted("ARC_CANDLE_ALLOC_CACHE", "1").enabled);
  for (const char* value : {"1", "2", "4", "8", "16", "exact"}) {
    EXPECT_STREQ(geometry_name(accepted("ARC_ALLOC_CACHE_GEOMETRY", value).classes), value);
  }
}

TEST(settings, zero_is_unbounded_without_retry_and_says_so) {
  environment at{{{"ARC_ALLOC_CACHE_MAX_MB", "0"}}, {}, {}};
  options out;
  const settings_result result = at.read(out);
  EXPECT_EQ(result.outcome, status::ok);
  EXPECT_EQ(out.cached_bytes_max.mode, bound_mode::unbounded);
  EXPECT_FALSE(out.oom_retry);
  ASSERT_EQ(result.warned, 1U);
  EXPECT_NE(std::string(result.warnings[0].text).find("UNBOUNDED"), std::string::npos);
}

TEST(settings, reports_go_to_stderr_where_they_are_wanted_and_have_no_sink) {
  EXPECT_EQ(accepted("ARC_ALLOC_CACHE_STATS", "0").sink.write, nullptr);
  EXPECT_EQ(accepted("ARC_ALLOC_CACHE_STATS", "1").sink.write, stderr_sink().write);
  environment at{{{"ARC_ALLOC_CACHE_STATS", "1"}}, {}, {}};
  options out;
  int context = 0;
  out.sink = {[](void*, const char*) noexcept {}, &context};
  EXPECT_EQ(at.read(out).outcome, status::ok);
  EXPECT_EQ(out.stats_every_steps, 1U);
  EXPECT_EQ(out.sink.context, &context);
  EXPECT_NE(out.sink.write, stderr_sink().write);
}

TEST(settings, two_names_of_the_switch_that_differ_are_both_refused) {
  environment at{{{"ARC_ALLOC_CACHE", "1"}, {"ARC_CANDLE_ALLOC_CACHE", "0"}}, {}, {}};
  options out;
  const settings_result result = at.read(out);
  EXPECT_EQ(result.outcome, status::invalid_argument);
  ASSERT_EQ(result.refused, 1U);
  const std::string text = result.errors[0].text;
  EXPECT_NE(text.find("ARC_ALLOC_CACHE="), std::string::npos);
  EXPECT_NE(text.find("ARC_CANDLE_ALLOC_CACHE="), std::string::npos);
  EXPECT_TRUE(out.enabled);
  at.values.insert_or_assign("ARC_ALLOC_CACHE", std::string("0"));
  EXPECT_EQ(at.read(out).outcome, status::ok);
  EXPECT_FALSE(out.enabled);
}

TEST(settings, a_file_to_record_into_is_looked_at_and_not_made) {
  const std::string path = ::testing::TempDir() + "arcalloc-settings-never-made.arct";
  environment at{{{"ARC_ALLOC_CACHE_TRACE", path}}, {}, {}};
  options out;
  EXPECT_EQ(at.read(out).outcome, status::ok);
  EXPECT_STREQ(out.trace_path, path.c_str());
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  for (const char* value : {"", "/no/such/directory/t", "/dev/null", "/tmp", "/tmp/"}) {
    expect_refused("ARC_ALLOC_CACHE_TRACE", value);
  }
}

TEST(settings, a_capture_miss_grows_or_is_refused) {
  EXPECT_EQ(accepted("ARC_ALLOC_CACHE_CAPTURE_MISS", "grow").capture_miss, capture_policy::grow);
  EXPECT_EQ(accepted("ARC_ALLOC_CACHE_CAPTURE_MISS", "refuse").capture_miss, capture_policy::refuse);
  for (const char* value : {"", "Grow", "refuse ", "1"}) expect_refused("ARC_ALLOC_CACHE_CAPTURE_MISS", value);
}

TEST(settings, a_profile_is_looked_at_at_once) {
  for (const char* value : {"", "/no/such/file.json", "/dev/null"}) expect_refused("ARC_ALLOC_CACHE_PROFILE", value);
}

TEST(settings, every_refusal_is_reported_and_good_neighbours_still_count) {
  environment at{
      {{"ARC_ALLOC_CACHE_MAX_MB", "4Gi"}, {"ARC_ALLOC_CACHE_STATS", "x"}, {"ARC_ALLOC_CAPACITY_MB", "7"}}, {}, {}};
  options out;
  const settings_result result = at.read(out);
  EXPECT_EQ(result.refused, 2U);
  EXPECT_EQ(out.capacity_bytes, std::uint64_t{7} << 20);
}

TEST(settings, an_unknown_name_is_warned_about_with_the_nearest_known_one) {
  environment at{{{"ARC_ALLOC_CACHE_MAXMB", "64"}, {"ARC_ALLOC_CACHE_STAT", "1"}, {"ARC_OTHER", "1"}}, {}, {}};
  options out;
  const settings_result result = at.read(out);
  EXPECT_EQ(result.outcome, status::ok);
  ASSERT_EQ(result.warned, 2U);
  EXPECT_NE(std::string(result.warnings[0].text).find("ARC_ALLOC_CACHE_MAX_MB?"), std::string::npos);
  EXPECT_NE(std::string(result.warnings[1].text).find("ARC_ALLOC_CACHE_STATS?"), std::string::npos);
}

TEST(settings, the_nearest_name_is_the_one_with_the_fewest_letters_wrong_left_out_or_too_many) {
  const std::pair<const char*, const char*> cases[] = {
      {"ARC_ALLOC_CASH", "ARC_ALLOC_CACHE"},
      {"ARC_ALLOC_CAPACITY", "ARC_ALLOC_CAPACITY_MB"},
      {"ARC_ALLOC_CACHEMAXMB", "ARC_ALLOC_CACHE_MAX_MB"},
      {"ARC_ALLOC_GEOMETRY", "ARC_ALLOC_CACHE_GEOMETRY"},
      {"ARC_ALLOC_CACHE_PROFILES_FILE", "ARC_ALLOC_CACHE_PROFILE"},
      {"ARC_ALLOC_RACE", "ARC_ALLOC_CACHE"},
      {"ARC_ALLOC_CACHE_MB", "ARC_ALLOC_CACHE"},       // three letters too many, not four too few
      {"ARC_ALLOC_CATY_MB", "ARC_ALLOC_CAPACITY_MB"},  // four too few, not three wrong and two too many
      {"ARC_ALLOC_CACHE_TACE", "ARC_ALLOC_CACHE_TRACE"},
  };
  for (const auto& [given, nearest] : cases) {
    environment at{{{given, "1"}}, {}, {}};
    options out;
    const settings_result result = at.read(out);
    ASSERT_EQ(result.warned, 1U) << given;
    EXPECT_EQ(std::string(result.warnings[0].text),
              std::string(given).append(" is not a setting of arcalloc; did you mean ").append(nearest).append("?"));
  }
}

TEST(settings, long_values_and_many_of_them_are_cut_not_overrun) {
  environment at;
  for (int i = 0; i < 40; ++i) at.values.emplace(std::string("ARC_ALLOC_X").append(std::to_string(i)), "1");
  at.values.emplace("ARC_ALLOC_CACHE_MAX_MB", std::string(5000, '9'));
  options out;
  const settings_result result = at.read(out);
  EXPECT_EQ(result.refused, 1U);
  EXPECT_EQ(result.warned, settings_result::diagnostics_max);
}

TEST(settings, the_table_has_a_row_for_every_variable) {
  std::size_t count = 0;
  const setting_row* const rows = setting_rows(count);
  EXPECT_EQ(count, 9U);
  for (std::size_t i = 0; i < count; ++i) EXPECT_GT(std::string(rows[i].meaning).size(), 5U);
}

}  // namespace
}  // namespace arcalloc
