// SPDX-License-Identifier: Apache-2.0
// PyTorch's memory snapshots. A free is where PyTorch was asked for it; that it was completed later says that other
// streams used the block, and does not concern its caller. The devices' events follow each other, since the file
// has a list per device. What is live at the end stands in the segments. The file is gone through once: the survey is
// on the way, and the events are put aside in the own format until it is over, so that nothing is told of a file that
// is refused.
#include <vector>

#include "trace/formats/csv_columns.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/readers.hpp"
#include "trace/formats/snapshot_parser.hpp"
#include "trace/formats/spool.hpp"

namespace arcalloc::trace {

namespace {

class snapshot_pass final : public snapshot_visitor {
 public:
  snapshot_pass(event_ledger& ledger, trace_facts& facts) : ledger_(ledger), facts_(facts) {}

  void parse(byte_source& from);
  void deliver();

  void on_entry(const snapshot_record& entry, const pickle_code& code) override;
  void on_segment(const snapshot_record& segment, const std::vector<snapshot_record>& blocks,
                  const pickle_code& code) override;

 private:
  [[nodiscard]] static event event_of(const snapshot_record& entry, const pickle_code& code);
  /// One event as the file has it, to the ledger.
  void tell(const event& what);
  void note(const event& what) {
    if (ledger_.is_surveying()) tell(what);
    events_.take(what);
  }
  void note_free(const event& what, bool is_completed);

  event_ledger& ledger_;
  trace_facts& facts_;
  spool aside_;
  own_writer events_{aside_};
  live_table pending_;  ///< asked for and not completed
  std::vector<event> at_end_;
};

event snapshot_pass::event_of(const snapshot_record& entry, const pickle_code& code) {
  event what;
  what.device = static_cast<std::uint32_t>(entry.device);
  what.id = what.address = entry.address;
  what.bytes = entry.bytes;
  what.stream = entry.stream;
  if (entry.says(snapshot_word::time_us)) {
    if (entry.time_us > time_us_max) code.refuse("an event just before: a time out of range");
    what.time_ns = entry.time_us * ns_per_us;
  }
  return what;
}

void snapshot_pass::on_entry(const snapshot_record& entry, const pickle_code& code) {
  if (!entry.says(snapshot_word::action)) code.refuse("an event just before has no action");
  event what = event_of(entry, code);
  const auto note_as = [&](event_kind kind) {
    what.kind = kind;
    note(what);
  };
  switch (entry.action) {
    case snapshot_word::alloc:
      if (!entry.says(snapshot_word::address) || !entry.says(snapshot_word::size)) {
        code.refuse("an event just before has no addr or no size");
      }
      return note_as(event_kind::allocate);
    case snapshot_word::free_requested:
      return note_free(what, false);
    case snapshot_word::free_completed:
      return note_free(what, true);
    case snapshot_word::segment_alloc:
      return note_as(event_kind::segment_allocate);
    case snapshot_word::segment_free:
      return note_as(event_kind::segment_free);
    case snapshot_word::segment_map:
      return note_as(event_kind::segment_map);
    case snapshot_word::segment_unmap:
      return note_as(event_kind::segment_unmap);
    case snapshot_word::snapshot:
      what.id = what.address = what.bytes = 0;
      return note_as(event_kind::snapshot);
    case snapshot_word::oom:
      what.outcome = status::device_out_of_memory;
      what.other = entry.says(snapshot_word::device_free) ? entry.device_free : entry.address;
      what.id = what.address = 0;
      return note_as(event_kind::refusal);
    default:
      ++facts_.unknown_skipped;
  }
}

void snapshot_pass::note_free(const event& what, bool is_completed) {
  if (is_completed && pending_.take_out(what.device, what.id)) return;
  if (!is_completed) pending_.insert({what.id, what.address, what.bytes, what.stream, 0, what.device});
  event free = what;
  free.kind = event_kind::free;
  note(free);
}

void snapshot_pass::tell(const event& what) {
  if (what.kind == event_kind::allocate) {
    ledger_.add_over(what);
  } else {
    static_cast<void>(ledger_.add(what));
  }
}

void snapshot_pass::on_segment(const snapshot_record& segment, const std::vector<snapshot_record>& blocks,
                               const pickle_code& code) {
  if (!ledger_.is_surveying()) return;
  if (segment.device > UINT32_MAX) code.refuse("a segment just before: a device out of range");
  event what = event_of(segment, code);
  what.time_ns = no_time;
  what.kind = segment.is_expandable ? event_kind::segment_map : event_kind::segment_allocate;
  at_end_.push_back(what);
  // Older files have no addresses in blocks: they follow each other.
  std::uint64_t next = segment.address;
  for (const snapshot_record& block : blocks) {
    const std::uint64_t address = block.says(snapshot_word::address) ? block.address : next;
    next = address + block.bytes;
    if (block.state != snapshot_word::allocated_state) continue;
    event live = what;
    live.kind = event_kind::allocate;
    live.id = live.address = address;
    live.bytes = block.says(snapshot_word::requested_size) ? block.requested_bytes : block.bytes;
    at_end_.push_back(live);
  }
}

void snapshot_pass::parse(byte_source& from) {
  snapshot_parser(from, *this).parse();
  events_.finish();
  if (!ledger_.is_surveying()) return;
  for (const event& one : at_end_) {
    if (one.kind != event_kind::allocate || pending_.find(one.device, one.id) == nullptr) ledger_.there_at_end(one);
  }
}

void snapshot_pass::deliver() {
  const auto aside = aside_.read();
  read_put_aside(*aside, [&](const event& what) { tell(what); });
}

}  // namespace

void read_snapshot(byte_source& from, const read_options& /*options*/, event_ledger& ledger, trace_facts& facts) {
  snapshot_pass pass(ledger, facts);
  if (ledger.wants_survey()) ledger.begin_survey();
  pass.parse(from);
  ledger.begin_delivery();
  pass.deliver();
}

}  // namespace arcalloc::trace
