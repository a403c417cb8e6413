// SPDX-License-Identifier: Apache-2.0
// CSV, a row an event: `t_us,op,id,size,stream`, op `a` or `f`. An empty time is a time that is not known. On `f` the
// size and the stream may be empty: the stream is the block's own then, and a block that was never allocated is
// skipped.
#include "trace/formats/csv_columns.hpp"
#include "trace/formats/readers.hpp"
#include "trace/formats/text_rows.hpp"

namespace arcalloc::trace {

namespace {

enum column : std::size_t { time_column, op_column, id_column, size_column, stream_column };

void add_row(const text_rows& rows, event_ledger& ledger) {
  event what;
  if (!rows.field(time_column).empty()) {
    what.time_ns = rows.number(time_column, "a time in whole microseconds, or nothing", time_us_max) * ns_per_us;
  }
  what.id = rows.number(id_column, "an id: a whole number");
  if (rows.field(op_column) == "a") {
    what.bytes = rows.number(size_column, "a size in bytes: a whole number");
    what.stream = rows.number(stream_column, "a stream: a whole number");
    if (!ledger.add(what)) rows.refuse("allocates " + std::to_string(what.id) + ", which is live");
    return;
  }
  if (rows.field(op_column) != "f") rows.refuse_field(op_column, "a or f");
  what.kind = event_kind::free;
  const live_block* const block = ledger.find(what.device, what.id);
  if (!rows.field(size_column).empty()) {
    what.bytes = rows.number(size_column, "a size in bytes, or nothing");
    if (block != nullptr && block->bytes != what.bytes) {
      rows.refuse("frees " + std::to_string(what.id) + " with " + std::to_string(what.bytes) + " bytes, which has " +
                  std::to_string(block->bytes));
    }
  }
  if (!rows.field(stream_column).empty()) {
    what.stream = rows.number(stream_column, "a stream, or nothing");
  } else if (block != nullptr) {
    what.stream = block->stream;
  }
  static_cast<void>(ledger.add(what));
}

}  // namespace

void read_csv(byte_source& from, const read_options& /*options*/, event_ledger& ledger, trace_facts& /*facts*/) {
  survey_and_deliver(from, ledger, [&] {
    text_rows rows(from, csv_columns);
    while (rows.next()) add_row(rows, ledger);
  });
}

}  // namespace arcalloc::trace
