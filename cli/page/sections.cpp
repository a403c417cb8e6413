// SPDX-License-Identifier: Apache-2.0
#include "sections.hpp"

#include <utility>
#include <vector>

#include "cli/capture_text.hpp"
#include "cli/decode_columns.hpp"
#include "cli/number_text.hpp"
#include "markup.hpp"
#include "style.hpp"

namespace arcalloc::cli::page {

namespace {

cell leg_cell(const leg_result& leg) { return {leg_name(leg.which), false, {}, leg_name(leg.which)}; }

std::string leg_table(const std::vector<leg_column>& columns, const std::vector<leg_result>& legs) {
  std::vector<cell> headings;
  for (const leg_column& column : columns) headings.push_back({column.heading, column.is_number, column.unit, {}});
  std::vector<std::vector<cell>> rows;
  for (const leg_result& leg : legs) {
    std::vector<cell> row{leg_cell(leg)};
    for (std::size_t i = 1; i < columns.size(); ++i)
      row.push_back({columns[i].cell(leg), columns[i].is_number, {}, {}});
    rows.push_back(std::move(row));
  }
  return table(headings, rows);
}

std::string decile_table(const std::vector<leg_result>& legs) {
  std::vector<cell> headings{text_cell("leg")};
  for (std::size_t i = 0; i < decile_count; ++i) headings.push_back(number_cell(std::to_string(i * 10) + " %"));
  std::vector<std::vector<cell>> rows;
  for (const leg_result& leg : legs) {
    std::vector<cell> row{leg_cell(leg)};
    for (const auto& bytes : leg.figures().memory_deciles_bytes) {
      row.push_back(number_cell(bytes ? growth_text(*bytes) : "-"));
    }
    rows.push_back(std::move(row));
  }
  return table(headings, rows);
}

std::string rounds_table(const decode_result& result) {
  std::vector<cell> headings{text_cell("leg"), number_cell("median"), number_cell("least"), number_cell("most")};
  for (std::uint64_t i = 0; i < result.request.rounds; ++i) headings.push_back(number_cell(round_heading(i)));
  std::vector<std::vector<cell>> rows;
  for (const leg_result& leg : result.legs) {
    const auto& times = leg.ms_per_token;
    std::vector<cell> row{leg_cell(leg), number_cell(times ? fixed_text(times->median, 3) : "-"),
                          number_cell(times ? fixed_text(times->least, 3) : "-"),
                          number_cell(times ? fixed_text(times->most, 3) : "-")};
    for (const leg_figures& round : leg.rounds) row.push_back(number_cell(fixed_text(round.ms_per_token, 3)));
    rows.push_back(std::move(row));
  }
  return table(headings, rows);
}

std::string capture_section(const decode_result& result) {
  std::string content =
      "<p class=\"note\">One step was recorded in a capture window and replayed for every later token. Requests and "
      "driver calls in replays are read off the counters around each replay.</p>\n" +
      leg_table(capture_columns(), result.legs);
  for (const std::string& note : capture_notes(result)) content += "<p class=\"note\">" + escaped(note) + "</p>\n";
  return section("Capture and replay", content);
}

std::string growth_figure(const decode_result& result, leg which) {
  const leg_result* found = result.find(which);
  if (found == nullptr) return {};
  const auto& growth = found->figures().memory_growth_bytes;
  const std::string name = std::string("growth, ") + leg_name(which);
  return key_figure(name, growth ? growth_text(*growth) : "-",
                    found->figures().completed ? "MiB" : "MiB, then it died");
}

}  // namespace

std::string facts(const std::vector<std::pair<std::string, std::string>>& list) {
  std::string out = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : list) out += "<dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd>\n";
  return out + "</dl>\n";
}

std::string key_figure(const std::string& name, const std::string& value, const std::string& unit) {
  return "<div><dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "<small>" + escaped(unit) +
         "</small></dd></div>\n";
}

std::string page_around(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
         escaped(title) + "</title>\n<style>" + style_sheet() + "</style>\n</head>\n<body>\n<main>\n" + body +
         "</main>\n</body>\n</html>\n";
}

std::string key_figures(const decode_result& result) {
  std::string out =
      "<dl class=\"key-figures\">\n" + growth_figure(result, leg::bounded) + growth_figure(result, leg::unbounded);
  if (result.bound_cost_ms_per_token) {
    const double cost = *result.bound_cost_ms_per_token;
    out += key_figure("cost of the bound", signed_text(fixed_text(cost, 3)), "ms per token");
  }
  if (result.gain_kept) out += key_figure("gain kept", fixed_text(*result.gain_kept * 100, 1), "% of the cache's gain");
  if (const leg_result* bounded = result.find(leg::bounded)) {
    out += key_figure("hit rate, bounded", fixed_text(bounded->figures().hit_rate, 5), "of its requests");
  }
  return out + "</dl>\n";
}

std::string result_sections(const decode_result& result) {
  std::string results = leg_table(result_columns(), result.legs);
  results += facts({{"bound cost", bound_cost_text(result)},
                    {"gain kept", gain_kept_text(result)},
                    {"tokens", tokens_text(result)},
                    {"accounting", accounting_text(result)}});
  std::string out = section("Results", results);
  out += section("Memory by tenths of the tokens",
                 "<p class=\"note\">MiB above the start; each figure was read while the leg stood still.</p>\n" +
                     decile_table(result.legs));
  out += section("Requests and driver calls",
                 "<p class=\"note\">A hit is a request served from memory that was there; a miss needed the driver; "
                 "a bypass went to the driver because the cache was off.</p>\n" +
                     leg_table(step_columns(), result.legs));
  out += section("Peaks", leg_table(peak_columns(), result.legs));
  if (has_captures(result)) out += capture_section(result);
  if (result.request.rounds > 1) {
    out += section("Rounds",
                   "<p class=\"note\">Milliseconds per token. Legs take turns, round by round; the tables "
                   "above show each leg's median round.</p>\n" +
                       rounds_table(result));
  }
  return out;
}

std::string bounds_section(const decode_result& result) {
  const std::vector<cell> headings{text_cell("leg"),   text_cell("cache"),    text_cell("geometry"),
                                   text_cell("retry"), text_cell("capacity"), text_cell("cached max")};
  std::vector<std::vector<cell>> rows;
  for (const leg_result& leg : result.legs) {
    const options& memory = leg.memory;
    const auto& report = leg.run().report;
    rows.push_back({leg_cell(leg), text_cell(memory.enabled ? "on" : "off"), text_cell(geometry_name(memory.classes)),
                    text_cell(memory.oom_retry ? "yes" : "no"),
                    text_cell(memory.capacity_bytes == 0 ? "none" : mib_text(memory.capacity_bytes) + " MiB"),
                    text_cell(report && memory.enabled ? cap_text(report->cap) : "-")});
  }
  return section("Bounds",
                 "<p class=\"note\">The derived bound is min(1024 MiB, (free - reserve) / 2), with a reserve of "
                 "min(256 MiB, free / 4), all in MiB.</p>\n" +
                     table(headings, rows));
}

std::string text_section(const decode_result& result) {
  const std::string kind = result.request.session.model_path.empty()
                               ? "Token numbers: this configuration has seeded weights and no tokenizer."
                               : "What the model wrote.";
  return section("Text", "<p class=\"note\">" + kind + "</p>\n<pre>" + escaped(produced_text(result)) + "</pre>\n");
}

std::string provenance_section(const provenance& from) {
  const auto size = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? mib_text(*bytes) + " MiB" : std::string("unknown");
  };
  std::string content = facts(
      {{"command", from.command},
       {"version", from.version},
       {"commit", from.commit + " (" + from.dirty + ")"},
       {"build id", from.build_id},
       {"compiler", from.compiler + ", " + from.build_type},
       {"device", from.device + ", " + size(from.free_bytes_at_start) + " free at the start"},
       {"driver", from.driver},
       {"processor", from.processor + ", " + count_text(from.cores) + " cores"},
       {"memory", size(from.memory_bytes) + ", " + size(from.available_bytes_at_start) + " available at the start"},
       {"time", from.utc}});
  std::vector<std::vector<cell>> rows;
  for (const setting_view& row : from.settings) {
    rows.push_back({text_cell(row.variable), text_cell(row.value), text_cell(row.source), text_cell(row.meaning)});
  }
  content += table({text_cell("setting"), text_cell("value"), text_cell("source"), text_cell("meaning")}, rows);
  return section("Provenance", content);
}

}  // namespace arcalloc::cli::page
