# SPDX-License-Identifier: Apache-2.0
"""Writes the scenarios that are too long to be written by hand: `generate.py NAME FILE`.

The language has no loops, so that a line of a file is one call. A name ends in `_control` where the
scenario shows what the old behaviour does.
"""
import sys

KIB, MIB = 1 << 10, 1 << 20
STEPS = 2000
OLD = "option geometry=exact cached_bytes_max=unbounded oom_retry=0"


def growing(step):
    """The size of a buffer that grows with the context."""
    return 4 * MIB + step * 16 * KIB


def true_size(size):
    """What a block of that size takes: 8 size classes per doubling."""
    step = 1 << (size.bit_length() - 4)
    return -(-size // step) * step


def growth(buffers, taken):
    """Growing buffers that live together, under a bound of 256 MiB; `taken` is what the current blocks may take."""
    yield "device memory=24GiB"
    yield "option cached_bytes_max=256MiB"
    for step in range(STEPS):
        size = growing(step)
        yield from (f"alloc {buffer} {size}" for buffer in buffers)
        yield f"expect reserved_bytes <= {256 * MIB + len(buffers) * taken(size)}"
        yield from (f"free {buffer}" for buffer in buffers)
        yield "expect reserved_bytes <= 256MiB"
        yield "step"
    yield f"expect requests == {STEPS * len(buffers)}"
    yield f"expect driver_allocs <= {64 * len(buffers)}"
    yield "expect failed == 0"


def growth_control(buffers):
    """The same in a cache of exact sizes without a bound: out of memory, with nearly all of it idle."""
    yield "device memory=24GiB"
    yield OLD
    left = 24 << 30
    for step in range(STEPS):
        size = growing(step)
        if left < len(buffers) * size:
            break
        left -= len(buffers) * size
        yield from (f"alloc {buffer} {size}" for buffer in buffers)
        yield from (f"free {buffer}" for buffer in buffers)
        yield "step"
    yield f"# step {step}: {left} bytes are left"
    yield f"alloc {buffers[0]} {size} -> device_out_of_memory"
    yield f"expect cached_bytes == {(24 << 30) - left}"
    yield "expect evictions == 0"


PREFILL = (512, 384, 256)
DECODE = (8, 2, 2, 8, 22, 64)


def together(sizes):
    yield from (f"alloc B{number} {size}MiB" for number, size in enumerate(sizes))
    yield from (f"free B{number}" for number in range(len(sizes)))


def prefill():
    """What a prefill leaves goes back once, and decode steps after the first make no driver call."""
    yield "option cached_bytes_max=4GiB"
    for _ in range(8):
        yield from together(PREFILL)
    yield "expect driver_allocs == 3"
    yield "expect cached_bytes >= 1152MiB"
    yield "phase prefill"
    yield "expect reserved_bytes == 0"
    yield "expect driver_frees == 3"
    yield "phase prefill"
    yield "expect driver_frees == 3"
    yield "phase decode"
    yield "step"
    yield from together(DECODE)
    yield "step"
    yield "expect step driver_allocs >= 1"
    for _ in range(63):
        yield from together(DECODE)
        yield "step"
        yield f"expect step hits == {len(DECODE)}"
        for counter in ("driver_allocs", "driver_frees", "driver_events", "waits"):
            yield f"expect step {counter} == 0"
    yield "expect reserved_bytes <= 256MiB"


def prefill_control():
    """Without phases: what the prefill left stays through the whole decode."""
    yield OLD
    for _ in range(8):
        yield from together(PREFILL)
    for _ in range(64):
        yield from together(DECODE)
        yield "step"
    yield "expect cached_bytes >= 1152MiB"
    yield "expect driver_frees == 0"


def thrash(bound):
    """The working set of a step is 106 MiB."""
    yield f"option cached_bytes_max={bound}MiB"
    yield "phase decode"
    for _ in range(32):
        yield from together(DECODE)
        yield f"expect cached_bytes <= {bound}MiB"
        yield "step"
    yield "expect failed == 0"


def below_the_working_set():
    """Under a bound of 64 MiB it works, and says that it thrashes."""
    yield from thrash(64)
    yield "expect thrash_evictions >= 31"


def below_the_working_set_control():
    """Under a bound that holds the working set nothing thrashes."""
    yield from thrash(128)
    yield "expect thrash_evictions == 0"
    yield "expect evictions == 0"
    yield "expect step driver_allocs == 0"


def failed_captures():
    """A capture that fails leaves nothing behind, a hundred times."""
    yield "option cached_bytes_max=1GiB"
    for turn in range(100):
        yield "capture begin @s1"
        yield f"alloc A {(turn + 1) * 384 * KIB} @s1"
        yield "capture abort @s1"
        yield "expect graphs_pinned == 0"
        yield "expect pinned_bytes == 0"
        yield "free A"
        yield "drain"
        yield "expect reserved_bytes == 0"
    yield "alloc B 64MiB @s1"
    yield "expect failed == 0"


CAPTURES = 100


def capture_of(size, graph):
    """One graph of the group, with a scratch block that only a replay touches."""
    yield "capture begin @s1 pool=g"
    yield f"alloc A {size} @s1"
    yield "free A"
    yield f"capture end @s1 {graph}"


def captures(sizes, pinned_bytes_max, prewarmed=0):
    """A hundred graphs in one group, as for as many batch sizes; then each of them again, and all of them away."""
    yield "option cached_bytes_max=1GiB"
    if prewarmed:
        yield f"prewarm {prewarmed} @s1"
        yield "step"
    for number, size in enumerate(sizes):
        yield from capture_of(size, f"g{number}")
        yield f"expect pinned_bytes <= {pinned_bytes_max}"
    if prewarmed:
        yield "step"
        yield "expect step driver_allocs == 0"
        yield "expect capture_misses == 0"
    yield f"expect graphs_pinned == {len(sizes)}"
    yield "step"
    for number, size in enumerate(sizes):
        yield f"graph replay g{number} @s1"
        yield from capture_of(size, f"again{number}")
    yield "step"
    yield "expect step capture_misses == 0"
    yield "expect step driver_allocs == 0"
    yield f"expect pinned_bytes <= {pinned_bytes_max}"
    yield "drain"
    for number in range(len(sizes)):
        yield f"graph replay g{number} @s1"
        yield f"graph release g{number}"
        yield f"graph replay again{number} @s1"
        yield f"graph release again{number}"
    yield "expect graphs_pinned == 0"
    yield "expect pinned_bytes == 0"
    yield "drain"
    yield "expect reserved_bytes == 0"


ASCENDING = [(number + 1) * MIB for number in range(CAPTURES)]
# What a group costs that has its largest first: 1.13 times that.
LARGEST_AND_ROUNDING = ASCENDING[-1] * 113 // 100


def captures_descending():
    yield from captures(ASCENDING[::-1], LARGEST_AND_ROUNDING)
    yield "expect capture_misses == 1"


def captures_ascending_prewarmed():
    yield from captures(ASCENDING, LARGEST_AND_ROUNDING, ASCENDING[-1])


def captures_ascending():
    """Without the largest first: one block for each distinct class."""
    classes = {true_size(size) for size in ASCENDING}
    yield from captures(ASCENDING, sum(classes))
    yield f"expect capture_misses <= {len(classes)}"


SCENARIOS = {
    "growth": lambda: growth("A", int),
    "growth_control": lambda: growth_control("A"),
    "growth_of_two": lambda: growth("AB", true_size),
    "growth_of_two_control": lambda: growth_control("AB"),
    "prefill_leftovers": prefill,
    "prefill_leftovers_control": prefill_control,
    "below_the_working_set": below_the_working_set,
    "below_the_working_set_control": below_the_working_set_control,
    "failed_captures": failed_captures,
    "captures_descending": captures_descending,
    "captures_ascending": captures_ascending,
    "captures_ascending_prewarmed": captures_ascending_prewarmed,
}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SCENARIOS:
        sys.exit("usage: generate.py NAME FILE, with NAME one of: " + " ".join(SCENARIOS))
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.writelines(line + "\n" for line in SCENARIOS[sys.argv[1]]())


main()
