// SPDX-License-Identifier: Apache-2.0
// The driver's functions on streams and events.
#include "driver_functions.hpp"

using arcalloc::event;
using arcalloc::status;
using arcalloc::stream;
using arcalloc::cuda::context_handle;
using arcalloc::cuda::event_handle;
using arcalloc::cuda::result;
using arcalloc::cuda::stream_handle;
using arcalloc::fake_cuda::call;
using arcalloc::fake_cuda::fake_driver;
using arcalloc::fake_cuda::needs;
using arcalloc::fake_cuda::result_of;
using arcalloc::fake_cuda::rule;

namespace {

arcalloc::sim_backend& device_of(const event_handle& point) { return *point.of->device->sim; }

bool is_known(fake_driver& at, event_handle* point) { return at.events.count(point) != 0; }

/// What stands in the way of a host that looks at the event.
result looked_at(fake_driver& at, const event_handle& point, const char* function) {
  if (point.captured_by != 0 && at.holds(rule::captured_events_are_not_queried)) return result::captured_event;
  return at.unsafe_call(function);
}

}  // namespace

extern "C" {

result cuStreamCreate(stream_handle** out, unsigned int flags) {
  return call("cuStreamCreate", needs::context, [&](fake_driver& at) {
    context_handle& context = *at.current();
    auto fresh = std::make_unique<stream_handle>();
    const stream number{(std::uint64_t{1} << 40) + ++at.last_stream};
    *fresh = {&context, number, flags == 0, false, nullptr, std::make_shared<arcalloc::fake_cuda::work_queue>()};
    *out = fresh.get();
    context.streams[*out] = std::move(fresh);
    return result::success;
  });
}

result cuStreamDestroy_v2(stream_handle* on) {
  return call("cuStreamDestroy", needs::context, [&](fake_driver& at) {
    stream_handle* const known = at.stream_of(on);
    if (known == nullptr || known != on) return result::invalid_handle;
    // What is enqueued there is still done, and nobody can wait for it any more.
    at.run(*known->of->device, *known->work, known->work->enqueued());
    known->of->streams.erase(known);
    return result::success;
  });
}

result cuStreamSynchronize(stream_handle* on) {
  return call("cuStreamSynchronize", needs::context, [&](fake_driver& at) {
    stream_handle* const known = at.stream_of(on);
    if (known == nullptr) return result::invalid_handle;
    if (known->in != nullptr) {
      known->in->is_invalid = true;
      return result::capture_unsupported;
    }
    const result may = at.unsafe_call("cuStreamSynchronize");
    if (may != result::success) return may;
    if (const result ordered = at.order_with_legacy(*known); ordered != result::success) return ordered;
    arcalloc::sim_backend& sim = *known->of->device->sim;
    event point = event::none;
    status outcome = sim.record_event(known->number, point);
    if (outcome != status::ok) return result_of(outcome);
    if (at.holds(rule::synchronising_waits)) outcome = sim.wait_event(point);
    sim.drop_event(point);
    if (at.holds(rule::synchronising_waits)) at.run(*known->of->device, *known->work, known->work->enqueued());
    return result_of(outcome);
  });
}

result cuEventCreate(event_handle** out, unsigned int) {
  return call("cuEventCreate", needs::context, [&](fake_driver& at) {
    auto fresh = std::make_unique<event_handle>();
    fresh->of = at.current();
    *out = fresh.get();
    at.events[*out] = std::move(fresh);
    return result::success;
  });
}

result cuEventDestroy_v2(event_handle* point) {
  return call("cuEventDestroy", needs::context, [&](fake_driver& at) {
    if (!is_known(at, point)) return result::invalid_handle;
    if (point->point != event::none) {
      if (!at.holds(rule::destroying_an_event_does_not_wait)) (void)device_of(*point).wait_event(point->point);
      device_of(*point).drop_event(point->point);
    }
    at.events.erase(point);
    return result::success;
  });
}

result cuEventRecord(event_handle* point, stream_handle* on) {
  return call("cuEventRecord", needs::context, [&](fake_driver& at) {
    stream_handle* const where = at.stream_of(on);
    if (where == nullptr || !is_known(at, point)) return result::invalid_handle;
    if (const result ordered = at.order_with_legacy(*where); ordered != result::success) return ordered;
    if (where->in != nullptr) {
      if (where->in->is_invalid) return result::capture_invalidated;
      point->on = where;
      point->captured_by = where->in->id;
      return result::success;
    }
    if (point->point != event::none && !at.holds(rule::recording_overwrites)) return result::success;
    event fresh = event::none;
    const status recorded = device_of(*point).record_event(where->number, fresh);
    if (recorded != status::ok) return result_of(recorded);
    if (point->point != event::none) device_of(*point).drop_event(point->point);
    point->point = fresh;
    point->on = where;
    point->captured_by = 0;
    point->work = where->work;
    point->position = where->work->enqueued();
    return result::success;
  });
}

result cuEventQuery(event_handle* point) {
  return call("cuEventQuery", needs::context, [&](fake_driver& at) {
    if (!is_known(at, point)) return result::invalid_handle;
    if (const result may = looked_at(at, *point, "cuEventQuery"); may != result::success) return may;
    if (point->point == event::none) {
      return at.holds(rule::unrecorded_events_have_passed) ? result::success : result::not_ready;
    }
    bool finished = false;
    const status asked = device_of(*point).query_event(point->point, finished);
    if (asked != status::ok) return result_of(asked);
    if (finished) at.run(*point->of->device, *point->work, point->position);
    return finished || !at.holds(rule::query_tells_unfinished_work) ? result::success : result::not_ready;
  });
}

result cuEventSynchronize(event_handle* point) {
  return call("cuEventSynchronize", needs::context, [&](fake_driver& at) {
    if (!is_known(at, point)) return result::invalid_handle;
    if (const result may = looked_at(at, *point, "cuEventSynchronize"); may != result::success) return may;
    if (point->point == event::none || !at.holds(rule::synchronising_waits)) return result::success;
    const status waited = device_of(*point).wait_event(point->point);
    if (waited == status::ok) at.run(*point->of->device, *point->work, point->position);
    return result_of(waited);
  });
}

result cuStreamWaitEvent(stream_handle* on, event_handle* after, unsigned int) {
  return call("cuStreamWaitEvent", needs::context, [&](fake_driver& at) {
    stream_handle* const later = at.stream_of(on);
    if (later == nullptr || !is_known(at, after)) return result::invalid_handle;
    if (after->on == nullptr) return result::success;
    const bool is_captured = after->captured_by != 0;
    // Of a capture that is over: the event means nothing any more.
    if (is_captured && (after->on->in == nullptr || after->on->in->id != after->captured_by)) {
      return result::captured_event;
    }
    return at.make_wait(*later, *after->on, is_captured);
  });
}

}  // extern "C"
