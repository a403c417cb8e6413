# SPDX-License-Identifier: Apache-2.0
"""A result of compare.py as one page that needs nothing else: medians with their spread, and the tables."""
import html
import math

import readings
import tables

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #6a737d; --line: #d5dae0; --paper: #fff; --ours: #1967b3; --other: #a9b4c0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --faint: #98a2ad; --line: #3a424b; --paper: #14181c; --ours: #6cb2f5; --other: #5d6975; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; } p { margin: .3rem 0 .8rem; color: var(--faint); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { text-align: right; padding: .15rem .7rem; border-bottom: 1px solid var(--line); } th:first-child, td:first-child { text-align: left; }
svg { width: 100%; height: auto; font: 13px system-ui, sans-serif; } text { fill: var(--ink); } .value { fill: var(--faint); }
.ours { fill: var(--ours); } .other { fill: var(--other); } .whisker { stroke: var(--faint); stroke-width: 1.5; }
.grid { stroke: var(--line); }
"""
NAME_WIDTH, PLOT_WIDTH, VALUE_WIDTH, ROW = 150, 640, 80, 22
SMALLEST = 0.1  # what a logarithmic scale shows of anything below


def dots(caption, rows):
    """rows: [(name, value, least, most)], on one logarithmic scale of whole decades."""
    shown = [max(value, SMALLEST) for row in rows for value in row[1:]]
    first, last = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)) + 1e-9)

    def place(value):
        return NAME_WIDTH + (math.log10(max(value, SMALLEST)) - first) / (last - first) * PLOT_WIDTH

    bottom = ROW * len(rows) + 4
    out = [f'<svg viewBox="0 0 {NAME_WIDTH + PLOT_WIDTH + VALUE_WIDTH} {bottom + 20}" role="img" aria-label="{html.escape(caption)}">']
    for decade in range(first, last + 1):
        at = place(10 ** decade)
        out.append(f'<path class="grid" d="M{at:.1f} 0V{bottom}"/>'
                   f'<text class="value" x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{10 ** decade:,}</text>')
    for at, (name, value, least, most) in enumerate(rows):
        middle = ROW * at + ROW // 2
        whose = "ours" if name.startswith(readings.OURS) else "other"
        out.append(f'<text x="{NAME_WIDTH - 8}" y="{middle + 4}" text-anchor="end">{html.escape(name)}</text>'
                   f'<path class="whisker" d="M{place(least):.1f} {middle}H{place(most):.1f}"/>'
                   f'<circle class="{whose}" cx="{place(value):.1f}" cy="{middle}" r="5"/>'
                   f'<text class="value" x="{place(most) + 9:.1f}" y="{middle + 4}">{value:,.1f}</text>')
    return "".join(out) + "</svg>"


def charts(result):
    others = [leg for leg in result["legs"] if leg["name"] != readings.NULL]
    for caption, column in (("one thread, fixed sizes", "fixed"), ("one thread, a thousand other blocks", "populated"),
                            ("two threads, a stream each", "fixed_2_threads")):
        spreads = [(leg["name"], leg["times"][column]["net_ns"]) for leg in others if leg["times"]]
        if spreads:
            yield f"Net ns per pair: {caption}", dots(
                caption, [(name, one["median"], one["least"], one["most"]) for name, one in spreads])
    counted = [(leg["name"], leg["instructions_per_pair"]["fixed"]) for leg in others if leg["instructions_per_pair"]]
    if counted:
        yield "Net instructions per pair: one thread, fixed sizes", dots(
            "instructions", [(name, value, value, value) for name, value in counted])


def as_html(table):
    head, *body = table.rows
    cells = ["".join(f"<th>{html.escape(text)}</th>" for text in head)]
    cells += ["".join(f"<td>{html.escape(text)}</td>" for text in row) for row in body]
    rows = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<h2>{html.escape(table.title)}</h2><p>{html.escape(table.note)}</p><div class=wide><table>{rows}</table></div>"


def page(result):
    made_of = result["provenance"]
    parts = ["<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
             f"<title>arcalloc beside other allocators</title><style>{STYLE}</style><h1>arcalloc beside other allocators</h1>",
             "<p>" + html.escape(f"{made_of['command']}; commit {made_of['commit'][:12]} ({made_of['dirty']}), {made_of['compiler']} "
                                 f"{made_of['build_type']}; {made_of['processor']}, {made_of['cores']} cores, {made_of['kernel']}, "
                                 f"load {made_of['load_before']:.1f}; {made_of['date']}") + "</p>"]
    parts += [f"<h2>{html.escape(caption)}</h2>{drawn}" for caption, drawn in charts(result)]
    parts += [as_html(table) for table in tables.all_tables(result)]
    absent = "; ".join(f"{name}: {why}" for name, why in result["absent"].items())
    return "\n".join([*parts, f"<h2>Absent</h2><p>{html.escape(absent)}</p></html>"]) + "\n"
