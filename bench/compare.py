# SPDX-License-Identifier: Apache-2.0
"""Measures arcalloc beside other allocators on the decode sequence: tables, JSON and a page. Run by tools/bench.

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
import page
import readings
import tables


def arguments():
    parser = argparse.ArgumentParser(prog="tools/bench", description="arcalloc beside other allocators, on one sequence")
    parser.add_argument("--program", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--legs", help="only these, comma-separated (null is always there)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of timing; 0: none (default 7)")
    parser.add_argument("--milliseconds", type=int, default=100, help="time for each mode of a leg in a round (default 100)")
    parser.add_argument("--bounded-runs", type=int, default=20, help="runs with a bound; 0: none (default 20)")
    parser.add_argument("--no-scale", action="store_true", help="leave out many blocks, streams and threads")
    parser.add_argument("--markdown", action="store_true", help="print the tables as docs/benchmarks.md has them")
    parser.add_argument("--no-instructions", action="store_true", help="do not count instructions")
    return parser.parse_args()


def provenance(built):
    models = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    hidden = ("--program", "--out")  # tools/bench gives these
    said = [word for before, word in zip(["", *sys.argv[1:]], sys.argv[1:]) if word not in hidden and before not in hidden]
    return {**built, "processor": models[0] if models else platform.machine(), "cores": os.cpu_count(),
            "kernel": f"{platform.system()} {platform.release()}", "load_before": os.getloadavg()[0],
            "command": " ".join(["tools/bench", *said]),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}


def chosen(found, names):
    """The legs to measure; None when a name is unknown."""
    if not names:
        return found
    wanted = names.split(",")
    unknown = sorted(set(wanted) - {leg.name for leg in found})
    if unknown:
        print(f"tools/bench: no such leg: {', '.join(unknown)}; there are: {', '.join(leg.name for leg in found)}", file=sys.stderr)
        return None
    return [leg for leg in found if leg.name in (readings.NULL, *wanted)]


def say(what):
    """Progress, on a terminal alone; the empty text takes it away."""
    if sys.stderr.isatty():
        print(f"\r\033[K{'      ' + what if what else ''}", end="", file=sys.stderr, flush=True)


def measure(given, found, built, absent):
    counts_instructions = not given.no_instructions and shutil.which("valgrind") is not None
    if not given.no_instructions and not counts_instructions:
        absent["instructions"] = "valgrind is not installed"
    made_of = provenance(built)
    times = readings.net_times(*readings.time_rounds(found, given.rounds, given.milliseconds, say)) if given.rounds else {}
    instructions = readings.count_instructions(found, say) if counts_instructions else {}
    driver = readings.ask_driver(found, say)
    bounded = readings.ask_driver_bounded(found, given.bounded_runs, say) if given.bounded_runs else {}
    scale = {} if given.no_scale else readings.measure_scale(found, say)
    return {"schema": "arcalloc.bench/1", "provenance": made_of, "rounds": given.rounds, "bounded_runs": given.bounded_runs,
            "legs": [{"name": leg.name, "what": leg.what, "bound": leg.bound, "times": times.get(leg.name),
                      "instructions_per_pair": instructions.get(leg.name), "driver": driver.get(leg.name),
                      "bounded": bounded.get(leg.name), "scale": scale.get(leg.name)} for leg in found],
            "absent": absent}


def main():
    given = arguments()
    every, built, absent = legs.all_legs(given.program)
    found = chosen(every, given.legs)
    if found is None:
        return 2
    result = measure(given, found, built, absent)
    say("")
    for table in tables.all_tables(result):
        print(table.as_markdown() if given.markdown else table.as_text())
    for name, why in result["absent"].items():
        print(f"absent: {name}: {why}")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    shown = given.out.with_suffix(".html")
    shown.write_text(page.page(result), encoding="utf-8")
    print(f"\nThe same as JSON and as a page: {given.out}, {shown}")
    return 0


try:
    sys.exit(main())
except legs.Failed as failure:
    print(f"tools/bench: {failure}", file=sys.stderr)
    sys.exit(1)
