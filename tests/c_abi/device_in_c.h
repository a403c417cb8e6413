/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCALLOC_TESTS_DEVICE_IN_C_H
#define ARCALLOC_TESTS_DEVICE_IN_C_H

#include <arcalloc/arcalloc.h>
#include <stdbool.h>

/* A device written in C: malloc's memory, events that pass when the test says so, answers that the test may bend. One
 * thread at a time. */
typedef struct device_in_c {
  uint64_t size_bytes;
  uint64_t lent_bytes;
  uint64_t allocate_calls;
  uint64_t free_calls;
  uint64_t foreign_frees;
  arcalloc_stream allocate_stream; /* of the last call */
  bool busy;                       /* events recorded from now on do not pass until a wait */
  uint64_t events;                 /* recorded so far; an event is its number */
  uint64_t events_out;             /* recorded and not dropped */
  uint64_t events_passed;          /* all up to this one have passed */
  uint64_t waits;

  /* bent answers: what the next calls say instead */
  arcalloc_status allocate_answer;
  arcalloc_status free_answer;
  arcalloc_status query_answer;
  bool lends_null;
  bool event_is_zero;
  uint64_t misaligned_bytes;
} device_in_c;

/* Its functions, complete but for what the test then takes away. */
arcalloc_backend backend_of(device_in_c* device);

#endif
