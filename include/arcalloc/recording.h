/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCALLOC_RECORDING_H
#define ARCALLOC_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ARCALLOC_RECORDING_NOEXCEPT noexcept
extern "C" {
#else
#define ARCALLOC_RECORDING_NOEXCEPT
#endif

/* What was recorded. The numbers are those of the trace format's events (docs/trace_format.md). */
typedef enum arcalloc_recorded_kind {
  ARCALLOC_RECORDED_ALLOCATE = 0, /* id, bytes as requested; `before`: it was there when the recording began */
  ARCALLOC_RECORDED_FREE = 1,     /* id; stream: where the free is ordered */
  ARCALLOC_RECORDED_USE = 2,      /* id; stream */
  ARCALLOC_RECORDED_REFUSAL = 3,  /* bytes; stream; detail: arcalloc_status; other: the driver's free bytes, or 0 */
  ARCALLOC_RECORDED_STEP = 4,     /* a step has ended */
  ARCALLOC_RECORDED_PHASE = 5,    /* detail: arcalloc_phase */
  ARCALLOC_RECORDED_CAPTURE_BEGIN = 6,     /* stream; detail: arcalloc_capture_policy; other: pool group */
  ARCALLOC_RECORDED_CAPTURE_JOIN = 7,      /* stream joins the window of stream `other` */
  ARCALLOC_RECORDED_CAPTURE_END = 8,       /* stream; id: graph */
  ARCALLOC_RECORDED_CAPTURE_ABORT = 9,     /* stream */
  ARCALLOC_RECORDED_GRAPH_LAUNCH = 10,     /* stream; id: graph */
  ARCALLOC_RECORDED_GRAPH_FORGET = 11,     /* id: graph */
  ARCALLOC_RECORDED_STREAM_END = 12,       /* stream */
  ARCALLOC_RECORDED_TRIM = 13,             /* bytes */
  ARCALLOC_RECORDED_DRAIN = 14,            /* all idle memory goes back */
  ARCALLOC_RECORDED_SEGMENT_ALLOCATE = 15, /* id: address; bytes; stream; `before` as above */
  ARCALLOC_RECORDED_SEGMENT_FREE = 16      /* id: address; bytes */
} arcalloc_recorded_kind;

/*
 * One thing that an allocator did. Fields that a kind does not name are 0. A block's id is its address.
 * An element of an array: it does not grow.
 */
typedef struct arcalloc_recorded_event {
  uint64_t order; /* never falls; events of one number are of threads that did not touch each other's memory between */
  uint64_t time_ns; /* CLOCK_MONOTONIC; 0: the clock was not read for it, and it was soon after the one before */
  uint64_t id;
  uint64_t bytes;
  uint64_t stream;
  uint64_t other;
  uint8_t kind; /* arcalloc_recorded_kind */
  uint8_t before;
  uint8_t detail;
  uint8_t zero[5];
} arcalloc_recorded_event;

/*
 * Where events go. `write` gets them in order, one call at a time, on whichever thread had to wait for it; `flush` is
 * called now and then, when what was written should be safe; `close` once, at the end. The last two may be null. No
 * lock that a hit or a miss needs is held; none of them may call arcalloc. What `write` answers is an arcalloc_status:
 * after the first refusal it is not called again, and what would have been written is counted as lost.
 */
typedef struct arcalloc_recording_sink {
  int32_t (*write)(void* context, const arcalloc_recorded_event* events, size_t count) ARCALLOC_RECORDING_NOEXCEPT;
  int32_t (*flush)(void* context) ARCALLOC_RECORDING_NOEXCEPT;
  int32_t (*close)(void* context) ARCALLOC_RECORDING_NOEXCEPT;
  void* context;
} arcalloc_recording_sink;

/* How a recording goes, or how the last one went. */
typedef struct arcalloc_recording_state {
  uint32_t size;
  int32_t outcome;    /* arcalloc_status: what the sink said first that was not ARCALLOC_OK */
  uint64_t recording; /* 1 while it goes on */
  uint64_t events;    /* given to the sink */
  uint64_t lost;      /* not given to it: it refused, or the host had no memory for them */
} arcalloc_recording_state;

#ifdef __cplusplus
}
#endif

#endif
