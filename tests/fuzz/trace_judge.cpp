// SPDX-License-Identifier: Apache-2.0
#include "trace_judge.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "one_input.hpp"
#include "trace/formats/csv_writer.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/read_trace.hpp"
#include "trace/formats/snapshot_writer.hpp"
#include "trace/formats/trace_summary.hpp"

namespace arcalloc::testing {

namespace {

using trace::event;
using trace::event_kind;

/// A snapshot needs a file per device: a few are enough to see that.
constexpr std::uint32_t devices_max = 4;

class watching_sink final : public trace::trace_sink {
 public:
  void take(const event& what) override {
    require(!what.before_recording || events.empty() || events.back().before_recording, "what was there comes first");
    events.push_back(what);
    summary.take(what);
    const std::pair<std::uint32_t, std::uint64_t> name{what.device, what.id};
    if (what.kind == event_kind::allocate) {
      require(live_.emplace(name, what.bytes).second, "an allocate names what is not live");
    } else if (what.kind == event_kind::free || what.kind == event_kind::use) {
      const auto found = live_.find(name);
      require(found != live_.end(), "a free and a use name what is live");
      require(found->second == what.bytes, "a free has the bytes of its block");
      if (what.kind == event_kind::free) live_.erase(found);
    }
  }
  std::vector<event> events;
  trace::trace_summary summary;

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> live_;
};

/// True when it was read.
bool read(std::string_view bytes, const trace::read_options& options, watching_sink& sink, trace::trace_facts& facts) {
  try {
    facts = trace::read_trace(*trace::source_of("input", bytes), options, sink);
    return true;
  } catch (const trace::trace_error& refused) {
    require(refused.message.find('\n') == std::string::npos, "a refusal is one line");
    require(refused.message.find("input") != std::string::npos, "a refusal names its file");
    return false;
  }
}

template <class Writer>
std::string written(const std::vector<event>& events) {
  trace::string_sink out;
  Writer writer(out);
  for (const event& one : events) writer.take(one);
  writer.finish();
  return out.bytes();
}

template <class Writer>
void judge_writer(const watching_sink& was, const char* what) {
  watching_sink again;
  trace::trace_facts facts;
  require(read(written<Writer>(was.events), {}, again, facts), what);
  require(again.summary.blocks_hash() == was.summary.blocks_hash(), what);
}

bool is_of_one_device(const std::vector<event>& events) {
  return std::all_of(events.begin(), events.end(), [&](const event& one) { return one.device == events[0].device; });
}

/// Whether a snapshot can hold it all: blocks stand there by their places, one list of events a device, and what was
/// there before the recording in the order of its addresses.
bool fits_a_snapshot(const std::vector<event>& events) {
  return std::all_of(events.begin(), events.end(), [](const event& one) {
    if (one.device >= devices_max || one.kind >= event_kind::segment_allocate || one.before_recording) return false;
    if (one.kind != event_kind::allocate) return true;
    const bool placed = one.address == 0 || (one.address == one.id && one.address <= (std::uint64_t{1} << 47));
    return placed && one.bytes != 0 && one.bytes <= (std::uint64_t{1} << 40);
  });
}

}  // namespace

void judge_trace(std::string_view bytes, trace::trace_format format) {
  trace::read_options options;
  options.format = format;
  watching_sink from_empty;
  trace::trace_facts facts;
  options.from_empty = true;
  read(bytes, options, from_empty, facts);
  options.from_empty = false;
  watching_sink first;
  const bool was_read = read(bytes, options, first, facts);
  watching_sink second;
  trace::trace_facts same;
  require(read(bytes, options, second, same) == was_read && second.events == first.events, "two readings are one");
  if (!was_read) return;
  watching_sink own;
  trace::trace_facts own_facts;
  require(read(written<trace::own_writer>(first.events), {}, own, own_facts), "what was written is read");
  require(own.events == first.events, "the own format keeps every field");
  require(own_facts.blocks_before == facts.blocks_before && !own_facts.cut_at, "the own format is closed");
  if (!is_of_one_device(first.events)) return;
  judge_writer<trace::csv_writer>(first, "CSV keeps the life of the blocks");
  if (fits_a_snapshot(first.events)) {
    judge_writer<trace::snapshot_writer>(first, "a snapshot keeps the life of the blocks");
  }
}

}  // namespace arcalloc::testing
