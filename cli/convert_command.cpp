// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "aside_file.hpp"
#include "command.hpp"
#include "flag_values.hpp"
#include "json_text.hpp"
#include "number_text.hpp"
#include "result_file.hpp"
#include "trace/formats/csv_writer.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/read_trace.hpp"
#include "trace/formats/snapshot_writer.hpp"
#include "trace/formats/trace_summary.hpp"
#include "trace_flags.hpp"

namespace arcalloc::cli {

namespace {

using trace::event_kind;
using trace::trace_format;

struct request {
  std::string in;
  std::string out;
  std::string json;
  trace_format to = trace_format::own;
  trace::read_options read;
};

/// What came of it.
struct conversion {
  trace::trace_facts facts;
  std::uint64_t events_written = 0;
  std::uint64_t left_out = 0;
  std::uint64_t bytes_written = 0;
};

/// Counts what passes on its way into the file.
class counted_sink final : public trace::byte_sink {
 public:
  explicit counted_sink(trace::byte_sink& to) : to_(to) {}
  void write(std::string_view bytes) override {
    bytes_ += bytes.size();
    to_.write(bytes);
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  trace::byte_sink& to_;
  std::uint64_t bytes_ = 0;
};

trace_format format_by_name(const std::string& path) {
  if (path.ends_with(".csv")) return trace_format::csv;
  return path.ends_with(".pickle") || path.ends_with(".pkl") ? trace_format::snapshot : trace_format::own;
}

trace::trace_facts read_into(const request& asked, trace::trace_summary& summary) {
  const auto from = trace::open_source(asked.in);
  if (asked.read.unit_bytes != 1) {
    const trace_format format = asked.read.format ? *asked.read.format : trace::format_of(*from);
    if (format != trace_format::lifetimes) {
      throw command_failure{exit_status::bad_usage, "--unit: only lifetimes have units, and " + asked.in + " is " +
                                                        trace::trace_format_name(format)};
    }
  }
  return trace::read_trace(*from, asked.read, summary);
}

template <class Writer>
std::uint64_t left_out_of(const Writer& writer) {
  if constexpr (requires { writer.left_out(); }) return writer.left_out();
  return 0;
}

template <class Writer>
conversion convert_with(const request& asked, std::unique_ptr<trace::trace_summary>& summary) {
  aside_file file("OUT", asked.out);
  counted_sink counted(file);
  Writer writer(counted);
  summary = std::make_unique<trace::trace_summary>(&writer);
  conversion done;
  done.facts = read_into(asked, *summary);
  writer.finish();
  file.commit();
  done.events_written = writer.events();
  done.left_out = left_out_of(writer);
  done.bytes_written = counted.bytes();
  return done;
}

conversion convert(const request& asked, std::unique_ptr<trace::trace_summary>& summary) {
  try {
    if (asked.to == trace_format::csv) return convert_with<trace::csv_writer>(asked, summary);
    if (asked.to == trace_format::snapshot) return convert_with<trace::snapshot_writer>(asked, summary);
    return convert_with<trace::own_writer>(asked, summary);
  } catch (const trace::trace_error& error) {
    throw command_failure{exit_status::bad_usage, error.message};
  }
}

/// What was left out or made up while reading: how many, and why.
struct remark {
  std::uint64_t trace::trace_facts::*count;
  const char* key;
  const char* text;
};

constexpr std::array remarks{
    remark{&trace::trace_facts::frees_skipped, "frees_skipped", "frees and uses of blocks never seen, skipped"},
    remark{&trace::trace_facts::frees_made_up, "frees_made_up",
           "blocks whose address was handed out again, freed then"},
    remark{&trace::trace_facts::null_skipped, "null_skipped", "requests of zero bytes and frees of nothing, skipped"},
    remark{&trace::trace_facts::elsewhere_skipped, "elsewhere_skipped",
           "events of the host or another device, skipped"},
    remark{&trace::trace_facts::unknown_skipped, "unknown_skipped", "events of an unknown action, skipped"},
    remark{&trace::trace_facts::matched_by_size, "matched_by_size", "frees without an address, matched by size"},
};

void print(const request& asked, const conversion& done, const trace::trace_summary& summary) {
  std::string counts;
  for (int i = 0; i < trace::event_kind_count; ++i) {
    const auto kind = static_cast<event_kind>(i);
    if (summary.count(kind) == 0) continue;
    counts += (counts.empty() ? ": " : ", ") + count_text(summary.count(kind)) + ' ' + trace::event_kind_name(kind);
  }
  const trace::trace_facts& facts = done.facts;
  std::printf("%s: %s, %s events%s\n", one_line(asked.in).c_str(), trace::trace_format_name(facts.format),
              count_text(summary.events()).c_str(), counts.c_str());
  if (facts.blocks_before + facts.reserved_before > 0) {
    std::printf("  before the recording: blocks %s, bytes requested %s, bytes reserved %s\n",
                count_text(facts.blocks_before).c_str(), count_text(facts.bytes_before).c_str(),
                count_text(facts.reserved_before).c_str());
  }
  for (const remark& one : remarks) {
    if (facts.*one.count > 0) std::printf("  %s: %s\n", one.text, count_text(facts.*one.count).c_str());
  }
  std::printf("  peaks: bytes requested %s, bytes reserved %s; blocks live at the end %s\n",
              count_text(summary.requested_bytes_peak()).c_str(), count_text(summary.reserved_bytes_peak()).c_str(),
              count_text(summary.blocks_at_end()).c_str());
  std::printf("%s: %s, %s events, %s bytes", one_line(asked.out).c_str(), trace::trace_format_name(asked.to),
              count_text(done.events_written).c_str(), count_text(done.bytes_written).c_str());
  if (done.left_out > 0) std::printf("; left out, since it cannot hold them: %s", count_text(done.left_out).c_str());
  std::printf("\n");
  if (facts.cut_at) {
    print_error(asked.in + ": warning: was not closed; it is readable up to byte " + std::to_string(*facts.cut_at));
  }
}

std::string json_of(const request& asked, const conversion& done, const trace::trace_summary& summary) {
  const trace::trace_facts& facts = done.facts;
  ordered_json events;
  for (int i = 0; i < trace::event_kind_count; ++i) {
    const auto kind = static_cast<event_kind>(i);
    events[trace::event_kind_name(kind)] = summary.count(kind);
  }
  ordered_json result{{"schema", "arcalloc.convert/1"},
                      {"in", asked.in},
                      {"from", trace::trace_format_name(facts.format)},
                      {"out", asked.out},
                      {"to", trace::trace_format_name(asked.to)},
                      {"events", events},
                      {"events_written", done.events_written},
                      {"events_left_out", done.left_out},
                      {"bytes_written", done.bytes_written},
                      {"blocks_before", facts.blocks_before},
                      {"bytes_before", facts.bytes_before},
                      {"bytes_lumped", facts.bytes_lumped},
                      {"reserved_before", facts.reserved_before}};
  for (const remark& one : remarks) result[one.key] = facts.*one.count;
  result["blocks_at_end"] = summary.blocks_at_end();
  result["requested_bytes_peak"] = summary.requested_bytes_peak();
  result["reserved_bytes_peak"] = summary.reserved_bytes_peak();
  result["cut_at"] = json_or_null(facts.cut_at);
  return json_file(result);
}

/// The words of the command line, looked at; nothing where only the help was wanted.
std::optional<request> request_of(const std::vector<std::string>& words) {
  CLI::App line(
      "Reads a trace of an allocator in any format and writes it in another. What a file is its\n"
      "content says, packed with gzip or not; docs/trace_format.md has the formats.\n",
      "arcalloc convert");
  set_layout(line);
  request asked;
  std::string to, from, unit, device;
  line.add_option("IN", asked.in, "a trace");
  line.add_option("OUT", asked.out, "what to write; whole or not at all");
  line.add_option(
          "--to", to,
          "own, csv or snapshot; else by OUT's ending: .csv is csv, .pickle and .pkl\nare a snapshot, all others own")
      ->option_text("FORMAT");
  line.add_option("--from", from, "own, csv, snapshot, rmm, profiler or lifetimes; else what the content says")
      ->option_text("FORMAT");
  line.add_option("--unit", unit, "what one unit of size is, in lifetimes; 1 unless given")->option_text("BYTES");
  line.add_option("--device", device, "only the events of this device")->option_text("N");
  line.add_flag("--from-empty", asked.read.from_empty,
                "skip what was there before the recording, and count it, instead of\nputting it in front");
  line.add_option("--json", asked.json, "write the counts as JSON, schema arcalloc.convert/1")->option_text("FILE");
  if (parse_or_help(line, words)) return std::nullopt;

  const auto refuse = [](const char* what) { throw command_failure{exit_status::bad_usage, what}; };
  if (asked.in.empty()) refuse("no trace given; see arcalloc convert --help");
  if (asked.out.empty()) refuse("no name for what to write given; see arcalloc convert --help");
  if (line.count("--json") > 0 && asked.json.empty()) refuse("--json: the name is empty");
  asked.to = line.count("--to") > 0 ? require_trace_format("--to", to, 3) : format_by_name(asked.out);
  if (line.count("--from") > 0) {
    asked.read.format = require_trace_format("--from", from, trace::trace_format_count);
  }
  if (line.count("--unit") > 0) asked.read.unit_bytes = require_unit(unit);
  if (line.count("--device") > 0) {
    asked.read.device = static_cast<std::uint32_t>(require_count("--device", device, 0, UINT32_MAX));
  }
  return asked;
}

}  // namespace

exit_status run_convert(const std::vector<std::string>& words) {
  const auto asked = request_of(words);
  if (!asked) return exit_status::done;
  if (!asked->json.empty()) require_writable("--json", asked->json);
  std::unique_ptr<trace::trace_summary> summary;
  const conversion done = convert(*asked, summary);
  print(*asked, done, *summary);
  if (!asked->json.empty()) write_result_file("--json", asked->json, json_of(*asked, done, *summary));
  return exit_status::done;
}

}  // namespace arcalloc::cli
