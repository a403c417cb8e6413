# SPDX-License-Identifier: Apache-2.0
"""Takes every reading of every leg: times in interleaved rounds, instructions, what the driver was asked.

Times are net: those of the null leg in the same round are subtracted. Ratios are paired by round, so that whatever slowed
the machine for a while slowed both sides.
"""
import concurrent.futures
import os
import statistics

NULL, OURS = "null", "arcalloc"
TIMED = (("fixed", 1), ("populated", 1), ("fixed", 2), ("growing", 1), ("growing", 2))
# Column: mode, first position. From these positions on, 60 steps stay in one size class: nothing misses but the first.
COUNTED = {"fixed": ("fixed", 1), "populated": ("populated", 1), "growing from 513": ("growing", 513),
           "growing from 1025": ("growing", 1025)}
GROWING_STEPS = 2000
SCALE_PARTS = ("blocks", "large_blocks", "one_stream", "streams", "idle_streams", "threads")
SCALE_RUNS = 3
BOUND_MIB = 8  # for each thread


def column(mode, threads):
    return mode if threads == 1 else f"{mode}_{threads}_threads"


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def time_rounds(legs, rounds, milliseconds, say):
    """Gross ns per pair: {leg: {column: [the median batch, by round]}}, and the same of the fastest batch."""
    times = {leg.name: {column(*one): [] for one in TIMED} for leg in legs}
    fastest = {leg.name: {column(*one): [] for one in TIMED} for leg in legs}
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        # Each round begins with another leg, so that nobody is always first after a pause.
        for leg in legs[number % len(legs):] + legs[:number % len(legs)]:
            for mode, threads in TIMED:
                found = leg.measure(mode, "--threads", threads, "--milliseconds", milliseconds)
                times[leg.name][column(mode, threads)].append(found["ns_per_pair"])
                fastest[leg.name][column(mode, threads)].append(found["ns_per_pair_fastest"])
    return times, fastest


def net_times(times, fastest):
    """{leg: {column: {net, ratio to arcalloc}}}, each with its spread over the rounds; and of the fastest batch of all."""
    net = {name: {at: [one - null for one, null in zip(values, times[NULL][at])] for at, values in columns.items()}
           for name, columns in times.items()}
    out = {}
    for name, columns in net.items():
        out[name] = {at: {"net_ns": spread(values)} for at, values in columns.items()}
        for at, values in columns.items():
            out[name][at]["fastest_net_ns"] = min(fastest[name][at]) - min(fastest[NULL][at])
            if name not in (NULL, OURS) and OURS in net:
                out[name][at]["over_arcalloc"] = spread([one / ours for one, ours in zip(values, net[OURS][at])])
    out[NULL] = {at: {"gross_ns": spread(values), "fastest_gross_ns": min(fastest[NULL][at])}
                 for at, values in times[NULL].items()}
    return out


def count_instructions(legs, say):
    """{leg: {column: net instructions per pair}}; of the null leg gross."""
    say("instructions (callgrind)")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        gross = {(leg.name, at): workers.submit(leg.instructions_per_pair, mode, first)
                 for leg in legs for at, (mode, first) in COUNTED.items()}
        gross = {key: running.result() for key, running in gross.items()}
    return {leg.name: {at: gross[leg.name, at] - (gross[NULL, at] if leg.name != NULL else 0) for at in COUNTED}
            for leg in legs}


def per_step(found, threads):
    driver, steps = found["driver"], found["steps"] * threads
    return {"allocs_per_step": driver["allocs"] / steps, "frees_per_step": driver["frees"] / steps,
            "events_per_step": driver["events"] / steps, "peak_bytes": driver["peak_bytes"], "refused": found["refused"]}


def ask_driver(legs, say):
    """{leg: {threads: what the growing mode asks of the driver}}, per step of one thread."""
    say("driver calls, growing sizes")
    out = {}
    for leg in legs:
        if not leg.asks_driver:
            continue
        out[leg.name] = {}
        for threads in (1, 2):
            found = leg.measure("growing", "--threads", threads, "--steps", GROWING_STEPS)
            out[leg.name][str(threads)] = per_step(found, threads)
    return out


def ask_driver_bounded(legs, runs, say):
    """{leg: {threads: {what: the most of any run}}}, with one bound of 8 MiB for each thread, shared by all.

    Where the bound is on all that is had from the driver, a run that exceeds it for an instant ends the program.
    """
    out = {}
    for leg in legs:
        if leg.bound == "none":
            continue
        out[leg.name] = {}
        for threads in (1, 2):
            say(f"bounded: {leg.name}, {threads} threads, {runs} runs")
            found = [per_step(leg.measure("growing", "--threads", threads, "--steps", GROWING_STEPS,
                                          "--bound-mib", BOUND_MIB * threads), threads) for _ in range(runs)]
            out[leg.name][str(threads)] = {what: max(one[what] for one in found) for what in found[0]}
    return out


def measure_scale(legs, say):
    """{leg: {part: {what: the median of three runs}}}, ns net of the null leg; of the legs that ask a driver."""
    gross = {}
    for leg in legs:
        if leg.asks_driver or leg.name == NULL:
            say(f"scale: {leg.name}")
            gross[leg.name] = {}
            for part in SCALE_PARTS:
                runs = [leg.scale(part) for _ in range(SCALE_RUNS)]
                gross[leg.name][part] = {what: statistics.median(run[what] for run in runs) for what in runs[0]}
    return {name: {part: {**found, "ns_per_pair": found["ns_per_pair"] - gross[NULL][part]["ns_per_pair"]}
                   for part, found in parts.items()} for name, parts in gross.items() if name != NULL}
