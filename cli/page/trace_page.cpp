// SPDX-License-Identifier: Apache-2.0
#include "trace_page.hpp"

#include <algorithm>
#include <bit>

#include "cli/number_text.hpp"
#include "markup.hpp"
#include "sections.hpp"
#include "style.hpp"
#include "timeline_chart.hpp"

namespace arcalloc::cli::page {

namespace {

using trace::life_bytes;
using trace::life_class;
using trace::life_report;
using trace::life_stretch;

constexpr double mebibyte = 1024.0 * 1024.0;
constexpr chart_shape wide_timeline{1024, 360, 62, 190, false};
constexpr chart_shape narrow_timeline{368, 330, 44, 108, true};

struct kind_of_bytes {
  const char* name;
  std::uint64_t life_bytes::*bytes;
};
constexpr kind_of_bytes upper_kinds[] = {
    {"reserved", &life_bytes::reserved}, {"allocated", &life_bytes::allocated}, {"requested", &life_bytes::requested}};
constexpr kind_of_bytes lower_kinds[] = {{"cached", &life_bytes::cached},
                                         {"slack", &life_bytes::slack},
                                         {"pending", &life_bytes::pending},
                                         {"pinned", &life_bytes::pinned}};

cell heading(std::string text, std::string unit) { return {std::move(text), true, std::move(unit), {}}; }

std::string ratio_text(std::uint64_t bytes, std::uint64_t of) {
  return of == 0 ? "-" : fixed_text(static_cast<double>(bytes) / static_cast<double>(of), 3);
}

/// Of one form down a column.
cell mib_cell(std::uint64_t bytes) { return number_cell(fixed_text(static_cast<double>(bytes) / mebibyte, 2)); }

std::string counted(std::uint64_t count, const char* one, const char* several) {
  return count_text(count) + ' ' + (count == 1 ? one : several);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  if (bytes < 1024 * 1024) return fixed_text(static_cast<double>(bytes) / 1024, bytes % 1024 == 0 ? 0 : 1) + " KiB";
  return mib_text(bytes) + " MiB";
}

std::uint64_t most_of(const life_report& life, std::uint64_t life_bytes::*kind) {
  std::uint64_t most = 0;
  for (const life_stretch& one : life.timeline) most = std::max(most, one.peaks.*kind);
  return most;
}

template <std::size_t Count>
std::string charts(const life_report& life, const kind_of_bytes (&kinds)[Count], const std::vector<bound_line>& bounds,
                   const std::string& title) {
  std::vector<series> all;
  for (const kind_of_bytes& kind : kinds) {
    series one;
    one.name = kind.name;
    for (const life_stretch& at : life.timeline)
      one.mib.push_back(static_cast<double>(at.peaks.*kind.bytes) / mebibyte);
    all.push_back(std::move(one));
  }
  const double events = life.timeline.empty() ? 1 : static_cast<double>(life.timeline.back().last_event);
  return "<div class=\"wide\">" + timeline_chart(all, bounds, events, wide_timeline, title) +
         "</div><div class=\"narrow\">" + timeline_chart(all, bounds, events, narrow_timeline, title) + "</div>\n";
}

std::vector<bound_line> bound_of(const char* name, std::uint64_t bytes) {
  if (bytes == ARCALLOC_NO_BOUND) return {};
  return {{std::string(name) + " " + mib_text(bytes) + " MiB", static_cast<double>(bytes) / mebibyte}};
}

std::string tenths_table(const life_report& life) {
  std::vector<cell> headings{text_cell("events up to")};
  for (const kind_of_bytes& kind : upper_kinds) headings.push_back(heading(kind.name, "MiB, most"));
  for (const kind_of_bytes& kind : lower_kinds) headings.push_back(heading(kind.name, "MiB, most"));
  std::vector<std::vector<cell>> rows;
  const std::size_t count = life.timeline.size();
  const std::size_t parts = std::min<std::size_t>(10, count);
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t from = part * count / parts;
    const std::size_t to = (part + 1) * count / parts;
    std::vector<cell> row{text_cell(count_text(life.timeline[to - 1].last_event))};
    const auto add = [&](const kind_of_bytes& kind) {
      std::uint64_t most = 0;
      for (std::size_t i = from; i < to; ++i) most = std::max(most, life.timeline[i].peaks.*kind.bytes);
      row.push_back(mib_cell(most));
    };
    for (const kind_of_bytes& kind : upper_kinds) add(kind);
    for (const kind_of_bytes& kind : lower_kinds) add(kind);
    rows.push_back(std::move(row));
  }
  return table(headings, rows);
}

std::string timeline_section(const life_report& life) {
  std::string content =
      "<p class=\"note\">The most of each kind over stretches of " +
      counted(life.events_per_stretch, "event", "events") +
      " each, as the allocator counted it: a peak within a stretch is kept. Kinds peak at different moments, so those "
      "of "
      "one stretch need not add up to what was reserved.</p>\n" +
      charts(life, upper_kinds, bound_of("capacity", life.capacity_bytes), "Reserved, allocated and requested bytes");
  content += "<h3>What is not out with callers</h3>\n" + charts(life, lower_kinds,
                                                                bound_of("cached max", life.cached_bytes_max),
                                                                "Cached, slack, pending and pinned bytes");
  return section("Memory timeline", content + tenths_table(life));
}

std::string ledger_section(const life_report& life) {
  if (life.steps.empty()) return section("Steps", "<p class=\"note\">The trace has no steps.</p>\n");
  std::vector<std::vector<cell>> rows;
  for (const trace::life_steps& one : life.steps) {
    const std::uint64_t last = one.first + one.count - 1;
    std::string name = count_text(one.first);
    if (one.count > 1) name += " to " + count_text(last);
    rows.push_back({text_cell(name), number_cell(count_text(one.requests)), number_cell(count_text(one.hits)),
                    number_cell(count_text(one.misses)), number_cell(count_text(one.driver_allocs)),
                    number_cell(count_text(one.driver_frees)), number_cell(count_text(one.evictions)),
                    number_cell(count_text(one.driver_calls_most)), mib_cell(one.requested_bytes_most),
                    mib_cell(one.reserved_bytes_most)});
  }
  return section(
      "Steps",
      "<p class=\"note\">Counts are sums over the steps of a row; the last three columns are the most of any "
      "step, bytes as they were at its end.</p>\n" +
          table({text_cell("steps"), heading("requests", ""), heading("hits", ""), heading("misses", ""),
                 heading("driver allocs", ""), heading("driver frees", ""), heading("evictions", ""),
                 heading("driver calls", "most in one step"), heading("requested", "MiB"), heading("reserved", "MiB")},
                rows));
}

std::string bar(std::uint64_t part, std::uint64_t most) {
  const double share = most == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(most);
  return "<span class=\"bar\" style=\"width:" + fixed_text(std::max(share, part == 0 ? 0.0 : 0.5), 1) + "%\"></span>";
}

std::string histogram_section(const life_report& life) {
  struct doubling {
    life_class sum;
    std::uint64_t classes = 0;
  };
  std::map<std::uint64_t, doubling> rows;  // by the largest class of each
  for (const auto& [bytes, of] : life.classes) {
    doubling& row = rows[std::bit_ceil(bytes)];
    row.sum.requests += of.requests;
    row.sum.misses += of.misses;
    row.sum.bytes += of.bytes;
    row.sum.live_most += of.live_most;
    ++row.classes;
  }
  std::uint64_t most = 0;
  for (const auto& [bytes, row] : rows) most = std::max(most, row.sum.requests);
  std::string body;
  for (const auto& [bytes, row] : rows) {
    body += "<tr><td>" + size_text(bytes) + "</td><td class=\"n\">" + count_text(row.classes) +
            "</td><td class=\"n\">" + count_text(row.sum.requests) + "</td><td class=\"n\">" +
            count_text(row.sum.misses) + "</td><td class=\"n\">" +
            fixed_text(static_cast<double>(row.sum.bytes) / mebibyte, 2) + "</td><td class=\"bars\">" +
            bar(row.sum.requests, most) + "</td></tr>\n";
  }
  return section("Requests by size",
                 "<p class=\"note\">A row is a doubling of the size class, up to the size that it names.</p>\n<div "
                 "class=\"frame\"><table>\n<thead><tr><th>up to</th><th class=\"n\">classes</th><th "
                 "class=\"n\">requests</th><th class=\"n\">misses</th><th class=\"n\">requested<small>MiB in "
                 "all</small></th><th>requests</th></tr></thead>\n<tbody>\n" +
                     body + "</tbody>\n</table></div>\n");
}

std::string misses_section(const life_report& life) {
  std::vector<std::pair<std::uint64_t, life_class>> missed;
  for (const auto& one : life.classes) {
    if (one.second.misses > 0) missed.push_back(one);
  }
  std::stable_sort(missed.begin(), missed.end(),
                   [](const auto& a, const auto& b) { return a.second.misses > b.second.misses; });
  if (missed.empty()) return section("Misses by size", "<p class=\"note\">Nothing missed.</p>\n");
  constexpr std::size_t shown_max = 16;
  std::vector<std::vector<cell>> rows;
  for (std::size_t i = 0; i < std::min(missed.size(), shown_max); ++i) {
    const auto& [bytes, of] = missed[i];
    rows.push_back({text_cell(size_text(bytes)), number_cell(count_text(of.misses)),
                    number_cell(count_text(of.requests)),
                    number_cell(fixed_text(static_cast<double>(of.misses) / static_cast<double>(of.requests), 5)),
                    number_cell(count_text(of.live_most))});
  }
  std::string note = "Requests that needed the driver, by size class.";
  if (missed.size() > shown_max)
    note += " The " + std::to_string(shown_max) + " of " + count_text(missed.size()) + " with the most.";
  return section("Misses by size", "<p class=\"note\">" + note + "</p>\n" +
                                       table({text_cell("class"), heading("misses", ""), heading("requests", ""),
                                              heading("share", ""), heading("out at once", "blocks, most")},
                                             rows));
}

std::string growth_section(const life_report& life) {
  if (life.growing.empty()) {
    return section("Growing buffers",
                   life.steps.empty() ? "<p class=\"note\">Growth is looked for from step to step, and the trace has "
                                        "no steps.</p>\n"
                                      : "<p class=\"note\">No request grows from step to step.</p>\n");
  }
  std::vector<std::vector<cell>> rows;
  for (const trace::life_growth& one : life.growing) {
    rows.push_back({text_cell(count_text(one.ordinal)), number_cell(size_text(one.first_bytes)),
                    number_cell(size_text(one.last_bytes)), number_cell(count_text(one.steps)),
                    number_cell(count_text(one.grown))});
  }
  return section("Growing buffers",
                 "<p class=\"note\">The n-th request of a step, where it grew in at least half of the steps: " +
                     count_text(life.distinct_growing) + " of them; those that grew most.</p>\n" +
                     table({text_cell("request of a step"), heading("first", ""), heading("last", ""),
                            heading("steps", ""), heading("grew in", "steps")},
                           rows));
}

std::string thrash_section(const trace_page_content& content) {
  const counters& last = content.life.played.last;
  std::string note = last.thrash_evictions == 0
                         ? "No evicted segment was wanted again soon."
                         : count_text(last.thrash_evictions) + " evicted segments were wanted again soon.";
  if (content.life.played.cached_bytes_max_wanted != 0) {
    note += " A cached max of " + mib_text(content.life.played.cached_bytes_max_wanted) +
            " MiB would have kept what was wanted again.";
  }
  return section(
      "Evictions and thrash",
      "<p class=\"note\">" + escaped(note) + "</p>\n" +
          facts({{"evictions", count_text(last.evictions) + " segments, " + mib_text(last.evicted_bytes) + " MiB"},
                 {"wanted again soon", count_text(last.thrash_evictions)},
                 {"retries after an eviction", count_text(last.evict_retries)},
                 {"retries after a drain", count_text(last.drain_retries)},
                 {"refusals by the driver", count_text(last.driver_refusals)}}));
}

std::string verdict(const trace_page_content& content) {
  const trace::replay_result& played = content.life.played;
  if (played.refusal) {
    return "Event " + count_text(played.refusal->event) + " asked for " + size_text(played.refusal->bytes) +
           " and was refused (" + status_name(played.refusal->outcome) + "): what follows is the life up to there.";
  }
  return "Played from beginning to end: at most " + mib_text(played.last.reserved_bytes_peak) + " MiB reserved, " +
         ratio_text(played.last.reserved_bytes_peak, played.requested_bytes_peak) +
         " times the most bytes out at once, with " +
         counted(played.last.driver_allocs, "driver allocation", "driver allocations") + ".";
}

std::string head(const trace_page_content& content, const std::string& title) {
  const trace::replay_result& played = content.life.played;
  const counters& last = played.last;
  std::string out = "<header>\n<p class=\"kind\">arcalloc trace report, " + escaped(content.from.utc) + "</p>\n<h1>" +
                    escaped(title) + "</h1>\n<p class=\"verdict\">" + escaped(verdict(content)) + "</p>\n";
  if (!played.convictions.empty()) {
    out += "<p class=\"bad\">" + escaped("The simulated device convicts: " + played.convictions.front()) + "</p>\n";
  }
  out += "<dl class=\"key-figures\">\n" +
         key_figure("out at once, most", mib_text(played.requested_bytes_peak), "MiB as requested") +
         key_figure("reserved, most", mib_text(most_of(content.life, &life_bytes::reserved)), "MiB");
  if (content.trace_reserved_bytes_peak != 0) {
    out += key_figure("reserved by its own", mib_text(content.trace_reserved_bytes_peak), "MiB, as the trace says");
  }
  const double rate = last.requests == 0 ? 0 : static_cast<double>(last.hits) / static_cast<double>(last.requests);
  return out +
         key_figure("hit rate", fixed_text(rate, 5), "of its requests; " + counted(last.misses, "miss", "misses")) +
         key_figure("driver calls", count_text(last.driver_allocs + last.driver_frees), "allocations and frees") +
         "</dl>\n</header>\n";
}

}  // namespace

std::string trace_page(const trace_page_content& content) {
  const std::string name = content.file.substr(content.file.rfind('/') + 1);
  const std::string title = name + ": " + count_text(content.events) + " events";
  std::vector<std::pair<std::string, std::string>> read{{"file", content.file}, {"format", content.format}};
  read.insert(read.end(), content.facts.begin(), content.facts.end());
  read.emplace_back("played under", content.policy);
  return page_around("arcalloc: " + title,
                     head(content, title) + timeline_section(content.life) + ledger_section(content.life) +
                         histogram_section(content.life) + misses_section(content.life) + growth_section(content.life) +
                         thrash_section(content) + section("Trace", facts(read)) + provenance_section(content.from));
}

}  // namespace arcalloc::cli::page
