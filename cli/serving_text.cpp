// SPDX-License-Identifier: Apache-2.0
#include "serving_text.hpp"

#include "number_text.hpp"
#include "text_table.hpp"

namespace arcalloc::cli {

namespace {

std::string ms_cell(std::uint64_t ns) { return fixed_text(static_cast<double>(ns) / 1e6, 3); }

std::string mib_cell(std::uint64_t bytes) { return count_text(bytes >> 20); }

std::vector<std::string> cells_of(const decode::serving_window& window) {
  return {fixed_text(window.end_s, 0),           count_text(window.steps),
          count_text(window.requests_done),      count_text(window.tokens),
          count_text(window.sequences_most),     count_text(window.waiting_most),
          mib_cell(window.requested_bytes_most), mib_cell(window.allocated_bytes_most),
          mib_cell(window.reserved_bytes_most),  mib_cell(window.held_bytes_most),
          mib_cell(window.held_bytes_least),     count_text(window.driver_allocs),
          count_text(window.driver_frees),       ms_cell(window.step_ns_worst),
          ms_cell(window.step_ns_p99),           ms_cell(window.pause_ns_worst),
          ms_cell(window.pause_ns_p99)};
}

}  // namespace

std::string serving_table(const leg_result& leg) {
  if (!leg.run().report || !leg.run().report->outcome.load) return {};
  const auto& served = leg.run().report->outcome.load->serving;
  if (!served) return {};
  text_table table;
  struct heading {
    const char* text;
    const char* unit;
  };
  constexpr heading headings[] = {
      {"until", "s"},         {"steps", ""},         {"requests", "done"}, {"tokens", ""},       {"sequences", "most"},
      {"waiting", "most"},    {"requested", "MiB"},  {"allocated", "MiB"}, {"reserved", "MiB"},  {"held", "MiB"},
      {"held, least", "MiB"}, {"driver allocs", ""}, {"driver frees", ""}, {"worst step", "ms"}, {"p99 step", "ms"},
      {"worst pause", "ms"},  {"p99 pause", "ms"},
  };
  for (const heading& each : headings) table.add_column(each.text, each.unit, true);
  for (const decode::serving_window& each : served->windows) table.add_row(cells_of(each));
  std::string out = std::string("served by ").append(leg_name(leg.which)) + ": " + count_text(served->done) + " of " +
                    count_text(served->requests) + " requests";
  if (served->skipped > 0) out += ", " + count_text(served->skipped) + " skipped as too long";
  out += ", in " + fixed_text(served->seconds, 1) + " s, of which " + fixed_text(served->waited_s, 1) + " s idle\n";
  return out + table.text() + '\n';
}

}  // namespace arcalloc::cli
