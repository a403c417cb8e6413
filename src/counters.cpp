// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/counters.hpp>
#include <cstdio>
#include <iterator>

namespace arcalloc {

namespace {

// The meanings are those of docs/statistics.md, to the letter.
#define ARCALLOC_FIELD(kind, name, meaning) \
  counter_field { #name, counter_kind::kind, &counters::name, meaning }
#define ARCALLOC_BYTES(name, meaning)           \
  ARCALLOC_FIELD(gauge, name##_bytes, meaning), \
      ARCALLOC_FIELD(gauge, name##_bytes_peak, "the highest of " #name "_bytes since the peaks were last reset")

constexpr counter_field fields[] = {
    ARCALLOC_FIELD(count, steps, "decode steps ended"),
    ARCALLOC_FIELD(count, requests, "calls that asked for memory"),
    ARCALLOC_FIELD(count, hits, "requests served from memory we had"),
    ARCALLOC_FIELD(count, misses, "requests that needed the driver, and got it"),
    ARCALLOC_FIELD(count, bypassed, "requests that went to the driver with the cache off"),
    ARCALLOC_FIELD(count, bypassed_disabled, "bypassed because the cache is switched off"),
    ARCALLOC_FIELD(count, bypassed_phase, "bypassed because of the prefill phase"),
    ARCALLOC_FIELD(count, failed, "requests refused"),
    ARCALLOC_FIELD(count, failed_invalid_argument, "requests refused with that status"),
    ARCALLOC_FIELD(count, failed_request_too_large, "requests refused: above 2^47 bytes"),
    ARCALLOC_FIELD(count, failed_capacity_exceeded, "requests refused: our bound on reserved"),
    ARCALLOC_FIELD(count, failed_device_out_of_memory, "requests refused: the driver had none"),
    ARCALLOC_FIELD(
        count, failed_capture_miss,
        "requests refused: in a capture window that may not ask the driver, or whose device cannot lend then"),
    ARCALLOC_FIELD(count, failed_backend_unavailable, "requests refused: no device"),
    ARCALLOC_FIELD(count, failed_backend_failed, "requests refused: another failure of the driver"),
    ARCALLOC_FIELD(count, failed_shutting_down, "requests refused: the driver is unloading"),
    ARCALLOC_FIELD(count, frees, "frees taken"),
    ARCALLOC_FIELD(count, refused_unknown_pointer, "frees refused: not a block of ours"),
    ARCALLOC_FIELD(count, refused_double_free, "frees refused: idle already"),
    ARCALLOC_FIELD(count, refused_invalid_argument, "frees refused: not the size it was requested with"),
    ARCALLOC_FIELD(count, stream_cache_hits,
                   "hits in the calling thread's cache for the stream, mostly without a lock"),
    ARCALLOC_FIELD(count, pool_hits, "hits in the pool's bin of the same stream"),
    ARCALLOC_FIELD(count, reclaim_hits, "hits in blocks that were pending and have finished"),
    ARCALLOC_FIELD(count, cross_stream_hits, "hits in an idle block of another stream whose work has finished"),
    ARCALLOC_FIELD(count, evict_retries, "requests that the driver granted once idle segments had been given back"),
    ARCALLOC_FIELD(
        count, tight_blocks,
        "blocks sized by the driver's granule instead of the class, or of steps of 2 MiB, because that did not fit"),
    ARCALLOC_FIELD(count, wait_hits, "hits after waiting for pending blocks or for another stream's work"),
    ARCALLOC_FIELD(count, drain_retries, "requests that the driver granted once everything idle had been given back"),
    ARCALLOC_FIELD(count, capture_hits,
                   "requests on a stream of a window that memory we had answered; each is on its rung too"),
    ARCALLOC_FIELD(
        count, capture_misses,
        "requests on a stream of a window that memory we had did not answer: lent beside the capture, or refused"),
    ARCALLOC_FIELD(count, capture_deferred,
                   "times that giving memory back was put off to the end of the last window: a trim, a drain, a bound "
                   "exceeded, a segment on its way"),
    ARCALLOC_FIELD(gauge, graphs_pinned, "captured graphs that are there, open windows not counted"),
    ARCALLOC_FIELD(count, driver_allocs, "driver allocations that succeeded"),
    ARCALLOC_FIELD(count, driver_frees, "driver frees that succeeded"),
    ARCALLOC_FIELD(count, driver_refusals, "driver allocations that failed"),
    ARCALLOC_FIELD(count, evictions,
                   "segments given back because a bound asked for it, or for room after a refusal by the driver"),
    ARCALLOC_FIELD(count, evicted_bytes, "bytes of the segments evicted"),
    ARCALLOC_FIELD(count, waits, "times the host waited for an event"),
    ARCALLOC_FIELD(count, driver_events, "events recorded"),
    ARCALLOC_BYTES(requested, "bytes asked for and still out"),
    ARCALLOC_BYTES(allocated, "bytes out with callers, at the blocks' true sizes"),
    ARCALLOC_BYTES(pending,
                   "bytes freed, perhaps still used by another stream; also segments on their way to the driver, "
                   "within a call or until the last capture window closes"),
    ARCALLOC_BYTES(cached, "idle bytes of wholly idle segments"),
    ARCALLOC_BYTES(slack, "unused bytes of partly used segments"),
    ARCALLOC_BYTES(pinned, "idle bytes that belong to a captured graph"),
    ARCALLOC_BYTES(stuck, "bytes of segments whose driver free failed"),
    ARCALLOC_BYTES(reserved, "all bytes we have from the driver"),
    ARCALLOC_BYTES(held, "cached + slack bytes"),
    ARCALLOC_FIELD(gauge, cached_bytes_max,
                   "bound on cached bytes; where there is none 2^64 - 1, null in JSON, +Inf in metrics"),
    ARCALLOC_FIELD(gauge, capacity_bytes,
                   "bound on reserved bytes; where there is none 2^64 - 1, null in JSON, +Inf in metrics"),
    ARCALLOC_FIELD(gauge, cap_source, "0 explicit, 1 environment, 2 derived, 3 fallback, 4 unbounded"),
    ARCALLOC_FIELD(gauge, classes_idle, "size classes with an idle block"),
    ARCALLOC_FIELD(gauge, blocks_live, "blocks out with callers"),
    ARCALLOC_FIELD(gauge, blocks_idle, "blocks that could be handed out"),
    ARCALLOC_FIELD(gauge, segments_reserved, "segments we have from the driver"),
    ARCALLOC_FIELD(count, thrash_evictions, "segments evicted and asked for again within a few steps"),
};

#undef ARCALLOC_BYTES
#undef ARCALLOC_FIELD

static_assert(std::size(fields) * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t) == sizeof(counters),
              "every counter has a row");

double mebibytes(std::uint64_t bytes) noexcept { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

}  // namespace

const counter_field* counter_fields(std::size_t& count) noexcept {
  count = std::size(fields);
  return fields;
}

const char* cap_source_name(std::uint64_t source) noexcept {
  switch (source) {
    case ARCALLOC_CAP_EXPLICIT:
      return "explicit";
    case ARCALLOC_CAP_ENVIRONMENT:
      return "environment";
    case ARCALLOC_CAP_DERIVED:
      return "derived";
    case ARCALLOC_CAP_FALLBACK:
      return "fallback";
    case ARCALLOC_CAP_UNBOUNDED:
      return "unbounded";
    default:
      return "unknown";
  }
}

counters counters_between(const counters& before, const counters& now) noexcept {
  counters window = now;
  for (const counter_field& field : fields) {
    if (field.kind == counter_kind::count) window.*field.value = now.*field.value - before.*field.value;
  }
  return window;
}

double hit_rate(const counters& c) noexcept {
  return c.requests == 0 ? 0.0 : static_cast<double>(c.hits) / static_cast<double>(c.requests);
}

std::size_t format_step_report(const counters& window, std::uint64_t steps, char* text, std::size_t capacity) noexcept {
  if (capacity == 0) return 0;
  const double per_step = steps == 0 ? 0.0 : 1.0 / static_cast<double>(steps);
  char cap[40];
  if (window.cached_bytes_max == ARCALLOC_NO_BOUND) {
    std::snprintf(cap, sizeof cap, "none");
  } else {
    std::snprintf(cap, sizeof cap, "%.1f MiB", mebibytes(window.cached_bytes_max));
  }
  const int length = std::snprintf(
      text, capacity,
      "arcalloc step %llu: allocs/step %.2f frees/step %.2f hit rate %.5f held %.1f MiB (cached %.1f / cap %s, slack "
      "%.1f) sizes %llu bypassed %llu",
      static_cast<unsigned long long>(window.steps), static_cast<double>(window.driver_allocs) * per_step,
      static_cast<double>(window.driver_frees) * per_step, hit_rate(window), mebibytes(window.held_bytes),
      mebibytes(window.cached_bytes), cap, mebibytes(window.slack_bytes),
      static_cast<unsigned long long>(window.classes_idle), static_cast<unsigned long long>(window.bypassed));
  if (length < 0) return 0;
  return static_cast<std::size_t>(length) < capacity ? static_cast<std::size_t>(length) : capacity - 1;
}

}  // namespace arcalloc
