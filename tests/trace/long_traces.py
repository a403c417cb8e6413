# SPDX-License-Identifier: Apache-2.0
"""A long trace is converted, replayed and reported in bounded memory.

    long_traces.py PROGRAM WRITER EVENTS MOST_MIB

WRITER writes a trace of EVENTS events; PROGRAM converts it, replays it and makes a page of it, each within MOST_MIB
of resident memory.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def peak_mib_of(words):
    """The command's peak resident memory in MiB; it must succeed."""
    began = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, how, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(how)
    if child.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit status {child.returncode}")
    mib = used.ru_maxrss / 1024
    print(f"{words[1]}: {mib:.0f} MiB, {time.monotonic() - began:.1f} s")
    return mib


def main():
    program, writer, events, most = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "long.arct")
        subprocess.run([writer, trace, events], check=True)
        print(f"{events} events: {os.path.getsize(trace) / 1e6:.0f} MB")
        page = str(pathlib.Path(folder) / "page.html")
        peaks = {
            "convert": peak_mib_of([program, "convert", trace, str(pathlib.Path(folder) / "long.csv"), "--to", "csv"]),
            "replay": peak_mib_of([program, "replay", trace, "--cap", "64"]),
            "report": peak_mib_of([program, "report", trace, page, "--cap", "64"]),
        }
        print(f"page: {os.path.getsize(page)} bytes")
        over = [f"{name}: {mib:.0f} MiB, more than {most:.0f}" for name, mib in peaks.items() if mib > most]
        if os.path.getsize(page) > 1_000_000:
            over.append("the page is larger than a megabyte")
    sys.exit("\n".join(over) or 0)


main()
