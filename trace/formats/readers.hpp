// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "trace/formats/byte_source.hpp"
#include "trace/formats/event_ledger.hpp"
#include "trace/formats/trace_facts.hpp"

namespace arcalloc::trace {

/// One function per format. Each reads a source from its beginning to its end and tells the ledger what is there, in a
/// survey first where the ledger wants one and the format can be gone through twice. Throws trace_error.
/// docs/trace_format.md says what each accepts and refuses.
void read_own(byte_source& from, const read_options& options, event_ledger& ledger, trace_facts& facts);
void read_csv(byte_source& from, const read_options& options, event_ledger& ledger, trace_facts& facts);
void read_lifetimes(byte_source& from, const read_options& options, event_ledger& ledger, trace_facts& facts);
void read_rmm(byte_source& from, const read_options& options, event_ledger& ledger, trace_facts& facts);
void read_profiler(byte_source& from, const read_options& options, event_ledger& ledger, trace_facts& facts);
void read_snapshot(byte_source& from, const read_options& options, event_ledger& ledger, trace_facts& facts);

/// The events of a file in the own format that somebody here has written and put aside: as they stand there, whether
/// they fit each other or not.
void read_put_aside(byte_source& from, const std::function<void(const event&)>& take);

/// Runs `pass` over the source for the survey, where one is wanted, and then for delivery.
template <class Pass>
void survey_and_deliver(byte_source& from, event_ledger& ledger, Pass pass) {
  if (ledger.wants_survey()) {
    ledger.begin_survey();
    from.rewind();
    pass();
  }
  ledger.begin_delivery();
  from.rewind();
  pass();
}

}  // namespace arcalloc::trace
