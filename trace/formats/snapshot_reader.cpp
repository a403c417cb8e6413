// SPDX-License-Identifier: Apache-2.0
// PyTorch's memory snapshots. A free is where PyTorch was asked for it; that it was completed later says that other
// streams used the block, and does not concern its caller. The devices' events follow each other, since the file
// has a list per device. What is live at the end stands in the segments.
#include <vector>

#include "trace/formats/csv_columns.hpp"
#include "trace/formats/readers.hpp"
#include "trace/formats/snapshot_parser.hpp"

namespace arcalloc::trace {

namespace {

class snapshot_pass final : public snapshot_visitor {
 public:
  snapshot_pass(event_ledger& ledger, trace_facts& facts) : ledger_(ledger), facts_(facts) {}

  void on_entry(const snapshot_record& entry, const pickle_code& code) override;
  void on_segment(const snapshot_record& segment, const std::vector<snapshot_record>& blocks,
                  const pickle_code& code) override;

  /// While surveying, after the last event: what the file says is there at the end.
  void tell_the_end() const {
    for (const event& one : at_end_) {
      if (one.kind != event_kind::allocate || pending_.find(one.device, one.id) == nullptr) ledger_.there_at_end(one);
    }
  }

 private:
  [[nodiscard]] static event event_of(const snapshot_record& entry, const pickle_code& code);
  void add_free(const event& what, bool is_completed);

  event_ledger& ledger_;
  trace_facts& facts_;
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
  const auto add = [&](event_kind kind) {
    what.kind = kind;
    static_cast<void>(ledger_.add(what));
  };
  switch (entry.action) {
    case snapshot_word::alloc:
      if (!entry.says(snapshot_word::address) || !entry.says(snapshot_word::size)) {
        code.refuse("an event just before has no addr or no size");
      }
      return ledger_.add_over(what);
    case snapshot_word::free_requested:
      return add_free(what, false);
    case snapshot_word::free_completed:
      return add_free(what, true);
    case snapshot_word::segment_alloc:
      return add(event_kind::segment_allocate);
    case snapshot_word::segment_free:
      return add(event_kind::segment_free);
    case snapshot_word::segment_map:
      return add(event_kind::segment_map);
    case snapshot_word::segment_unmap:
      return add(event_kind::segment_unmap);
    case snapshot_word::snapshot:
      what.id = what.address = what.bytes = 0;
      return add(event_kind::snapshot);
    case snapshot_word::oom:
      what.outcome = status::device_out_of_memory;
      what.other = entry.says(snapshot_word::device_free) ? entry.device_free : entry.address;
      what.id = what.address = 0;
      return add(event_kind::refusal);
    default:
      if (!ledger_.is_surveying()) ++facts_.unknown_skipped;
  }
}

void snapshot_pass::add_free(const event& what, bool is_completed) {
  if (is_completed && pending_.take_out(what.device, what.id)) return;
  if (!is_completed) pending_.insert({what.id, what.address, what.bytes, what.stream, 0, what.device});
  event free = what;
  free.kind = event_kind::free;
  static_cast<void>(ledger_.add(free));
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

}  // namespace

void read_snapshot(byte_source& from, const read_options& /*options*/, event_ledger& ledger, trace_facts& facts) {
  const memo_use memo(from);
  survey_and_deliver(from, ledger, [&] {
    snapshot_pass pass(ledger, facts);
    snapshot_parser(from, memo, pass).parse();
    if (ledger.is_surveying()) pass.tell_the_end();
  });
}

}  // namespace arcalloc::trace
