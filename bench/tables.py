# SPDX-License-Identifier: Apache-2.0
"""A result of compare.py as tables: what it prints, and what the page shows."""
import textwrap

import readings

HEADINGS = ("leg", "ns", "fastest", "populated", "2 threads", "x arcalloc")


class Table:
    def __init__(self, title, note, rows):
        self.title, self.note, self.rows = title, note, rows

    def as_text(self):
        widths = [max(len(row[at]) for row in self.rows) for at in range(len(self.rows[0]))]
        lines = ["  ".join(text.ljust(width) if at == 0 else text.rjust(width)
                           for at, (text, width) in enumerate(zip(row, widths))).rstrip() for row in self.rows]
        return "\n".join([*textwrap.wrap(f"{self.title}. {self.note}", 110), "", *lines, ""])

    def as_markdown(self):
        head, *body = self.rows
        return "\n".join(["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *body)]) + "\n"


def all_tables(result):
    """Those that something was measured for."""
    legs = {leg["name"]: leg for leg in result["legs"]}
    made = [times(legs, result["rounds"]), instructions(legs), driver(legs, result["provenance"]["growing_live_bytes_peak"]),
            bounded(legs, result["bounded_runs"]), scale(legs)]
    return [table for table in made if len(table.rows) > 1]


def with_spread(found, digits=1):
    if found is None:
        return "-"
    return f"{found['median']:.{digits}f} ({found['least']:.{digits}f} to {found['most']:.{digits}f})"


def times(legs, rounds):
    rows = [HEADINGS]
    for name, leg in legs.items():
        at = leg["times"]
        if at is None:
            continue
        what = "gross_ns" if name == readings.NULL else "net_ns"
        cells = [with_spread(at[column][what]) for column in ("fixed", "populated", "fixed_2_threads")]
        cells.insert(1, f"{at['fixed']['fastest_' + what]:.1f}")
        rows.append((name, *cells, with_spread(at["fixed"].get("over_arcalloc"), 2)))
    return Table("Nanoseconds per pair",
                 f"A pair is a request and its free; net of the null leg, median of {rounds} rounds (least to most). fastest: the "
                 "fastest batch of all rounds, what a busy machine disturbs least.", rows)


def instructions(legs):
    rows = [("leg", *readings.COUNTED)]
    rows += [(name, *(f"{leg['instructions_per_pair'][at]:.1f}" for at in readings.COUNTED))
             for name, leg in legs.items() if leg["instructions_per_pair"]]
    return Table("Instructions per pair",
                 "Net of the null leg, callgrind at 60 steps minus 20; growing sizes where nothing misses.", rows)


def driver(legs, live_bytes):
    rows = [("1 and 2 threads", "allocs/step", "frees/step", "peak MiB", "ns")]
    for name, leg in legs.items():
        if leg["driver"]:
            ns = [(leg["times"] or {}).get(readings.column("growing", int(threads)), {}).get("net_ns") for threads in leg["driver"]]
            rows.append((name, *per_step_cells(leg["driver"], "allocs_per_step", "frees_per_step", "peak_bytes"),
                         ", ".join(f"{one['median']:.1f}" if one else "-" for one in ns)))
    return Table("Growing sizes", f"2000 steps; what the driver is asked for. At most {live_bytes / 2**20:.2f} MiB are live.", rows)


def bounded(legs, runs):
    rows = [("1 and 2 threads", "bound on", "allocs/step", "frees/step", "peak MiB", "refused")]
    rows += [(name, leg["bound"], *per_step_cells(leg["bounded"], "allocs_per_step", "frees_per_step", "peak_bytes", "refused"))
             for name, leg in legs.items() if leg["bounded"]]
    return Table("Growing sizes, bounded",
                 f"One bound of {readings.BOUND_MIB} MiB for each thread, shared; the worst of {runs} runs.", rows)


def per_step_cells(by_threads, *whats):
    shown = {"allocs_per_step": ("{:.4f}", 1), "frees_per_step": ("{:.4f}", 1), "peak_bytes": ("{:.1f}", 2**20),
             "refused": ("{:.0f}", 1)}
    return [", ".join(shown[what][0].format(one[what] / shown[what][1]) for one in by_threads.values()) for what in whats]


def scale(legs):
    rows = [("leg", "1 stream", "1,000", "1,000 idle", "64 threads", "B/block", "B/large block", "B/stream", "B/thread",
             "device KiB/stream")]
    for name, leg in legs.items():
        at = leg["scale"]
        if at:
            rows.append((name, *(f"{at[part]['ns_per_pair']:.1f}" for part in ("one_stream", "streams", "idle_streams", "threads")),
                         *(f"{at[part]['host_bytes']:,.0f}" for part in ("blocks", "large_blocks", "streams", "threads")),
                         f"{at['streams']['device_bytes'] / 1024:,.0f}"))
    return Table("Many streams, threads and blocks",
                 "Pairs of 8 KiB, net ns of a thread: on one stream, on 1,000 in turn (another block of each out; nothing else out), "
                 "on 64 threads. Host bytes for one more: block of 512 bytes, block of 4 MiB, stream, thread.", rows)
