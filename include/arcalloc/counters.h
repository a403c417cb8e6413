/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCALLOC_COUNTERS_H
#define ARCALLOC_COUNTERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the bound on cached bytes came from. */
typedef enum arcalloc_cap_source {
  ARCALLOC_CAP_EXPLICIT = 0, /* set in code or on a command line */
  ARCALLOC_CAP_ENVIRONMENT,  /* ARC_ALLOC_CACHE_MAX_MB */
  ARCALLOC_CAP_DERIVED,      /* computed from the free memory of the device */
  ARCALLOC_CAP_FALLBACK,     /* the device would not say; 256 MiB */
  ARCALLOC_CAP_UNBOUNDED     /* asked for, for A/B runs */
} arcalloc_cap_source;

#define ARCALLOC_COUNTERS_VERSION 1u

/* No bound: the value of cached_bytes_max and capacity_bytes where none is set. */
#define ARCALLOC_NO_BOUND UINT64_MAX

/*
 * Every counter, cumulative or over one step window.
 *
 * At quiescence, exactly:
 *   reserved_bytes = allocated + pending + cached + slack + pinned + stuck        (I1)
 *   requests = hits + misses + bypassed + failed                                  (I3)
 *   driver_allocs - driver_frees = segments_reserved                              (I3)
 *   hits = stream_cache_hits + pool_hits + reclaim_hits + cross_stream_hits + wait_hits
 *   held_bytes = cached_bytes + slack_bytes
 * A request of zero bytes asks for nothing and is not counted. In a step window the counts are
 * differences, while bytes, peaks, bounds and gauges are those at its end.
 */
typedef struct arcalloc_counters {
  uint32_t size;    /* sizeof(arcalloc_counters) of whoever filled it */
  uint32_t version; /* ARCALLOC_COUNTERS_VERSION */

  uint64_t steps;

  /* every request ends as exactly one of hit, miss, bypassed, failed */
  uint64_t requests;
  uint64_t hits;
  uint64_t misses;
  uint64_t bypassed;
  uint64_t bypassed_disabled;
  uint64_t bypassed_phase;
  uint64_t failed;
  uint64_t failed_invalid_argument;
  uint64_t failed_request_too_large;
  uint64_t failed_capacity_exceeded;
  uint64_t failed_device_out_of_memory;
  uint64_t failed_capture_miss;
  uint64_t failed_backend_unavailable;
  uint64_t failed_backend_failed;
  uint64_t failed_shutting_down;

  /* frees taken, and frees refused at the door */
  uint64_t frees;
  uint64_t refused_unknown_pointer;
  uint64_t refused_double_free;
  uint64_t refused_invalid_argument;

  /* the rungs of the ladder */
  uint64_t stream_cache_hits;
  uint64_t pool_hits;
  uint64_t reclaim_hits;
  uint64_t cross_stream_hits;
  uint64_t evict_retries;
  uint64_t tight_blocks;
  uint64_t wait_hits;
  uint64_t drain_retries;

  /* capture windows */
  uint64_t capture_hits;
  uint64_t capture_misses;
  uint64_t capture_deferred;
  uint64_t graphs_pinned;

  /* the driver */
  uint64_t driver_allocs;
  uint64_t driver_frees;
  uint64_t driver_refusals;
  uint64_t evictions;
  uint64_t evicted_bytes;
  uint64_t waits;
  uint64_t driver_events;

  /* bytes now, and the highest ever since the peaks were last reset */
  uint64_t requested_bytes;
  uint64_t requested_bytes_peak;
  uint64_t allocated_bytes;
  uint64_t allocated_bytes_peak;
  uint64_t pending_bytes;
  uint64_t pending_bytes_peak;
  uint64_t cached_bytes;
  uint64_t cached_bytes_peak;
  uint64_t slack_bytes;
  uint64_t slack_bytes_peak;
  uint64_t pinned_bytes;
  uint64_t pinned_bytes_peak;
  uint64_t stuck_bytes;
  uint64_t stuck_bytes_peak;
  uint64_t reserved_bytes;
  uint64_t reserved_bytes_peak;
  uint64_t held_bytes;
  uint64_t held_bytes_peak;

  /* the bounds in force; ARCALLOC_NO_BOUND where there is none */
  uint64_t cached_bytes_max;
  uint64_t capacity_bytes;
  uint64_t cap_source; /* arcalloc_cap_source */

  /* gauges */
  uint64_t classes_idle; /* size classes with an idle block: the origin's "sizes held" */
  uint64_t blocks_live;
  uint64_t blocks_idle;
  uint64_t segments_reserved;
  uint64_t thrash_evictions; /* a count: segments evicted and asked for again within a few steps */
} arcalloc_counters;

#ifdef __cplusplus
}
#endif

#endif
