// SPDX-License-Identifier: Apache-2.0
#include "decode_table.hpp"

#include "capture_text.hpp"
#include "decode/load.hpp"
#include "decode_columns.hpp"
#include "number_text.hpp"
#include "serving_text.hpp"
#include "text_table.hpp"

namespace arcalloc::cli {

namespace {

constexpr std::size_t shown_ids_bytes = 200;

std::string table_of(const std::vector<leg_column>& columns, const std::vector<leg_result>& legs) {
  text_table table;
  for (const leg_column& column : columns) table.add_column(column.heading, column.unit, column.is_number);
  for (const leg_result& leg : legs) {
    std::vector<std::string> cells;
    for (const leg_column& column : columns) cells.push_back(column.cell(leg));
    table.add_row(std::move(cells));
  }
  return table.text();
}

std::string decile_table(const std::vector<leg_result>& legs) {
  text_table table;
  table.add_column("leg", "", false);
  for (std::size_t i = 0; i < decile_count; ++i) table.add_column(std::to_string(i * 10) + "%", "", true);
  for (const leg_result& leg : legs) {
    std::vector<std::string> cells{leg_name(leg.which)};
    for (const auto& bytes : leg.figures().memory_deciles_bytes) cells.push_back(bytes ? growth_text(*bytes) : "-");
    table.add_row(std::move(cells));
  }
  return table.text();
}

std::string rounds_table(const decode_result& result) {
  text_table table;
  table.add_column("leg", "", false);
  table.add_column("median", "", true);
  table.add_column("least", "", true);
  table.add_column("most", "", true);
  for (std::uint64_t i = 0; i < result.request.rounds; ++i) table.add_column(round_heading(i), "", true);
  for (const leg_result& leg : result.legs) {
    std::vector<std::string> cells{leg_name(leg.which)};
    const auto& times = leg.ms_per_token;
    cells.push_back(times ? fixed_text(times->median, 3) : "-");
    cells.push_back(times ? fixed_text(times->least, 3) : "-");
    cells.push_back(times ? fixed_text(times->most, 3) : "-");
    for (const leg_figures& round : leg.rounds) cells.push_back(fixed_text(round.ms_per_token, 3));
    table.add_row(std::move(cells));
  }
  return table.text();
}

/// A model's text is what was asked for, to the letter. Token numbers of a model without a tokenizer
/// say little: their beginning will do, and the JSON has the rest.
std::string shown_text(const decode_result& result) {
  if (decode::find_load(result.request.session.config_name) != nullptr) return "(nothing was computed)";
  std::string text = produced_text(result);
  if (!result.request.session.model_path.empty() || text.size() <= shown_ids_bytes) return text;
  const std::size_t end = text.rfind(' ', shown_ids_bytes);
  text.resize(end == std::string::npos ? shown_ids_bytes : end);
  return text + " ...";
}

std::string ms_text(std::uint64_t ns) { return fixed_text(static_cast<double>(ns) / 1e6, 3) + " ms"; }

/// What a load on simulated cards says of itself, in a line; nothing for others.
std::string load_line(const leg_result& leg) {
  if (!leg.run().report || !leg.run().report->outcome.load) return {};
  const decode::load_report& load = *leg.run().report->outcome.load;
  std::string line =
      std::string("load of ").append(leg_name(leg.which)) + ": worst step " + ms_text(load.step_ns_worst);
  line += ", driver calls in a step at most " + ms_text(load.driver_ns_step_worst) + ", p99 " +
          ms_text(load.driver_ns_step_p99);
  if (load.weight_bytes > 0) {
    line += "; weights " + mib_text(load.weight_bytes) + " MiB";
    const auto& end = leg.figures().at_end;
    if (end && end->requested_bytes_peak > load.weight_bytes) {
      const double over = static_cast<double>(end->reserved_bytes_peak - load.weight_bytes) /
                          static_cast<double>(end->requested_bytes_peak - load.weight_bytes);
      line += ", reserved / requested without them " + fixed_text(over, 3);
    }
  }
  if (load.ranks > 1) {
    line += "; " + count_text(load.ranks) + " ranks, the slowest is rank " + std::to_string(load.slowest_rank);
  }
  return line + '\n';
}

}  // namespace

std::string decode_table(const decode_result& result) {
  std::string out = "text\n" + shown_text(result) + "\n\n";
  out += table_of(result_columns(), result.legs) + '\n';
  out += "requests and driver calls\n" + table_of(step_columns(), result.legs) + '\n';
  out += "peaks\n" + table_of(peak_columns(), result.legs) + '\n';
  if (has_captures(result)) out += "capture and replay\n" + table_of(capture_columns(), result.legs) + '\n';
  out += "memory above the start, by tenths of the tokens, MiB\n" + decile_table(result.legs) + '\n';
  for (const leg_result& leg : result.legs) out += serving_table(leg);
  if (result.request.rounds > 1) out += "ms per token, by rounds\n" + rounds_table(result) + '\n';
  out += "bound cost: " + bound_cost_text(result) + '\n';
  out += "gain kept: " + gain_kept_text(result) + '\n';
  out += "tokens: " + tokens_text(result) + '\n';
  out += "accounting: " + accounting_text(result) + '\n';
  for (const std::string& note : capture_notes(result)) out += note + '\n';
  for (const leg_result& leg : result.legs) {
    if (!leg.run().report || !leg.memory.enabled) continue;
    out += std::string("cap of ") + leg_name(leg.which) + ": " + cap_text(leg.run().report->cap) + '\n';
  }
  for (const leg_result& leg : result.legs) out += load_line(leg);
  if (result.request.sim) out += "device: " + result.from.driver + '\n';
  out += "provenance: " + provenance_line(result.from) + '\n';
  return out;
}

}  // namespace arcalloc::cli
