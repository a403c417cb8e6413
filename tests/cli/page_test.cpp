// SPDX-License-Identifier: Apache-2.0
#include "cli/page/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/page/growth_chart.hpp"
#include "cli/page/markup.hpp"
#include "results.hpp"

namespace arcalloc::cli {
namespace {

using test::ended_run;
using test::leg_of;
using test::made_up_result;

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string page_of(decode_result result) {
  conclude(result);
  return page::decode_page(result);
}

TEST(page, text_cannot_become_markup) {
  EXPECT_EQ(page::escaped("<b a=\"1\" b='2'>&amp;"), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;");
  EXPECT_EQ(page::escaped(std::string("a\0b\x1b\x7f\n\t", 7)), "a&#xFFFD;b&#xFFFD;&#xFFFD;\n\t");
  const std::string text = page_of(made_up_result());
  EXPECT_EQ(text.find("<script"), std::string::npos);
  EXPECT_EQ(text.find("<b>upon"), std::string::npos);
  EXPECT_NE(text.find("&lt;b&gt;upon&lt;/b&gt; a time &amp; &quot;so on&quot;"), std::string::npos);
}

TEST(page, fetches_nothing_and_runs_no_script) {
  const std::string text = page_of(made_up_result());
  for (const char* part : {"http", "src=", "url(", "@import", "<link", "<script", "<iframe", "<object", " onload"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part;
  }
}

TEST(page, has_a_curve_and_rows_for_every_leg) {
  const std::string text = page_of(made_up_result());
  for (const char* leg : {"off", "unbounded", "exact", "bounded"}) {
    EXPECT_GE(times_in(text, std::string("<polyline class=\"curve c-") + leg + "\""), 2U) << leg;
    EXPECT_GE(times_in(text, std::string("<i class=\"key k-") + leg + "\"></i>" + leg), 4U) << leg;
  }
}

TEST(page, has_every_section) {
  const std::string text = page_of(made_up_result());
  for (const char* heading : {"Memory growth", "Results", "Memory by tenths of the tokens", "Requests and driver calls",
                              "Peaks", "Bounds", "Text", "Provenance"}) {
    EXPECT_EQ(times_in(text, std::string("<h2>") + heading + "</h2>"), 1U) << heading;
  }
  for (const char* part :
       {"9.8.7", "c0ffee (clean)", "b1d", "ARC_ALLOC_CACHE_MAX_MB", "MiB above the start", "tokens generated",
        "min(1024 MiB, (3072.0 - 256.0) / 2) = 1024.0 MiB", "identities hold", "+1,570"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(text.find("<h2>Rounds</h2>"), std::string::npos);
}

TEST(page, every_tag_that_opens_closes) {
  const std::string text = page_of(made_up_result());
  for (const char* tag :
       {"html", "body", "main", "section", "table", "thead", "tbody", "tr",    "td",     "th", "div",   "dl",   "dt",
        "dd",   "svg",  "text", "p",       "h2",    "pre",   "style", "title", "header", "i",  "small", "tspan"}) {
    const std::string name = tag;
    const std::size_t opened = times_in(text, "<" + name + ">") + times_in(text, "<" + name + " ");
    EXPECT_GT(opened, 0U) << name;
    EXPECT_EQ(opened, times_in(text, "</" + name + ">")) << name;
  }
}

TEST(page, the_verdict_says_what_bounded_and_unbounded_did) {
  EXPECT_NE(
      page_of(made_up_result())
          .find("Over 100 tokens, bounded grew by 20 MiB and held at most 8 MiB of idle memory; unbounded grew by "
                "1,570 MiB and held at most 8 MiB of idle memory."),
      std::string::npos);
}

TEST(page, a_leg_that_died_is_marked_and_named) {
  decode_result result = made_up_result();
  leg_of(result, leg::unbounded).runs = {ended_run(status::device_out_of_memory, 19)};
  const std::string text = page_of(result);
  EXPECT_NE(text.find("unbounded ended in device_out_of_memory at token 20"), std::string::npos);
  EXPECT_NE(text.find("<path class=\"end c-unbounded\""), std::string::npos);
  EXPECT_EQ(text.find("had to survive"), std::string::npos);
}

TEST(page, what_must_not_happen_stands_at_the_top) {
  decode_result result = made_up_result();
  leg_of(result, leg::bounded).runs = {ended_run(status::device_out_of_memory, 19)};
  leg_of(result, leg::exact).runs.front().report->outcome.tokens[3] = 77;
  leg_of(result, leg::exact).runs.front().report->outcome.at_end.held_bytes += 1;
  const std::string text = page_of(result);
  EXPECT_NE(text.find("leg bounded had to survive and did not: device_out_of_memory at token 20"), std::string::npos);
  EXPECT_NE(text.find("tokens are not equal: exact (round 1)"), std::string::npos);
  EXPECT_NE(text.find("accounting does not hold: exact (round 1): held = cached + slack"), std::string::npos);
}

TEST(page, captures_have_a_section_when_there_are_some) {
  decode_result result = made_up_result();
  EXPECT_EQ(page_of(result).find("<h2>Capture and replay</h2>"), std::string::npos);
  leg_of(result, leg::bounded).runs.front().report->outcome.capture = test::made_up_capture();
  const std::string text = page_of(result);
  EXPECT_NE(text.find("<h2>Capture and replay</h2>"), std::string::npos);
  EXPECT_NE(text.find("capture misses of bounded: 390,000 bytes x 2 (class 393,216)"), std::string::npos);
}

TEST(page, rounds_have_a_table_when_there_are_several) {
  decode_result result = made_up_result();
  result.request.rounds = 2;
  for (leg_result& leg : result.legs) leg.runs.push_back(leg.runs.front());
  EXPECT_NE(page_of(result).find("<h2>Rounds</h2>"), std::string::npos);
}

TEST(page, a_run_in_which_no_leg_started_has_no_curves_but_a_page) {
  decode_result result = made_up_result();
  leg_run run;
  run.outcome = status::device_out_of_memory;
  for (leg_result& leg : result.legs) leg.runs = {run};
  const std::string text = page_of(result);
  EXPECT_NE(text.find("there is nothing to draw"), std::string::npos);
  EXPECT_NE(text.find("device_out_of_memory before token 1"), std::string::npos);
}

TEST(page, ticks_are_round_and_reach_the_top) {
  EXPECT_EQ(page::axis_ticks(100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(page::axis_ticks(520, 5), (std::vector<double>{0, 200, 400, 600}));
  EXPECT_EQ(page::axis_ticks(3, 3), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_GE(page::axis_ticks(0.7, 5).back(), 0.7);
  EXPECT_GE(page::axis_ticks(0, 5).size(), 1U);
}

TEST(page, labels_of_curves_that_end_together_do_not_overlap) {
  std::vector<page::curve> curves;
  for (const char* leg : {"off", "unbounded", "exact", "bounded"}) curves.push_back({leg, {{0, 0}, {10, 5}}, false});
  const std::string drawing = page::growth_chart(curves, {600, 300, 50, 150, false}, "t");
  std::vector<double> heights;
  for (std::size_t at = drawing.find("class=\"label"); at != std::string::npos;
       at = drawing.find("class=\"label", at + 1)) {
    heights.push_back(std::stod(drawing.substr(drawing.find(" y=\"", at) + 4)));
  }
  ASSERT_EQ(heights.size(), 4U);
  std::sort(heights.begin(), heights.end());
  for (std::size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 18);
  EXPECT_LE(heights.back(), 300);
  EXPECT_GE(heights.front(), 0);
}

}  // namespace
}  // namespace arcalloc::cli
