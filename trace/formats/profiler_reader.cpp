// SPDX-License-Identifier: Apache-2.0
// `[memory]` events of PyTorch's profiler. The file has one thread's events behind another's, so they are kept, 48
// bytes each, and put in the order of time. Older files have no addresses: a free is taken for that of the latest block
// of its size then, which keeps the sums right, and counted. What PyTorch's allocator reserved becomes segments without
// an address: one that was there before, and one more or less at every change. What was allocated before and is never
// freed has no event: one block stands for all of it, so that the sums are right.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "trace/formats/profiler_events.hpp"
#include "trace/formats/readers.hpp"

namespace arcalloc::trace {

namespace {

/// Names blocks that have no address: by number, and the latest of a size goes first.
class nameless_blocks {
 public:
  std::uint64_t begin(const profiler_event& one) {
    live_[{one.device, one.bytes}].push_back(next_);
    return next_++;
  }
  std::uint64_t end(const profiler_event& one) {
    auto& same = live_[{one.device, one.bytes}];
    // One that was there before: a name that nobody else has.
    if (same.empty()) return next_++;
    const std::uint64_t latest = same.back();
    same.pop_back();
    return latest;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint64_t>> live_;
  std::uint64_t next_ = 1;
};

class profiler_pass {
 public:
  profiler_pass(event_ledger& ledger, trace_facts& facts) : ledger_(ledger), facts_(facts) {}

  /// What each device had reserved before: what its first event says that says it.
  void begin(const std::vector<profiler_event>& events) {
    for (const profiler_event& one : events) {
      if (!one.says_reserved || !reserved_.emplace(one.device, one.reserved).second) continue;
      if (one.reserved == 0 || ledger_.is_surveying()) continue;
      event what;
      what.kind = event_kind::segment_allocate;
      what.before_recording = true;
      what.device = one.device;
      what.bytes = one.reserved;
      static_cast<void>(ledger_.add(what));
    }
  }

  void add(const profiler_event& one) {
    if (one.says_reserved && !ledger_.is_surveying()) add_reserved(one);
    if (one.bytes == 0) {
      if (!ledger_.is_surveying()) ++facts_.null_skipped;
      return;
    }
    event what;
    what.kind = one.is_free ? event_kind::free : event_kind::allocate;
    what.device = one.device;
    what.time_ns = one.time_ns;
    what.bytes = one.bytes;
    what.id = what.address = one.address;
    if (one.address == 0) {
      what.id = one.is_free ? nameless_.end(one) : nameless_.begin(one);
      if (one.is_free && !ledger_.is_surveying()) ++facts_.matched_by_size;
    }
    if (one.is_free) {
      static_cast<void>(ledger_.add(what));
    } else {
      ledger_.add_over(what);
    }
  }

 private:
  void add_reserved(const profiler_event& one) {
    const std::uint64_t before = std::exchange(reserved_[one.device], one.reserved);
    if (before == one.reserved) return;
    event what;
    what.kind = one.reserved > before ? event_kind::segment_allocate : event_kind::segment_free;
    what.device = one.device;
    what.time_ns = one.time_ns;
    what.bytes = one.reserved > before ? one.reserved - before : before - one.reserved;
    static_cast<void>(ledger_.add(what));
  }

  event_ledger& ledger_;
  trace_facts& facts_;
  nameless_blocks nameless_;
  std::map<std::uint32_t, std::uint64_t> reserved_;
};

/// The first event of a device says how much is allocated; what of that is never freed in the file.
void tell_what_has_no_event(const std::vector<profiler_event>& events, event_ledger& ledger, trace_facts& facts) {
  std::set<std::uint32_t> seen;
  for (const profiler_event& one : events) {
    if (!one.says_allocated || !seen.insert(one.device).second) continue;
    const std::uint64_t before =
        one.is_free ? one.allocated + one.bytes : one.allocated - std::min(one.allocated, one.bytes);
    const std::uint64_t named = ledger.bytes_before(one.device);
    if (before <= named || !ledger.looks_at(one.device)) continue;
    event lump;
    lump.device = one.device;
    lump.bytes = before - named;
    facts.bytes_lumped += lump.bytes;
    ledger.there_at_end(lump);
  }
}

}  // namespace

void read_profiler(byte_source& from, const read_options& /*options*/, event_ledger& ledger, trace_facts& facts) {
  profiler_events found = profiler_events_of(from);
  const auto comes_first = [](const auto& one, const auto& other) { return one.time_ns < other.time_ns; };
  // What one thread has allocated is in order already.
  if (!std::is_sorted(found.on_devices.begin(), found.on_devices.end(), comes_first)) {
    std::stable_sort(found.on_devices.begin(), found.on_devices.end(), comes_first);
  }
  const auto pass = [&] {
    profiler_pass adding(ledger, facts);
    adding.begin(found.on_devices);
    for (const profiler_event& one : found.on_devices) adding.add(one);
  };
  if (ledger.wants_survey()) {
    ledger.begin_survey();
    pass();
  }
  if (ledger.is_surveying()) tell_what_has_no_event(found.on_devices, ledger, facts);
  ledger.begin_delivery();
  facts.elsewhere_skipped += found.on_host;
  pass();
}

}  // namespace arcalloc::trace
