/* SPDX-License-Identifier: Apache-2.0 */
/* A decode loop over arcalloc's C interface in one page: the same loop as decode_loop.cpp. Settings come from the
 * environment where they are set. Exit status 1 when an allocation is refused or the accounting does not add up, 2 when
 * a setting is refused. */
#include <arcalloc/arcalloc.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static const size_t kib = 1024;

static void print_line(void* context, const char* line) {
  (void)context;
  puts(line);
}

static void print_diagnostic(void* context, arcalloc_severity severity, const char* line) {
  (void)context;
  fprintf(stderr, "decode_loop: %s%s\n", severity == ARCALLOC_SEVERITY_WARNING ? "warning: " : "", line);
}

/* One decode step: two passing tensors, and a cache that is one position longer than before. The old cache has to be
 * alive while the new one is filled. */
static arcalloc_status decode_step(arcalloc_allocator* memory, size_t position, arcalloc_block* cache) {
  arcalloc_block pieces[3] = {{0}};
  const size_t bytes[3] = {8 * kib, 64 * position, 64 * kib * position};
  arcalloc_status outcome = ARCALLOC_OK;
  for (int i = 0; i < 3 && outcome == ARCALLOC_OK; ++i) outcome = arcalloc_allocate(memory, bytes[i], 0, &pieces[i]);
  /* The arithmetic would be here. A zero block is no block: freeing it does nothing. */
  const arcalloc_block done[3] = {pieces[0], pieces[1], *cache};
  for (int i = 0; i < 3; ++i) {
    const arcalloc_status freed = arcalloc_deallocate(memory, done[i]);
    if (outcome == ARCALLOC_OK) outcome = freed;
  }
  *cache = pieces[2];
  return outcome;
}

static arcalloc_status decode(arcalloc_allocator* memory) {
  arcalloc_block cache = {0};
  arcalloc_status outcome = arcalloc_begin_phase(memory, ARCALLOC_PHASE_DECODE);
  for (size_t position = 1; position <= 64 && outcome == ARCALLOC_OK; ++position) {
    outcome = decode_step(memory, position, &cache);
    if (outcome == ARCALLOC_OK) outcome = arcalloc_end_step(memory);
  }
  const arcalloc_status freed = arcalloc_deallocate(memory, cache);
  return outcome == ARCALLOC_OK ? freed : outcome;
}

static bool adds_up(const arcalloc_counters* c) {
  return c->requests == c->hits + c->misses + c->bypassed + c->failed &&
         c->reserved_bytes == c->allocated_bytes + c->pending_bytes + c->cached_bytes + c->slack_bytes +
                                  c->pinned_bytes + c->stuck_bytes &&
         c->driver_allocs - c->driver_frees == c->segments_reserved;
}

int main(void) {
  arcalloc_build build = {.size = sizeof build};
  arcalloc_options options = {.size = sizeof options};
  options.stats_every_steps = 16;
  options.sink = print_line;
  if (arcalloc_built_as(&build) != ARCALLOC_OK) return 1;
  printf("arcalloc %s, commit %s (%s)\n", build.version, build.commit, build.dirty);
  if (arcalloc_options_from_environment(&options, print_diagnostic, NULL) != ARCALLOC_OK) return 2;

  arcalloc_device* device = NULL;
  arcalloc_allocator* memory = NULL;
  arcalloc_status outcome = arcalloc_host_device_create(UINT64_C(1) << 30, &device);
  if (outcome == ARCALLOC_OK) outcome = arcalloc_create(device, &options, &memory);
  if (outcome == ARCALLOC_OK) outcome = decode(memory);
  arcalloc_counters total = {.size = sizeof total};
  if (outcome == ARCALLOC_OK) outcome = arcalloc_read_counters(memory, &total);
  arcalloc_destroy(memory);
  if (arcalloc_device_destroy(device) != ARCALLOC_OK || outcome != ARCALLOC_OK) {
    fprintf(stderr, "decode_loop: %s\n", arcalloc_status_name(outcome));
    return 1;
  }

  printf("%" PRIu64 " requests, %" PRIu64 " driver allocations, %" PRIu64 " bytes reserved at most\n", total.requests,
         total.driver_allocs, total.reserved_bytes_peak);
  if (!adds_up(&total)) {
    fputs("decode_loop: the accounting does not add up\n", stderr);
    return 1;
  }
  return 0;
}
