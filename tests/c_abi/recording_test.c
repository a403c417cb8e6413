/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* mkstemp, fdopen */

/* Recordings: to functions of the caller's, and to a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct kept {
  unsigned kinds[32];
  unsigned flushes;
  unsigned closes;
} kept;

static int32_t keep(void* context, const arcalloc_recorded_event* events, size_t count) {
  kept* const into = context;
  for (size_t i = 0; i < count; ++i) ++into->kinds[events[i].kind];
  return ARCALLOC_OK;
}
static int32_t note_flush(void* context) {
  ++((kept*)context)->flushes;
  return ARCALLOC_OK;
}
static int32_t note_close(void* context) {
  ++((kept*)context)->closes;
  return ARCALLOC_OK;
}

static void events_come_to_the_callers_functions(void) {
  world at = open_world(NULL);
  kept into = {{0}, 0, 0};
  const arcalloc_recording_sink sink = {keep, note_flush, note_close, &into};
  CHECK_OK(arcalloc_begin_recording(at.memory, &sink));
  CHECK_REFUSED(arcalloc_begin_recording(at.memory, &sink));
  const arcalloc_block piece = must_allocate(at.memory, 100, 0);
  CHECK_OK(arcalloc_end_step(at.memory));
  CHECK_OK(arcalloc_flush_recording(at.memory));
  CHECK_EQ(1, into.kinds[ARCALLOC_RECORDED_ALLOCATE]);
  CHECK_EQ(1, into.kinds[ARCALLOC_RECORDED_STEP]);
  CHECK_EQ(1, into.flushes);
  CHECK_OK(arcalloc_deallocate(at.memory, piece));
  arcalloc_recording_state state = SIZED(arcalloc_recording_state);
  CHECK_OK(arcalloc_read_recording(at.memory, &state));
  CHECK_EQ(1, state.recording);
  CHECK_OK(arcalloc_end_recording(at.memory));
  CHECK_REFUSED(arcalloc_end_recording(at.memory));
  CHECK_EQ(1, into.kinds[ARCALLOC_RECORDED_FREE]);
  CHECK_EQ(1, into.closes);
  CHECK_OK(arcalloc_read_recording(at.memory, &state));
  CHECK_EQ(0, state.recording);
  CHECK_EQ(4, state.events); /* and a segment */
  CHECK_EQ(0, state.lost);
  close_world(&at);
}

static void options_name_a_file(void) {
  char path[] = "/tmp/arcalloc-c-abi-XXXXXX";
  const int made = mkstemp(path);
  CHECK(made >= 0);
  arcalloc_options options = SIZED(arcalloc_options);
  options.trace_path = path;
  world at = open_world(&options);
  CHECK_OK(arcalloc_deallocate(at.memory, must_allocate(at.memory, 100, 0)));
  close_world(&at);
  char magic[8] = {0};
  FILE* const file = fdopen(made, "rb");
  CHECK(file != NULL && fread(magic, 1, sizeof magic, file) == sizeof magic);
  CHECK(memcmp(magic,
               "\x89"
               "ARCT\r\n\x1a",
               sizeof magic) == 0);
  if (file != NULL) fclose(file);
  CHECK(remove(path) == 0);
}

static void what_cannot_be_is_refused(void) {
  world at = open_world(NULL);
  const arcalloc_recording_sink none = {NULL, NULL, NULL, NULL};
  CHECK_REFUSED(arcalloc_begin_recording(at.memory, &none));
  CHECK_REFUSED(arcalloc_begin_recording(at.memory, NULL));
  CHECK_REFUSED(arcalloc_begin_recording(NULL, &none));
  CHECK_REFUSED(arcalloc_record_to(at.memory, NULL));
  CHECK_REFUSED(arcalloc_record_to(NULL, "t"));
  CHECK_REFUSED(arcalloc_record_to(at.memory, "/no/such/directory/t"));
  CHECK_REFUSED(arcalloc_flush_recording(NULL));
  CHECK_REFUSED(arcalloc_end_recording(NULL));
  CHECK_REFUSED(arcalloc_end_recording(at.memory));
  arcalloc_recording_state state = SIZED(arcalloc_recording_state);
  CHECK_REFUSED(arcalloc_read_recording(NULL, &state));
  CHECK_REFUSED(arcalloc_read_recording(at.memory, NULL));
  close_world(&at);
}

void recording_cases(void) {
  events_come_to_the_callers_functions();
  options_name_a_file();
  what_cannot_be_is_refused();
}
