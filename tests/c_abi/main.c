/* SPDX-License-Identifier: Apache-2.0 */
/* The C ABI as a C11 program sees it. Runs every case, says each claim that does not hold, and exits 1 then. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static unsigned checked;
static unsigned failed;

void check_claim(const char* file, int line, const char* claim, bool holds) {
  ++checked;
  if (holds) return;
  ++failed;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, claim);
}

void check_number(const char* file, int line, const char* what, uint64_t expected, uint64_t found) {
  ++checked;
  if (expected == found) return;
  ++failed;
  fprintf(stderr, "%s:%d: %s is %" PRIu64 ", expected %" PRIu64 "\n", file, line, what, found, expected);
}

void check_text(const char* file, int line, const char* what, const char* expected, const char* found) {
  ++checked;
  if (strcmp(expected, found) == 0) return;
  ++failed;
  fprintf(stderr, "%s:%d: %s is \"%s\", expected \"%s\"\n", file, line, what, found, expected);
}

world open_world(const arcalloc_options* options) {
  world at = {NULL, NULL};
  CHECK_OK(arcalloc_host_device_create(UINT64_C(64) << 20, &at.device));
  CHECK_OK(arcalloc_create(at.device, options, &at.memory));
  return at;
}

void close_world(world* at) {
  arcalloc_destroy(at->memory);
  arcalloc_memory_info now = SIZED(arcalloc_memory_info);
  CHECK_OK(arcalloc_device_query_memory(at->device, &now));
  CHECK_EQ(now.total_bytes, now.free_bytes);
  CHECK_OK(arcalloc_device_destroy(at->device));
}

arcalloc_block must_allocate(arcalloc_allocator* memory, size_t bytes, arcalloc_stream stream) {
  arcalloc_block piece = {NULL, NULL};
  CHECK_OK(arcalloc_allocate(memory, bytes, stream, &piece));
  CHECK(piece.address != NULL);
  return piece;
}

arcalloc_counters counters_of(const arcalloc_allocator* memory) {
  arcalloc_counters now = SIZED(arcalloc_counters);
  CHECK_OK(arcalloc_read_counters(memory, &now));
  return now;
}

int main(void) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"identity", identity_cases},
               {"structs", struct_cases},
               {"nulls", null_cases},
               {"blocks", block_cases},
               {"bounds", bound_cases},
               {"readings", reading_cases},
               {"environment", environment_cases},
               {"devices", device_cases},
               {"captures", capture_cases},
               {"recordings", recording_cases}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const unsigned before = checked;
    cases[i].run();
    CHECK(checked > before);
    printf("%s: %u claims\n", cases[i].name, checked - before);
  }
  printf("%u claims, %u failed\n", checked, failed);
  return failed == 0 ? 0 : 1;
}
