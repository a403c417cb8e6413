// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/sim_backend.hpp>
#include <cstdio>

#include "command.hpp"
#include "flag_values.hpp"
#include "legs.hpp"
#include "number_text.hpp"
#include "page/page.hpp"
#include "page/trace_page.hpp"
#include "report_json.hpp"
#include "result_file.hpp"
#include "result_reading.hpp"
#include "settings_view.hpp"
#include "trace/formats/read_trace.hpp"
#include "trace/formats/trace_summary.hpp"
#include "trace/replay/life_report.hpp"
#include "trace_flags.hpp"

namespace arcalloc::cli {

namespace {

struct report_request {
  std::string file;
  std::string out;
  std::string json;
  leg_bounds bounds;
  std::uint64_t capacity_bytes = 0;
  std::optional<geometry> classes;
  std::uint64_t device_bytes = sim_bytes_default;
  std::uint64_t granule_bytes = granule_bytes_default;
  trace::read_options read;
};

options settings_of(const report_request& asked, const options& from_environment) {
  options settings = leg_options(leg::bounded, asked.bounds, from_environment);
  settings.stats_every_steps = 0;
  settings.profile_path = nullptr;
  settings.trace_path = nullptr;
  if (asked.capacity_bytes != 0) settings.capacity_bytes = asked.capacity_bytes;
  if (asked.classes) settings.classes = *asked.classes;
  return settings;
}

std::vector<std::pair<std::string, std::string>> facts_of(const trace::trace_summary& summary,
                                                          const trace::trace_facts& found) {
  std::string kinds;
  for (int i = 0; i < trace::event_kind_count; ++i) {
    const auto kind = static_cast<trace::event_kind>(i);
    if (summary.count(kind) == 0) continue;
    kinds += (kinds.empty() ? "" : ", ") + count_text(summary.count(kind)) + ' ' + trace::event_kind_name(kind);
  }
  std::vector<std::pair<std::string, std::string>> facts{{"events", kinds}};
  const auto add = [&](const char* name, std::uint64_t count) {
    if (count != 0) facts.emplace_back(name, count_text(count));
  };
  add("blocks there before", found.blocks_before);
  add("frees of blocks never seen, skipped", found.frees_skipped);
  add("frees made up", found.frees_made_up);
  add("events of other devices, skipped", found.elsewhere_skipped);
  add("frees matched by size", found.matched_by_size);
  if (found.cut_at) facts.emplace_back("not closed", "readable up to byte " + count_text(*found.cut_at));
  return facts;
}

std::string policy_text(const report_request& asked, const options& settings) {
  std::string bound = "cached max derived";
  if (settings.cached_bytes_max.mode == bound_mode::unbounded) bound = "unbounded";
  if (settings.cached_bytes_max.mode == bound_mode::explicit_bytes) {
    bound = "cached max " + mib_text(settings.cached_bytes_max.bytes) + " MiB";
  }
  return std::string("bounded: geometry ") + geometry_name(settings.classes) + ", " + bound + ", " +
         (settings.capacity_bytes == 0 ? "no capacity" : "capacity " + mib_text(settings.capacity_bytes) + " MiB") +
         "; a simulated device of " + mib_text(asked.device_bytes) + " MiB that lends " +
         count_text(asked.granule_bytes) + " bytes at least";
}

page::trace_page_content play(const report_request& asked, const options& settings) {
  sim_options described;
  described.memory_bytes = asked.device_bytes;
  described.granularity = asked.granule_bytes;
  sim_backend device(described);
  trace::trace_replay replay(asked.file, device, &device, settings);
  trace::life_watch watch(replay, device);
  trace::trace_summary summary(&watch);
  const trace::trace_facts found = trace::read_trace(asked.file, asked.read, summary);
  page::trace_page_content content;
  content.file = asked.file;
  content.format = trace::trace_format_name(found.format);
  content.events = summary.events();
  content.trace_reserved_bytes_peak = summary.reserved_bytes_peak();
  content.facts = facts_of(summary, found);
  content.policy = policy_text(asked, settings);
  content.device_bytes = asked.device_bytes;
  content.life = watch.finish();
  return content;
}

void print(const report_request& asked, const page::trace_page_content& content, std::size_t page_bytes) {
  const trace::replay_result& played = content.life.played;
  std::printf("%s: %s, %s events, at most %s MiB out at once, %s MiB reserved\n", one_line(asked.file).c_str(),
              content.format.c_str(), count_text(content.events).c_str(), mib_text(played.requested_bytes_peak).c_str(),
              mib_text(played.last.reserved_bytes_peak).c_str());
  std::printf("%s: %s bytes\n", one_line(asked.out).c_str(), count_text(page_bytes).c_str());
}

exit_status verdict_of(const trace::replay_result& played) {
  if (!played.convictions.empty()) return exit_status::expectation_failed;
  return played.refusal ? exit_status::out_of_memory : exit_status::done;
}

/// The flags of a trace, as they were written.
struct report_flags {
  std::string cap, capacity, classes, device, granule;
  reading_flags reading;
};

void add_report_flags(CLI::App& line, report_flags& flags, report_request& asked) {
  line.add_option("FILE", asked.file, "a trace (docs/trace_format.md), or JSON of arcalloc decode");
  line.add_option("OUT", asked.out, "the page (default: FILE with .html behind it)");
  const auto add = [&line](const char* name, std::string& value, const char* form, const char* help) {
    line.add_option(name, value, help)->option_text(form);
  };
  add("--cap", flags.cap, "MB", "cached max in MiB (default: the environment's, else derived)");
  add("--capacity", flags.capacity, "MB", "bound on reserved bytes in MiB (default: none)");
  add("--geometry", flags.classes, "P", "size classes per doubling, 1, 2, 4, 8 or 16, or exact");
  add("--device", flags.device, "DEVICE", "sim or sim:SIZE (default sim:80GiB)");
  add("--granularity", flags.granule, "SIZE",
      "what the device lends at least, a power of two from 512 bytes to\n2MiB (default 2MiB)");
  add_reading_flags(line, flags.reading, asked.read);
  add("--json", asked.json, "FILE", "write what the page shows as JSON, schema arcalloc.report/1");
}

void read_report_flags(const CLI::App& line, const report_flags& flags, report_request& asked) {
  constexpr std::uint64_t bound_mb_most = std::uint64_t{1} << 30;
  const auto given = [&line](const char* name) { return line.count(name) > 0; };
  if (given("--cap")) asked.bounds.cap_mb = require_count("--cap", flags.cap, 0, bound_mb_most);
  if (given("--capacity")) asked.capacity_bytes = require_count("--capacity", flags.capacity, 1, bound_mb_most) << 20;
  if (given("--geometry")) asked.classes = require_geometry(flags.classes);
  if (given("--device")) asked.device_bytes = require_sim_bytes(flags.device);
  if (given("--granularity")) asked.granule_bytes = require_sim_granule(flags.granule);
  read_reading_flags(line, flags.reading, asked.read);
}

void require_outputs(const report_request& asked) {
  require_writable("OUT", asked.out);
  if (!asked.json.empty()) require_writable("--json", asked.json);
}

exit_status report_trace(const report_request& asked, const std::vector<std::string>& words) {
  const settings_view environment = read_settings();
  require_settings(environment);
  require_outputs(asked);
  const options settings = settings_of(asked, environment.from_environment);
  page::trace_page_content content;
  try {
    content = play(asked, settings);
  } catch (const trace::trace_error& error) {
    throw command_failure{exit_status::bad_usage, error.message};
  }
  content.from = this_provenance("sim", words);
  content.from.driver = "simulated";
  content.from.free_bytes_at_start = asked.device_bytes;
  content.from.settings = environment.rows;
  const std::string text = page::trace_page(content);
  write_result_file("OUT", asked.out, text);
  if (!asked.json.empty()) write_result_file("--json", asked.json, report_json(content, asked.out));
  print(asked, content, text.size());
  return verdict_of(content.life.played);
}

exit_status report_result(const report_request& asked, const std::string& schema,
                          const std::vector<std::string>& words) {
  if (schema != "arcalloc.decode/1") {
    throw command_failure{exit_status::bad_usage,
                          asked.file + ": holds " + schema + "; pages are made of traces and of arcalloc.decode/1"};
  }
  require_outputs(asked);
  const decode_result result = read_decode_result(asked.file);
  const std::string text = page::decode_page(result);
  write_result_file("OUT", asked.out, text);
  if (!asked.json.empty()) {
    // Nothing is run: the device and the settings are those of the result.
    const provenance from = this_provenance("none", words);
    write_result_file("--json", asked.json, report_json_of_result(asked.file, asked.out, from));
  }
  std::printf("%s: result of arcalloc decode, %s legs\n%s: %s bytes\n", one_line(asked.file).c_str(),
              count_text(result.legs.size()).c_str(), one_line(asked.out).c_str(), count_text(text.size()).c_str());
  return exit_status::done;
}

}  // namespace

exit_status run_report(const std::vector<std::string>& words) {
  CLI::App line(
      "Plays a trace, in any format that convert reads, to arcalloc on a simulated device, and writes\n"
      "one self-contained HTML page: the memory over the events against both bounds, steps, requests\n"
      "and misses by size, growing buffers, evictions and thrash, and what it was made with.\n"
      "Of a result that arcalloc decode wrote as JSON it writes the page that decode would have.\n",
      "arcalloc report");
  set_layout(line);
  report_request asked;
  report_flags flags;
  add_report_flags(line, flags, asked);
  if (parse_or_help(line, words)) return exit_status::done;

  if (line.count("FILE") == 0) {
    throw command_failure{exit_status::bad_usage, "no trace or result given; see arcalloc report --help"};
  }
  if (line.count("OUT") == 0) asked.out = asked.file + ".html";
  if (asked.out.empty()) throw command_failure{exit_status::bad_usage, "OUT: the name is empty"};
  if (asked.out == asked.file) throw command_failure{exit_status::bad_usage, "OUT: is the file that is read"};
  if (line.count("--json") > 0 && asked.json.empty()) {
    throw command_failure{exit_status::bad_usage, "--json: the name is empty"};
  }
  const auto schema = line.count("--from") == 0 ? schema_of(asked.file) : std::nullopt;
  if (!schema) {
    read_report_flags(line, flags, asked);
    return report_trace(asked, words);
  }
  for (const CLI::Option* one : line.get_options()) {
    if (one->count() > 0 && one->get_name().starts_with("--") && one->get_name() != "--json") {
      throw command_failure{exit_status::bad_usage,
                            one->get_name() + ": is about traces, and " + asked.file + " is a result"};
    }
  }
  return report_result(asked, *schema, words);
}

}  // namespace arcalloc::cli
