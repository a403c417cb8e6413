// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "command.hpp"
#include "flag_values.hpp"
#include "json_text.hpp"
#include "number_text.hpp"
#include "result_file.hpp"
#include "text_table.hpp"
#include "trace/formats/byte_sink.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/read_trace.hpp"
#include "trace/formats/trace_summary.hpp"
#include "trace/tune/tune.hpp"
#include "trace_flags.hpp"

namespace arcalloc::cli {

namespace {

struct tune_request {
  std::string file;
  std::string json;
  std::string caps;
  std::string geometries = "1,2,4,8,16,exact";
  std::string device;
  std::string granule;
  std::string threads;
  reading_flags reading;
  trace::read_options read;
};

/// The parts of a list with commas between them.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    parts.push_back(list.substr(start, comma - start));
    start = comma + 1;
  }
  return parts;
}

std::string cap_text_of(const trace::tune_point& one) {
  return one.cap_mb ? count_text(*one.cap_mb) : std::string("unbounded");
}

std::string ratio_of(std::uint64_t bytes, std::uint64_t of) {
  return of == 0 ? "-" : fixed_text(static_cast<double>(bytes) / static_cast<double>(of), 3);
}

std::string settings_text(const trace::tune_point& one) {
  std::string text = std::string("ARC_ALLOC_CACHE_GEOMETRY=") + geometry_name(one.classes);
  if (one.cap_mb) text += " ARC_ALLOC_CACHE_MAX_MB=" + std::to_string(*one.cap_mb);
  return text;
}

/// One sentence, with what to paste.
std::string recommendation(const trace::tune_answer& answer) {
  if (answer.requested_bytes_peak == 0) return "The trace asks for no memory: any settings will do.";
  if (!answer.chosen) {
    return "No cap of the sweep comes within a tenth of the least misses: give more of them with --caps.";
  }
  const trace::tune_point& one = answer.points[*answer.chosen];
  std::string text = settings_text(one) + " reserves at most " + mib_text(one.reserved_bytes_peak) + " MiB, " +
                     ratio_of(one.reserved_bytes_peak, answer.requested_bytes_peak) +
                     " times what was out at once, misses " +
                     (one.misses == 1 ? std::string("once") : count_text(one.misses) + " times") + ", " +
                     fixed_text(one.gap(), 3) + " times the least";
  if (answer.smallest_capacity_bytes) {
    const std::uint64_t mb = *answer.smallest_capacity_bytes >> 20;
    text += ", and completes with ARC_ALLOC_CAPACITY_MB=" + std::to_string(mb) + ", " +
            ratio_of(*answer.smallest_capacity_bytes, answer.requested_bytes_peak) + " times it";
  }
  return text + ".";
}

void print(const tune_request& asked, const trace::trace_facts& facts, const trace::trace_summary& summary,
           const trace::tune_answer& answer) {
  std::printf("%s: %s, %s events, at most %s MiB out at once, at most %s MiB idle without a cap\n\n",
              one_line(asked.file).c_str(), trace::trace_format_name(facts.format),
              count_text(summary.events()).c_str(), mib_text(answer.requested_bytes_peak).c_str(),
              mib_text(answer.cached_bytes_peak).c_str());
  text_table table;
  table.add_column("geometry", "", false);
  table.add_column("cap", "MiB", true);
  table.add_column("reserved", "MiB", true);
  table.add_column("over peak", "", true);
  table.add_column("misses", "", true);
  table.add_column("least", "", true);
  table.add_column("gap", "", true);
  table.add_column("driver calls", "", true);
  table.add_column("evictions", "", true);
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    const trace::tune_point& one = answer.points[i];
    const std::string mark = answer.chosen == i ? " *" : one.completed ? "" : " refused";
    table.add_row({geometry_name(one.classes) + mark, cap_text_of(one), mib_text(one.reserved_bytes_peak),
                   ratio_of(one.reserved_bytes_peak, answer.requested_bytes_peak), count_text(one.misses),
                   count_text(one.misses_least) + (one.least_is_exact ? "" : "+"), fixed_text(one.gap(), 3),
                   count_text(one.driver_calls), count_text(one.evictions)});
  }
  std::printf("%s\n", table.text().c_str());
  std::printf(
      "least: misses that no choice of evictions could avoid, with the future known; + where it may be more\n%s\n",
      recommendation(answer).c_str());
}

ordered_json json_of(const trace::tune_point& one) {
  return {{"geometry", geometry_name(one.classes)},
          {"cached_bytes_max", one.cap_mb ? ordered_json(*one.cap_mb << 20) : ordered_json(nullptr)},
          {"outcome", one.completed ? "completed" : "refused"},
          {"reserved_bytes_peak", one.reserved_bytes_peak},
          {"misses", one.misses},
          {"misses_least", one.misses_least},
          {"least_is_exact", one.least_is_exact},
          {"driver_calls", one.driver_calls},
          {"evictions", one.evictions}};
}

std::string json_of(const tune_request& asked, const trace::tune_question& question,
                    const trace::trace_summary& summary, const trace::trace_facts& facts,
                    const trace::tune_answer& answer, const std::vector<std::string>& words) {
  provenance from = this_provenance("sim", words);
  from.driver = "simulated";
  from.free_bytes_at_start = question.device_bytes;
  ordered_json points = ordered_json::array();
  for (const trace::tune_point& one : answer.points) points.push_back(json_of(one));
  ordered_json chosen = nullptr;
  if (answer.chosen) chosen = json_of(answer.points[*answer.chosen]);
  return json_file({{"schema", "arcalloc.tune/1"},
                    {"provenance", provenance_json(from)},
                    {"file", asked.file},
                    {"format", trace::trace_format_name(facts.format)},
                    {"events", summary.events()},
                    {"requested_bytes_peak", answer.requested_bytes_peak},
                    {"cached_bytes_peak", answer.cached_bytes_peak},
                    {"device_bytes", question.device_bytes},
                    {"granule_bytes", question.granule_bytes},
                    {"points", points},
                    {"chosen", chosen},
                    {"smallest_capacity_bytes", json_or_null(answer.smallest_capacity_bytes)},
                    {"recommendation", recommendation(answer)}});
}

/// How far the sweep is, on a terminal and only there.
void show_progress(std::size_t done, std::size_t of) {
  if (::isatty(STDERR_FILENO) != 1) return;
  std::fprintf(stderr, done == of ? "\r\033[K" : "\r\033[K%zu of %zu runs", done, of);
  std::fflush(stderr);
}

void add_tune_flags(CLI::App& line, tune_request& asked) {
  const auto add = [&line](const char* name, std::string& value, const char* form, const char* help) {
    line.add_option(name, value, help)->option_text(form);
  };
  line.add_option("FILE", asked.file, "a trace (docs/trace_format.md)");
  add("--caps", asked.caps, "LIST",
      "cached maxima in MiB, ascending, with commas between them (default: doubling,\nup to what is ever idle)");
  add("--geometries", asked.geometries, "LIST", "which of 1,2,4,8,16,exact (default: all)");
  add("--device", asked.device, "DEVICE", "sim or sim:SIZE (default sim:80GiB)");
  add("--granularity", asked.granule, "SIZE",
      "what the device lends at least, a power of two from 512 bytes to\n2MiB (default 2MiB)");
  add("--threads", asked.threads, "N", "runs at once (default: as many as the machine has cores)");
  add_reading_flags(line, asked.reading, asked.read);
  add("--json", asked.json, "FILE", "write the result as JSON, schema arcalloc.tune/1");
}

trace::tune_question question_of(const CLI::App& line, tune_request& asked) {
  constexpr std::uint64_t mb_most = std::uint64_t{1} << 20;
  constexpr std::uint64_t threads_most = 256;
  const auto given = [&line](const char* name) { return line.count(name) > 0; };
  if (!given("FILE")) throw command_failure{exit_status::bad_usage, "no trace given; see arcalloc tune --help"};
  if (given("--json") && asked.json.empty()) {
    throw command_failure{exit_status::bad_usage, "--json: the name is empty"};
  }
  trace::tune_question question;
  question.file = asked.file;
  for (const std::string& part : given("--caps") ? parts_of(asked.caps) : std::vector<std::string>{}) {
    const std::uint64_t mb = require_count("--caps", part, 1, mb_most);
    if (!question.caps_mb.empty() && mb <= question.caps_mb.back()) {
      throw command_failure{exit_status::bad_usage, "--caps: \"" + asked.caps + "\" does not ascend"};
    }
    question.caps_mb.push_back(mb);
  }
  for (const std::string& part : parts_of(asked.geometries)) {
    const auto& known = question.geometries;
    const geometry one = require_geometry(part);
    if (std::find(known.begin(), known.end(), one) != known.end()) {
      throw command_failure{exit_status::bad_usage, "--geometries: \"" + part + "\" is named twice"};
    }
    question.geometries.push_back(one);
  }
  question.device_bytes = given("--device") ? require_sim_bytes(asked.device) : sim_bytes_default;
  question.granule_bytes = given("--granularity") ? require_sim_granule(asked.granule) : granule_bytes_default;
  question.threads = given("--threads")
                         ? static_cast<unsigned>(require_count("--threads", asked.threads, 1, threads_most))
                         : std::max(std::thread::hardware_concurrency(), 1U);
  question.progress = show_progress;
  read_reading_flags(line, asked.reading, asked.read);
  return question;
}

}  // namespace

exit_status run_tune(const std::vector<std::string>& words) {
  CLI::App line(
      "Plays a trace, in any format that convert reads, under many settings at once: each geometry with\n"
      "each cap. Says beside the misses of each how few they could have been with the future known, the\n"
      "settings to take, and the smallest capacity in which the trace completes under them.\n",
      "arcalloc tune");
  set_layout(line);
  tune_request asked;
  add_tune_flags(line, asked);
  if (parse_or_help(line, words)) return exit_status::done;
  trace::tune_question question = question_of(line, asked);
  if (!asked.json.empty()) require_writable("--json", asked.json);
  trace::trace_facts facts;
  std::unique_ptr<trace::trace_summary> summary;
  trace::tune_answer answer;
  try {
    trace::string_sink kept;  // read from the file once, and from here for every run
    trace::own_writer writer(kept);
    summary = std::make_unique<trace::trace_summary>(&writer);
    facts = trace::read_trace(asked.file, asked.read, *summary);
    writer.finish();
    question.trace = kept.bytes();
    answer = trace::tune(question);
  } catch (const trace::trace_error& error) {
    throw command_failure{exit_status::bad_usage, error.message};
  }
  print(asked, facts, *summary, answer);
  if (!asked.json.empty()) {
    write_result_file("--json", asked.json, json_of(asked, question, *summary, facts, answer, words));
  }
  return exit_status::done;
}

}  // namespace arcalloc::cli
