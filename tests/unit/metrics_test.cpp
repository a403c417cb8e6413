// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <arcalloc/metrics.hpp>

#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::small_world;

std::string metrics_text(const std::vector<metrics_source>& sources) {
  std::size_t length = 0;
  EXPECT_EQ(format_metrics(sources.data(), sources.size(), nullptr, 0, length), status::ok);
  std::string text(length + 1, '#');
  EXPECT_EQ(format_metrics(sources.data(), sources.size(), text.data(), text.size(), length), status::ok);
  EXPECT_EQ(text.back(), '\0');
  text.pop_back();
  EXPECT_EQ(std::strlen(text.c_str()), text.size());
  return text;
}

TEST(metrics, every_counter_is_a_family_of_every_source) {
  small_world at;
  at.put(at.get(3000));
  const counters now = at.now();
  const std::string text = metrics_text({{now, R"(rank="0")"}, {now, R"(rank="1")"}});
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool counted = fields[i].kind == counter_kind::count;
    const std::string name = std::string("arcalloc_").append(fields[i].name).append(counted ? "_total" : "");
    const std::uint64_t value = now.*fields[i].value;
    const std::string shown = value == ARCALLOC_NO_BOUND ? "+Inf" : std::to_string(value);
    std::ostringstream family;
    family << "# HELP " << name << " " << fields[i].meaning << "\n# TYPE " << name
           << (counted ? " counter\n" : " gauge\n");
    for (const char* rank : {"0", "1"}) family << name << "{rank=\"" << rank << "\"} " << shown << "\n";
    EXPECT_NE(text.find(family.str()), std::string::npos) << family.str();
  }
  EXPECT_NE(text.find("arcalloc_requests_total{rank=\"1\"} 1\n"), std::string::npos);
}

TEST(metrics, a_bound_that_is_not_set_is_infinite) {
  counters values{};
  values.size = sizeof values;
  values.cached_bytes_max = 4096;
  values.capacity_bytes = ARCALLOC_NO_BOUND;
  const std::string text = metrics_text({{values, nullptr}});
  EXPECT_NE(text.find("\narcalloc_capacity_bytes +Inf\n"), std::string::npos);
  EXPECT_NE(text.find("\narcalloc_cached_bytes_max 4096\n"), std::string::npos);
}

TEST(metrics, no_line_and_no_description_is_malformed) {
  std::istringstream text(metrics_text({{small_world().now(), ""}}));
  std::set<std::string> described;
  std::string line;
  while (std::getline(text, line)) {
    std::istringstream words(line);
    std::string first, second, name;
    words >> first >> second >> name;
    if (first != "#") {
      EXPECT_TRUE(described.count(first) == 1) << line;
    } else if (second == "HELP") {
      EXPECT_TRUE(described.insert(name).second) << line;
      EXPECT_EQ(line.find_first_of("\\\r"), std::string::npos) << line;
      EXPECT_NE(line.back(), '.') << line;
    }
  }
  EXPECT_GT(described.size(), 60U);
}

TEST(metrics, labels_that_are_none_are_refused_and_nothing_is_written) {
  for (const char* labels : {"rank=0", "rank=\"0", "=\"0\"", "1rank=\"0\"", "rank=\"0\",", "rank=\"0\"}",
                             "rank=\"a\"b\"", "rank=\"\\x\"", "rank=\"\n\"", ",", " ", "ra nk=\"0\""}) {
    const metrics_source source{{}, labels};
    char text[8] = "before";
    std::size_t length = 77;
    EXPECT_EQ(format_metrics(&source, 1, text, sizeof text, length), status::invalid_argument) << labels;
    EXPECT_STREQ(text, "before");
    EXPECT_EQ(length, 77U);
  }
  for (const char* labels : {"", "_a=\"\"", "a1=\"x\",b=\"y, } z\"", R"(path="C:\\dir \"x\"\n")"}) {
    const metrics_source source{{}, labels};
    std::size_t length = 0;
    EXPECT_EQ(format_metrics(&source, 1, nullptr, 0, length), status::ok) << labels;
  }
}

TEST(metrics, null_is_refused_where_it_may_not_be) {
  std::size_t length = 0;
  char text[8];
  const metrics_source source{};
  EXPECT_EQ(format_metrics(nullptr, 1, text, sizeof text, length), status::invalid_argument);
  EXPECT_EQ(format_metrics(&source, 1, nullptr, 8, length), status::invalid_argument);
  EXPECT_EQ(format_metrics(nullptr, 0, text, sizeof text, length), status::ok);
  EXPECT_EQ(length, 0U);
  EXPECT_STREQ(text, "");
}

}  // namespace
}  // namespace arcalloc
