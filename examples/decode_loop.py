# SPDX-License-Identifier: Apache-2.0
"""A decode loop over arcalloc: prints a step report every 16 steps, and what it came to."""
import arcalloc

options = arcalloc.Options(stats_every_steps=16, sink=print)
with arcalloc.Device(1 << 30) as device, arcalloc.Allocator(device, options) as memory:
    memory.phase = "decode"
    cache = None
    for position in range(1, 65):
        scores = memory.allocate(64 * position)
        longer = memory.allocate(65536 * position)
        # ... work on the default stream that uses scores.address and longer.address ...
        scores.free()
        if cache is not None:
            cache.free()
        cache = longer
        memory.end_step()
    total = memory.counters()
    print(total["requests"], "requests,", total["driver_allocs"], "driver allocations, hit rate", total.hit_rate)
