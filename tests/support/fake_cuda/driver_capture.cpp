// SPDX-License-Identifier: Apache-2.0
// The driver's functions on captures and graphs.
#include <utility>

#include "driver_functions.hpp"

using arcalloc::sim_graph;
using arcalloc::cuda::capture_mode;
using arcalloc::cuda::capture_status;
using arcalloc::cuda::result;
using arcalloc::cuda::stream_handle;
using arcalloc::fake_cuda::call;
using arcalloc::fake_cuda::capture;
using arcalloc::fake_cuda::captured_body;
using arcalloc::fake_cuda::fake_driver;
using arcalloc::fake_cuda::graph_handle;
using arcalloc::fake_cuda::needs;
using arcalloc::fake_cuda::rule;
using arcalloc::fake_cuda::this_thread;

namespace {

/// The legacy stream may not be asked about while a stream that it is ordered with is captured.
bool is_implicit(const stream_handle& asked) {
  bool found = false;
  if (!asked.is_legacy) return found;
  fake_driver::for_each_stream(
      *asked.of, [&](const stream_handle& other) { found = found || (other.is_blocking && other.in != nullptr); });
  return found;
}

result capture_info(const char* function, stream_handle* on, capture_status* out, std::uint64_t* id) {
  return call(function, needs::context, [&](fake_driver& at) {
    const stream_handle* const known = at.stream_of(on);
    if (known == nullptr) return result::invalid_handle;
    if (is_implicit(*known) && at.holds(rule::legacy_queries_are_implicit)) return result::capture_implicit;
    *out = known->in == nullptr    ? capture_status::none
           : known->in->is_invalid ? capture_status::invalidated
                                   : capture_status::ongoing;
    if (id != nullptr && *out == capture_status::ongoing && at.holds(rule::captures_have_ids)) *id = known->in->id;
    return result::success;
  });
}

void close(fake_driver& at, capture& ending) {
  for (stream_handle* const joined : ending.streams) joined->in = nullptr;
  at.captures.erase(ending.id);
}

graph_handle* keep(fake_driver& at, std::shared_ptr<captured_body> body) {
  auto fresh = std::make_unique<graph_handle>();
  fresh->body = std::move(body);
  graph_handle* const handle = fresh.get();
  at.graphs[handle] = std::move(fresh);
  return handle;
}

result destroy(const char* function, graph_handle* graph) {
  return call(function, needs::init,
              [&](fake_driver& at) { return at.graphs.erase(graph) == 1 ? result::success : result::invalid_value; });
}

}  // namespace

extern "C" {

result cuThreadExchangeStreamCaptureMode(capture_mode* mode) {
  return call("cuThreadExchangeStreamCaptureMode", needs::init, [&](fake_driver& at) {
    const capture_mode former = this_thread().mode;
    this_thread().mode = *mode;
    if (at.holds(rule::exchange_gives_the_former_mode)) *mode = former;
    return result::success;
  });
}

result cuStreamGetCaptureInfo(stream_handle* on, capture_status* out, std::uint64_t* id) {
  return capture_info("cuStreamGetCaptureInfo", on, out, id);
}

result cuStreamGetCaptureInfo_v2(stream_handle* on, capture_status* out, std::uint64_t* id, void*, const void*,
                                 std::size_t*) {
  return capture_info("cuStreamGetCaptureInfo", on, out, id);
}

result cuStreamGetCaptureInfo_v3(stream_handle* on, capture_status* out, std::uint64_t* id, void*, const void*,
                                 const void*, std::size_t*) {
  return capture_info("cuStreamGetCaptureInfo", on, out, id);
}

result cuStreamIsCapturing(stream_handle* on, capture_status* out) {
  return capture_info("cuStreamIsCapturing", on, out, nullptr);
}

result cuStreamBeginCapture_v2(stream_handle* on, capture_mode mode) {
  return call("cuStreamBeginCapture", needs::context, [&](fake_driver& at) {
    stream_handle* const known = at.stream_of(on);
    if (known == nullptr) return result::invalid_handle;
    if (known->is_legacy && at.holds(rule::legacy_stream_is_not_captured)) return result::capture_unsupported;
    if (known->in != nullptr) return result::illegal_state;
    auto fresh = std::make_unique<capture>();
    fresh->id = ++at.last_capture;
    fresh->origin = known;
    fresh->began_on = std::this_thread::get_id();
    fresh->mode = mode;
    at.join(*known, *fresh);
    known->of->device->sim->begin_capture(known->number, std::exchange(at.next_group, 0));
    at.captures[fresh->id] = std::move(fresh);
    return result::success;
  });
}

result cuStreamEndCapture(stream_handle* on, graph_handle** out) {
  return call("cuStreamEndCapture", needs::context, [&](fake_driver& at) {
    *out = nullptr;
    stream_handle* const known = at.stream_of(on);
    if (known == nullptr || known->in == nullptr)
      return known == nullptr ? result::invalid_handle : result::illegal_state;
    capture& ending = *known->in;
    if (ending.origin != known && at.holds(rule::capture_ends_where_it_began)) return result::capture_unmatched;
    const bool is_elsewhere = ending.began_on != std::this_thread::get_id() && ending.mode != capture_mode::relaxed;
    if (is_elsewhere && at.holds(rule::capture_ends_on_its_thread)) return result::capture_wrong_thread;
    arcalloc::fake_cuda::fake_device& device = *known->of->device;
    if (ending.is_invalid && at.holds(rule::invalidated_captures_give_no_graph)) {
      device.sim->abort_capture(ending.origin->number);
      close(at, ending);
      return result::capture_invalidated;
    }
    auto body = std::make_shared<captured_body>(device, device.sim->end_capture(ending.origin->number));
    body->work = std::move(ending.work);
    *out = keep(at, std::move(body));
    close(at, ending);
    return result::success;
  });
}

result cuGraphInstantiateWithFlags(graph_handle** out, graph_handle* graph, unsigned long long) {
  return call("cuGraphInstantiate", needs::context, [&](fake_driver& at) {
    if (at.graphs.count(graph) == 0) return result::invalid_value;
    *out = keep(at, graph->body);
    return result::success;
  });
}

result cuGraphLaunch(graph_handle* graph, stream_handle* on) {
  return call("cuGraphLaunch", needs::context, [&](fake_driver& at) {
    stream_handle* const where = at.stream_of(on);
    if (where == nullptr || at.graphs.count(graph) == 0) return result::invalid_value;
    if (where->in != nullptr) return result::not_supported;  // a graph within a graph: the fake has none
    if (const result ordered = at.order_with_legacy(*where); ordered != result::success) return ordered;
    if (!at.holds(rule::launches_do_the_work)) return result::success;
    graph->body->device.sim->launch_graph(graph->body->graph, where->number);
    for (const auto& item : graph->body->work) where->work->push(item);
    return result::success;
  });
}

result cuGraphExecDestroy(graph_handle* graph) { return destroy("cuGraphExecDestroy", graph); }

result cuGraphDestroy(graph_handle* graph) { return destroy("cuGraphDestroy", graph); }

}  // extern "C"
