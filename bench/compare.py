# SPDX-License-Identifier: Apache-2.0
"""Measures arcalloc beside other allocators on the decode sequence, and prints a table. Run by tools/bench.

Exit status: 0; 1 when a leg failed; 2 when the arguments are wrong.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import sys

import legs
import readings

HEADINGS = ("leg", "ns", "fastest", "populated", "2 threads", "x arcalloc")


def arguments():
    parser = argparse.ArgumentParser(prog="tools/bench", description="arcalloc beside other allocators, on one sequence")
    parser.add_argument("--program", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--legs", help="only these, comma-separated (null is always there)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of timing; 0: none (default 7)")
    parser.add_argument("--milliseconds", type=int, default=100, help="time for each mode of a leg in a round (default 100)")
    parser.add_argument("--bounded-runs", type=int, default=20, help="runs with a bound; 0: none (default 20)")
    parser.add_argument("--no-scale", action="store_true", help="leave out many blocks, streams and threads")
    parser.add_argument("--no-instructions", action="store_true", help="do not count instructions")
    return parser.parse_args()


def machine():
    models = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    return {"processor": models[0] if models else platform.machine(), "cores": os.cpu_count(),
            "kernel": f"{platform.system()} {platform.release()}", "load_before": os.getloadavg()[0]}


def print_table(rows):
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) if at == 0 else text.rjust(width)
                        for at, (text, width) in enumerate(zip(row, widths))).rstrip())


def with_spread(found, digits=1):
    if found is None:
        return "-"
    return f"{found['median']:.{digits}f} ({found['least']:.{digits}f} to {found['most']:.{digits}f})"


def time_rows(names, times):
    rows = [HEADINGS]
    for name in names:
        at = times.get(name, {})
        what = "gross_ns" if name == readings.NULL else "net_ns"
        cells = [with_spread(at.get(column, {}).get(what)) for column in ("fixed", "populated", "fixed_2_threads")]
        fastest = at.get("fixed", {}).get("fastest_" + what)
        cells.insert(1, "-" if fastest is None else f"{fastest:.1f}")
        cells.append(with_spread(at.get("fixed", {}).get("over_arcalloc"), 2))
        rows.append((name, *cells))
    return rows


def instruction_rows(instructions):
    return [("instructions", *readings.COUNTED),
            *((name, *(f"{counted[at]:.1f}" for at in readings.COUNTED)) for name, counted in instructions.items())]


def driver_rows(asked, times):
    rows = [("growing, 1 and 2 threads", "allocs/step", "frees/step", "peak MiB", "ns")]
    for name, by_threads in asked.items():
        ns = [times.get(name, {}).get(readings.column("growing", threads), {}).get("net_ns") for threads in by_threads]
        rows.append((name, *(", ".join(cells) for cells in (
            [f"{one['allocs_per_step']:.4f}" for one in by_threads.values()],
            [f"{one['frees_per_step']:.4f}" for one in by_threads.values()],
            [f"{one['peak_bytes'] / 2**20:.1f}" for one in by_threads.values()],
            [f"{one['median']:.1f}" if one else "-" for one in ns]))))
    return rows


def bounded_rows(bounded, kinds):
    rows = [("growing, 1 and 2 threads", "bound on", "allocs/step", "frees/step", "peak MiB", "refused")]
    for name, by_threads in bounded.items():
        rows.append((name, kinds[name], *(", ".join(text.format(one[what] / unit) for one in by_threads.values())
                                          for what, text, unit in (("allocs_per_step", "{:.4f}", 1), ("frees_per_step", "{:.4f}", 1),
                                                                   ("peak_bytes", "{:.1f}", 2**20), ("refused", "{:.0f}", 1)))))
    return rows


def scale_rows(scale):
    rows = [("scale", "1 stream", "1,000", "1,000 idle", "64 threads", "B/block", "B/large block", "B/stream", "B/thread",
             "device KiB/stream")]
    for name, at in scale.items():
        rows.append((name, *(f"{at[part]['ns_per_pair']:.1f}" for part in ("one_stream", "streams", "idle_streams", "threads")),
                     *(f"{at[part]['host_bytes']:,.0f}" for part in ("blocks", "large_blocks", "streams", "threads")),
                     f"{at['streams']['device_bytes'] / 1024:,.0f}"))
    return rows


def main():
    given = arguments()
    found, built, absent = legs.all_legs(given.program)
    if given.legs:
        wanted = given.legs.split(",")
        unknown = set(wanted) - {leg.name for leg in found}
        if unknown:
            print(f"tools/bench: no such leg: {', '.join(sorted(unknown))}; there are: "
                  f"{', '.join(leg.name for leg in found)}", file=sys.stderr)
            return 2
        found = [leg for leg in found if leg.name in (readings.NULL, *wanted)]

    def say(what):
        if sys.stderr.isatty():
            print(f"\r\033[K      {what}", end="", file=sys.stderr, flush=True)

    provenance = {**built, **machine(), "command": "tools/bench " + " ".join(sys.argv[1:]),
                  "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    live_bytes = built["growing_live_bytes_peak"]
    times = readings.net_times(*readings.time_rounds(found, given.rounds, given.milliseconds, say)) if given.rounds else {}
    counts_instructions = not given.no_instructions and shutil.which("valgrind") is not None
    if not given.no_instructions and not counts_instructions:
        absent["instructions"] = "valgrind is not installed"
    instructions = readings.count_instructions(found, say) if counts_instructions else {}
    asked = readings.ask_driver(found, say)
    bounded = readings.ask_driver_bounded(found, given.bounded_runs, say) if given.bounded_runs else {}
    scale = readings.measure_scale(found, say) if not given.no_scale else {}
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)

    print(f"A pair is a request and its free. ns: net of the null leg, median of {given.rounds} rounds (least to most).")
    print("fastest: the fastest batch of all rounds, likewise net: what a busy machine disturbs least.\n")
    print_table(time_rows([leg.name for leg in found], times))
    if instructions:
        print("\nInstructions per pair: net of the null leg, callgrind at 60 steps minus 20; growing sizes where nothing misses.\n")
        print_table(instruction_rows(instructions))
    print(f"\nMost bytes live in a growing step: {live_bytes / 2**20:.2f} MiB.\n")
    print_table(driver_rows(asked, times))
    if bounded:
        print(f"\nOne bound of {readings.BOUND_MIB} MiB for each thread; the worst of {given.bounded_runs} runs.\n")
        print_table(bounded_rows(bounded, {leg.name: leg.bound for leg in found}))
    if scale:
        print("\nOne pair of 8 KiB: net ns of a thread, on one stream, on 1,000 streams in turn (another block of each out; nothing else")
        print("out), and on 64 threads. Host bytes for one more: block of 512 bytes, of 4 MiB, stream, thread.\n")
        print_table(scale_rows(scale))
    for name, why in absent.items():
        print(f"absent: {name}: {why}")
    result = {"schema": "arcalloc.bench/1", "provenance": provenance,
              "legs": [{"name": leg.name, "what": leg.what, "times": times.get(leg.name),
                        "instructions_per_pair": instructions.get(leg.name), "driver": asked.get(leg.name),
               "bound": leg.bound, "bounded": bounded.get(leg.name), "scale": scale.get(leg.name)}
                       for leg in found],
              "absent": absent}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"\nThe same as JSON: {given.out}")
    return 0


try:
    sys.exit(main())
except legs.Failed as failure:
    print(f"tools/bench: {failure}", file=sys.stderr)
    sys.exit(1)
