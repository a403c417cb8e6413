// SPDX-License-Identifier: Apache-2.0
// A decode loop over arcalloc in one page: tensors of fixed sizes and one buffer that grows by concatenation, as in an
// eager engine. Prints what the build is, a step report every 16 steps, and what it came to. Exit status 1 when an
// allocation is refused or the accounting does not add up.
#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>
#include <arcalloc/settings.hpp>
#include <arcalloc/version.hpp>
#include <cinttypes>
#include <cstdio>

namespace {

constexpr std::size_t kib = 1024;

// One decode step: two passing tensors, and a cache that is one position longer than before. The old cache has to be
// alive while the new one is filled.
arcalloc::status decode_step(arcalloc::allocator& memory, std::size_t position, arcalloc::block& cache) {
  arcalloc::block hidden;
  arcalloc::block scores;
  arcalloc::block longer;
  arcalloc::status outcome = memory.allocate(8 * kib, arcalloc::default_stream, hidden);
  if (outcome == arcalloc::status::ok) outcome = memory.allocate(64 * position, arcalloc::default_stream, scores);
  if (outcome == arcalloc::status::ok) outcome = memory.allocate(64 * kib * position, arcalloc::default_stream, longer);
  // The arithmetic would be here. A null block is no block: freeing it does nothing.
  for (const arcalloc::block& done : {hidden, scores, cache}) {
    const arcalloc::status freed = memory.deallocate(done);
    if (outcome == arcalloc::status::ok) outcome = freed;
  }
  cache = longer;
  return outcome;
}

bool adds_up(const arcalloc::counters& c) {
  return c.requests == c.hits + c.misses + c.bypassed + c.failed &&
         c.reserved_bytes ==
             c.allocated_bytes + c.pending_bytes + c.cached_bytes + c.slack_bytes + c.pinned_bytes + c.stuck_bytes &&
         c.driver_allocs - c.driver_frees == c.segments_reserved;
}

}  // namespace

int main() {
  const arcalloc::build_identity build = arcalloc::built_as();
  std::printf("arcalloc %s, commit %s (%s)\n", build.version, build.commit, build.dirty);

  arcalloc::options settings;
  settings.stats_every_steps = 16;
  settings.sink.write = [](void*, const char* line) noexcept { std::puts(line); };

  arcalloc::host_backend device{std::uint64_t{1} << 30};
  arcalloc::allocator* created = nullptr;
  arcalloc::status outcome = arcalloc::allocator::create(device, settings, created);
  if (outcome != arcalloc::status::ok) {
    std::fprintf(stderr, "decode_loop: create: %s\n", arcalloc::status_name(outcome));
    return 1;
  }
  const arcalloc::allocator_ptr memory{created};

  outcome = memory->begin_phase(arcalloc::phase::decode);
  arcalloc::block cache;
  for (std::size_t position = 1; position <= 64 && outcome == arcalloc::status::ok; ++position) {
    outcome = decode_step(*memory, position, cache);
    memory->end_step();
  }
  if (outcome == arcalloc::status::ok) outcome = memory->deallocate(cache);
  if (outcome != arcalloc::status::ok) {
    std::fprintf(stderr, "decode_loop: %s\n", arcalloc::status_name(outcome));
    return 1;
  }

  arcalloc::counters total;
  memory->read_counters(total);
  std::printf("%" PRIu64 " requests, %" PRIu64 " driver allocations, %" PRIu64 " bytes reserved at most\n",
              total.requests, total.driver_allocs, total.reserved_bytes_peak);
  if (!adds_up(total) || total.reserved_bytes != device.lent_bytes()) {
    std::fputs("decode_loop: the accounting does not add up\n", stderr);
    return 1;
  }
  return 0;
}
