// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/number_text.hpp"
#include "program.hpp"

namespace arcalloc::cli {
namespace {

using nlohmann::json;
using test::arcalloc;
using test::content_of;
using test::ended;
using test::temporary_folder;
using test::write_file;

/// So many steps' worth of pairs, one of which grows; without steps, since CSV has none.
std::string growing_rows(int rounds) {
  std::string text = "t_us,op,id,size,stream\n";
  for (int i = 0; i < rounds; ++i) {
    const std::string id = std::to_string(i + 1);
    const std::string time = std::to_string(10 * i);
    text.append(time)
        .append(",a,")
        .append(id)
        .append(",")
        .append(std::to_string(1'000'000 + 70'000 * i))
        .append(",0\n");
    if (i > 0) text.append(time).append(",f,").append(std::to_string(i)).append(",,\n");
  }
  return text;
}

std::size_t count_in(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// The first tag that closes another than the one that is open, or that is never closed; empty: none.
std::string misplaced_tag(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) return page.substr(at, 40);
    const std::string tag = page.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (name == "!doctype" || name == "meta" || tag.back() == '/') continue;
    if (name.front() != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name.substr(1)) {
      return tag + " where " + (open.empty() ? "nothing" : open.back()) + " is open";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? std::string() : open.back() + " is never closed";
}

void expect_stands_alone(const std::string& page) {
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  EXPECT_NE(page.find("</html>"), std::string::npos);
  EXPECT_EQ(misplaced_tag(page), "");
  for (const char* fetched : {"<script", "http:", "https:", "<link", "<img", "@import", "url("}) {
    EXPECT_EQ(page.find(fetched), std::string::npos) << fetched;
  }
}

TEST(report, writes_one_page_that_stands_alone) {
  const temporary_folder folder;
  const std::string in = folder.file("a.csv");
  write_file(in, growing_rows(300));
  const ended run = arcalloc({"report", in, "--cap", "8", "--capacity", "4096"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const std::string page = content_of(in + ".html");
  expect_stands_alone(page);
  for (const char* heading : {"Memory timeline", "Steps", "Requests by size", "Misses by size", "Growing buffers",
                              "Evictions and thrash", "Trace", "Provenance"}) {
    EXPECT_NE(page.find(std::string("<h2>") + heading + "</h2>"), std::string::npos) << heading;
  }
  for (const char* kind : {"reserved", "allocated", "requested", "cached", "slack", "pending", "pinned"}) {
    EXPECT_EQ(count_in(page, std::string("<polyline class=\"curve s-") + kind + "\""), 2U) << kind;
  }
  EXPECT_NE(page.find("cached max 8.0 MiB"), std::string::npos);
  EXPECT_NE(page.find("a.csv: 599 events"), std::string::npos);
  EXPECT_NE(page.find("300 allocate, 299 free"), std::string::npos);
  EXPECT_EQ(run.out.rfind(in + ": csv, 599 events, ", 0), 0U) << run.out;
}

TEST(report, keeps_the_peak_of_a_long_trace) {
  const temporary_folder folder;
  std::string text = "t_us,op,id,size,stream\n";
  for (int i = 0; i < 9000; ++i) {
    const std::string id = std::to_string(i + 1);
    // One block in the middle is 96 times as large as the others, for two events of eighteen thousand.
    text.append(",a,")
        .append(id)
        .append(i == 4321 ? ",100663296" : ",1048576")
        .append(",0\n,f,")
        .append(id)
        .append(",,\n");
  }
  write_file(folder.file("a"), text);
  const ended run = arcalloc({"report", folder.file("a"), folder.file("b"), "--cap", "1"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const std::string page = content_of(folder.file("b"));
  EXPECT_NE(page.find("over stretches of 16 events"), std::string::npos);
  // Reserved, allocated and requested, in one tenth of ten; and what was requested of its size.
  EXPECT_EQ(count_in(page, "<td class=\"n\">96.00</td>"), 4U);
  EXPECT_LT(page.size(), 300'000U);
}

TEST(report, has_the_figures_of_a_replay_as_text) {
  const temporary_folder folder;
  const std::string in = folder.file("a.csv");
  write_file(in, growing_rows(300));
  ASSERT_EQ(arcalloc({"report", in, folder.file("page"), "--cap", "64"}).exit_status, 0);
  ASSERT_EQ(arcalloc({"replay", in, "--cap", "64", "--json", folder.file("j")}).exit_status, 0);
  const std::string page = content_of(folder.file("page"));
  const json played = json::parse(content_of(folder.file("j"))).at("policies").at(0);
  const json& counted = played.at("counters");
  const auto count = [&](const char* name) { return counted.at(name).get<std::uint64_t>(); };
  const auto mib = [&](const char* name) { return fixed_text(static_cast<double>(count(name)) / (1 << 20), 2); };
  ASSERT_GT(count("misses"), 1U);
  const std::string expected[] = {
      "<dd>" + count_text(count("driver_allocs") + count("driver_frees")) + "<small>allocations and frees",
      "of its requests; " + count_text(count("misses")) + " misses",
      "<dd>" + fixed_text(static_cast<double>(count("hits")) / static_cast<double>(count("requests")), 5) + "<small>",
      "reserved<tspan class=\"value\" dx=\"6\">" + mib("reserved_bytes_peak") + " MiB",
      "allocated<tspan class=\"value\" dx=\"6\">" + mib("allocated_bytes_peak") + " MiB",
      "slack<tspan class=\"value\" dx=\"6\">" + mib("slack_bytes_peak") + " MiB",
      "<td class=\"n\">" + mib("requested_bytes_peak") + "</td>",
      "<dt>evictions</dt><dd>" + count_text(count("evictions")) + " segments",
      "<dt>wanted again soon</dt><dd>" + count_text(count("thrash_evictions")) + "</dd>"};
  for (const std::string& text : expected) EXPECT_NE(page.find(text), std::string::npos) << text;
}

TEST(report, shows_steps_and_what_grows) {
  const temporary_folder folder;
  const ended made = arcalloc(
      {"decode", "--config", "demo-3m", "--tokens", "12", "--legs", "bounded", "--trace", folder.file("t.arct")});
  ASSERT_EQ(made.exit_status, 0) << made.err;
  ASSERT_EQ(arcalloc({"report", folder.file("t.arct"), folder.file("page.html")}).exit_status, 0);
  const std::string page = content_of(folder.file("page.html"));
  expect_stands_alone(page);
  EXPECT_EQ(page.find("The trace has no steps"), std::string::npos);
  EXPECT_NE(page.find("grew in at least half of the steps"), std::string::npos);
}

TEST(report, says_where_memory_was_not_enough) {
  const temporary_folder folder;
  write_file(folder.file("a"), growing_rows(300));
  const ended run = arcalloc({"report", folder.file("a"), "--device", "sim:16MiB"});
  EXPECT_EQ(run.exit_status, 4);
  EXPECT_NE(content_of(folder.file("a.html")).find("was refused (device_out_of_memory)"), std::string::npos);
}

TEST(report, escapes_what_a_file_is_called) {
  const temporary_folder folder;
  const std::string in = folder.file("<b>&.csv");
  write_file(in, growing_rows(3));
  ASSERT_EQ(arcalloc({"report", in, folder.file("out")}).exit_status, 0);
  const std::string page = content_of(folder.file("out"));
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;&amp;.csv"), std::string::npos);
}

TEST(report, of_a_result_of_decode_is_the_page_that_decode_writes) {
  const temporary_folder folder;
  const ended made = arcalloc({"decode", "--config", "demo-3m", "--tokens", "12", "--legs", "unbounded,bounded",
                               "--rounds", "2", "--json", folder.file("j"), "--report", folder.file("page")});
  ASSERT_EQ(made.exit_status, 0) << made.err;
  const ended again = arcalloc({"report", folder.file("j")});
  EXPECT_EQ(again.exit_status, 0) << again.err;
  EXPECT_EQ(content_of(folder.file("j.html")), content_of(folder.file("page")));
  EXPECT_EQ(again.out.rfind(folder.file("j") + ": result of arcalloc decode, 2 legs\n", 0), 0U) << again.out;
}

TEST(report, writes_what_the_page_shows_as_json) {
  const temporary_folder folder;
  const std::string in = folder.file("a.csv");
  write_file(in, growing_rows(300));
  const ended run = arcalloc({"report", in, folder.file("page"), "--cap", "64", "--json", folder.file("json")});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const std::string page = content_of(folder.file("page"));
  const json shown = json::parse(content_of(folder.file("json")));
  EXPECT_EQ(shown.at("schema"), "arcalloc.report/1");
  EXPECT_EQ(shown.at("file"), in);
  EXPECT_EQ(shown.at("format"), "csv");
  EXPECT_EQ(shown.at("page"), folder.file("page"));
  EXPECT_EQ(shown.at("events"), 599);
  EXPECT_EQ(shown.at("facts").at("events"), "300 allocate, 299 free");
  EXPECT_EQ(shown.at("cached_bytes_max"), std::uint64_t{64} << 20);
  EXPECT_EQ(shown.at("capacity_bytes"), nullptr);
  EXPECT_EQ(shown.at("trace_reserved_bytes_peak"), nullptr);
  EXPECT_EQ(shown.at("timeline").back().at("last_event"), 599);
  std::uint64_t requests = 0;
  std::uint64_t misses = 0;
  for (const json& one : shown.at("classes")) {
    requests += one.at("requests").get<std::uint64_t>();
    misses += one.at("misses").get<std::uint64_t>();
  }
  EXPECT_EQ(requests, 300U);
  const json& counters = shown.at("played").at("counters");
  EXPECT_EQ(counters.at("requests"), 300);
  EXPECT_EQ(counters.at("misses"), misses);
  EXPECT_EQ(shown.at("played").at("refusal"), nullptr);
  std::uint64_t reserved_most = 0;
  for (const json& one : shown.at("timeline")) {
    reserved_most = std::max(reserved_most, one.at("reserved_bytes_peak").get<std::uint64_t>());
  }
  EXPECT_EQ(counters.at("reserved_bytes_peak"), reserved_most);
  EXPECT_NE(page.find(mib_text(reserved_most)), std::string::npos) << "the page shows it, too";
}

TEST(report, as_json_says_where_memory_was_not_enough) {
  const temporary_folder folder;
  write_file(folder.file("a.csv"), growing_rows(300));
  const ended run =
      arcalloc({"report", folder.file("a.csv"), folder.file("page"), "--capacity", "4", "--json", folder.file("json")});
  EXPECT_EQ(run.exit_status, 4);
  const json refusal = json::parse(content_of(folder.file("json"))).at("played").at("refusal");
  EXPECT_EQ(refusal.at("status"), "capacity_exceeded");
  EXPECT_GT(refusal.at("requested_bytes"), 1'000'000);
}

TEST(report, of_a_result_is_as_json_that_result) {
  const temporary_folder folder;
  const std::string result = folder.file("result.json");
  ASSERT_EQ(arcalloc({"decode", "--config", "demo-3m", "--tokens", "3", "--legs", "bounded", "--device", "host:256MiB",
                      "--json", result})
                .exit_status,
            0);
  const ended run = arcalloc({"report", result, folder.file("page"), "--json", folder.file("json")});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const json shown = json::parse(content_of(folder.file("json")));
  EXPECT_EQ(shown.at("schema"), "arcalloc.report/1");
  EXPECT_EQ(shown.at("format"), "arcalloc.decode/1");
  EXPECT_EQ(shown.at("result"), json::parse(content_of(result)));
}

TEST(report, refuses_json_that_cannot_be_written) {
  const temporary_folder folder;
  const std::string in = folder.file("a.csv");
  write_file(in, growing_rows(3));
  EXPECT_EQ(arcalloc({"report", in, "--json", ""}).exit_status, 2);
  const ended run = arcalloc({"report", in, "--json", folder.file("none/json")});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_NE(run.err.find("--json: "), std::string::npos) << run.err;
}

TEST(report, refuses_what_it_cannot_use) {
  const temporary_folder folder;
  write_file(folder.file("a"), growing_rows(3));
  write_file(folder.file("bad"), "t_us,op,id,size,stream\nx\n");
  write_file(folder.file("cut"), "{\"schema\": \"arcalloc.decode/1\", \"provenance\": {");
  write_file(folder.file("other"), "{\n  \"schema\" : \"arcalloc.tune/1\"}");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "no trace"},
      {{folder.file("none")}, "none"},
      {{folder.file("bad")}, "bad:2"},
      {{folder.file("a"), folder.file("a")}, "is the file that is read"},
      {{folder.file("cut")}, "cut: no result of arcalloc decode"},
      {{folder.file("other")}, "holds arcalloc.tune/1"},
      {{folder.file("cut"), "--cap", "8"}, "--cap: is about traces"},
      {{folder.file("a"), "/no/such/directory/p"}, "OUT"},
      {{folder.file("a"), "--cap", "x"}, "--cap"},
      {{folder.file("a"), "--geometry", "3"}, "--geometry"},
      {{folder.file("a"), "--device", "host"}, "--device"},
      {{folder.file("a"), "--granularity", "3"}, "--granularity"}};
  for (const auto& [words, named] : cases) {
    std::vector<std::string> line{"report"};
    line.insert(line.end(), words.begin(), words.end());
    test::expect_refused(line, named);
  }
}

}  // namespace
}  // namespace arcalloc::cli
