// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/read_trace.hpp"

#include "trace/formats/csv_columns.hpp"
#include "trace/formats/own_format.hpp"
#include "trace/formats/readers.hpp"

namespace arcalloc::trace {

trace_format format_of(byte_source& from) {
  std::string_view begin = from.ahead_of(256);
  if (begin.starts_with(own::magic)) return trace_format::own;
  // A pickle of protocol 2 or later says so in its first byte, whatever its name ends in.
  if (begin.starts_with('\x80')) return trace_format::snapshot;
  if (begin.starts_with("\xef\xbb\xbf")) begin.remove_prefix(3);
  if (begin.starts_with(csv_columns)) return trace_format::csv;
  if (begin.starts_with(lifetimes_columns)) return trace_format::lifetimes;
  if (begin.starts_with(rmm_columns)) return trace_format::rmm;
  const std::size_t text = begin.find_first_not_of(" \t\r\n");
  if (text != std::string_view::npos && (begin[text] == '{' || begin[text] == '[')) return trace_format::profiler;
  if (begin.empty()) from.refuse("expected a trace, found an empty file");
  from.refuse("expected a trace: its own format, a pickle, JSON, or a first line \"" + std::string(csv_columns) +
              "\", \"" + std::string(lifetimes_columns) + "\" or \"" + std::string(rmm_columns) + '"');
}

trace_facts read_trace(byte_source& from, const read_options& options, trace_sink& sink) {
  trace_facts facts;
  from.rewind();
  facts.format = options.format ? *options.format : format_of(from);
  from.rewind();
  event_ledger ledger(options, sink, facts);
  switch (facts.format) {
    case trace_format::own:
      read_own(from, options, ledger, facts);
      break;
    case trace_format::csv:
      read_csv(from, options, ledger, facts);
      break;
    case trace_format::snapshot:
      read_snapshot(from, options, ledger, facts);
      break;
    case trace_format::rmm:
      read_rmm(from, options, ledger, facts);
      break;
    case trace_format::profiler:
      read_profiler(from, options, ledger, facts);
      break;
    case trace_format::lifetimes:
      read_lifetimes(from, options, ledger, facts);
      break;
  }
  return facts;
}

trace_facts read_trace(const std::string& path, const read_options& options, trace_sink& sink) {
  const auto from = open_source(path);
  return read_trace(*from, options, sink);
}

}  // namespace arcalloc::trace
