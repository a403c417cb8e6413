// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/counters.hpp>
#include <cstdio>
#include <iterator>

namespace arcalloc {

namespace {

#define ARCALLOC_FIELD(kind, name) \
  counter_field { #name, counter_kind::kind, &counters::name }
#define ARCALLOC_BYTES(name) ARCALLOC_FIELD(gauge, name##_bytes), ARCALLOC_FIELD(gauge, name##_bytes_peak)

constexpr counter_field fields[] = {
    ARCALLOC_FIELD(count, steps),
    ARCALLOC_FIELD(count, requests),
    ARCALLOC_FIELD(count, hits),
    ARCALLOC_FIELD(count, misses),
    ARCALLOC_FIELD(count, bypassed),
    ARCALLOC_FIELD(count, bypassed_disabled),
    ARCALLOC_FIELD(count, bypassed_phase),
    ARCALLOC_FIELD(count, failed),
    ARCALLOC_FIELD(count, failed_invalid_argument),
    ARCALLOC_FIELD(count, failed_request_too_large),
    ARCALLOC_FIELD(count, failed_capacity_exceeded),
    ARCALLOC_FIELD(count, failed_device_out_of_memory),
    ARCALLOC_FIELD(count, failed_capture_miss),
    ARCALLOC_FIELD(count, failed_backend_unavailable),
    ARCALLOC_FIELD(count, failed_backend_failed),
    ARCALLOC_FIELD(count, failed_shutting_down),
    ARCALLOC_FIELD(count, frees),
    ARCALLOC_FIELD(count, refused_unknown_pointer),
    ARCALLOC_FIELD(count, refused_double_free),
    ARCALLOC_FIELD(count, refused_invalid_argument),
    ARCALLOC_FIELD(count, stream_cache_hits),
    ARCALLOC_FIELD(count, pool_hits),
    ARCALLOC_FIELD(count, reclaim_hits),
    ARCALLOC_FIELD(count, cross_stream_hits),
    ARCALLOC_FIELD(count, evict_retries),
    ARCALLOC_FIELD(count, tight_blocks),
    ARCALLOC_FIELD(count, wait_hits),
    ARCALLOC_FIELD(count, drain_retries),
    ARCALLOC_FIELD(count, capture_hits),
    ARCALLOC_FIELD(count, capture_misses),
    ARCALLOC_FIELD(count, capture_deferred),
    ARCALLOC_FIELD(gauge, graphs_pinned),
    ARCALLOC_FIELD(count, driver_allocs),
    ARCALLOC_FIELD(count, driver_frees),
    ARCALLOC_FIELD(count, driver_refusals),
    ARCALLOC_FIELD(count, evictions),
    ARCALLOC_FIELD(count, evicted_bytes),
    ARCALLOC_FIELD(count, waits),
    ARCALLOC_FIELD(count, driver_events),
    ARCALLOC_BYTES(requested),
    ARCALLOC_BYTES(allocated),
    ARCALLOC_BYTES(pending),
    ARCALLOC_BYTES(cached),
    ARCALLOC_BYTES(slack),
    ARCALLOC_BYTES(pinned),
    ARCALLOC_BYTES(stuck),
    ARCALLOC_BYTES(reserved),
    ARCALLOC_BYTES(held),
    ARCALLOC_FIELD(gauge, cached_bytes_max),
    ARCALLOC_FIELD(gauge, capacity_bytes),
    ARCALLOC_FIELD(gauge, cap_source),
    ARCALLOC_FIELD(gauge, classes_idle),
    ARCALLOC_FIELD(gauge, blocks_live),
    ARCALLOC_FIELD(gauge, blocks_idle),
    ARCALLOC_FIELD(gauge, segments_reserved),
    ARCALLOC_FIELD(count, thrash_evictions),
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
