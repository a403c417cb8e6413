// SPDX-License-Identifier: Apache-2.0
// Lifetimes of buffers, `id,lower,upper,size`: live from lower until just before upper, in units of time of their own,
// which become microseconds. Rows come in any order, so all of them are kept, 40 bytes each. At one moment what ends
// is freed before what begins is allocated, each in the order of the rows.
#include <algorithm>
#include <vector>

#include "trace/formats/csv_columns.hpp"
#include "trace/formats/readers.hpp"
#include "trace/formats/text_rows.hpp"

namespace arcalloc::trace {

namespace {

struct lifetime {
  std::uint64_t id = 0;
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  std::uint64_t bytes = 0;
  std::uint64_t line = 0;
};

std::vector<lifetime> rows_of(byte_source& from, std::uint64_t unit_bytes) {
  std::vector<lifetime> all;
  text_rows rows(from, lifetimes_columns);
  while (rows.next()) {
    lifetime one;
    one.line = rows.line();
    one.id = rows.number(0, "an id: a whole number");
    one.lower = rows.number(1, "a time: a whole number", time_us_max);
    one.upper = rows.number(2, "a time: a whole number", time_us_max);
    if (one.upper <= one.lower) rows.refuse("upper is not above lower");
    one.bytes = rows.number(3, "a size: a whole number that fits in 64 bits as bytes", UINT64_MAX / unit_bytes);
    one.bytes *= unit_bytes;
    all.push_back(one);
  }
  return all;
}

event event_of(const lifetime& one, event_kind kind, std::uint64_t at) {
  event what;
  what.kind = kind;
  what.time_ns = at * ns_per_us;
  what.id = one.id;
  what.bytes = one.bytes;
  return what;
}

}  // namespace

void read_lifetimes(byte_source& from, const read_options& options, event_ledger& ledger, trace_facts& /*facts*/) {
  const std::vector<lifetime> all = rows_of(from, options.unit_bytes);
  std::vector<std::size_t> begins(all.size());
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i;
  std::vector<std::size_t> ends = begins;
  std::stable_sort(begins.begin(), begins.end(), [&](auto a, auto b) { return all[a].lower < all[b].lower; });
  std::stable_sort(ends.begin(), ends.end(), [&](auto a, auto b) { return all[a].upper < all[b].upper; });
  ledger.begin_delivery();
  std::size_t ended = 0;
  const auto end_until = [&](std::uint64_t now) {
    for (; ended < ends.size() && all[ends[ended]].upper <= now; ++ended) {
      const lifetime& one = all[ends[ended]];
      static_cast<void>(ledger.add(event_of(one, event_kind::free, one.upper)));
    }
  };
  for (const std::size_t begun : begins) {
    const lifetime& one = all[begun];
    end_until(one.lower);
    if (!ledger.add(event_of(one, event_kind::allocate, one.lower))) {
      text_rows::refuse_in(from, one.line, "allocates " + std::to_string(one.id) + ", which is live");
    }
  }
  end_until(UINT64_MAX);
}

}  // namespace arcalloc::trace
