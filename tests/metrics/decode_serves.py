# SPDX-License-Identifier: Apache-2.0
"""`arcalloc decode --metrics PORT` serves the counters of the leg that runs, in the series of format_metrics, each of the
same type; a port that is taken is refused.

    decode_serves.py ARCALLOC METRICS_PAGE

METRICS_PAGE is examples/metrics_page.cpp built, which serves what format_metrics writes.
"""
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PATIENCE = 60  # seconds


def page_of(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, ConnectionError):
        return ""


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def types_of(page):
    return dict(re.findall(r"^# TYPE (arcalloc_\w+) (\w+)$", page, re.MULTILINE))


def types_of_format_metrics(program):
    port = free_port()
    running = subprocess.Popen([program, str(port), "0", "steady", str(PATIENCE)])
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if types := types_of(page_of(port)):
                return types
            time.sleep(0.1)
        sys.exit(f"{program}: no page in {PATIENCE} s")
    finally:
        running.terminate()
        running.wait()


def steps_in(page):
    found = re.search(r'^arcalloc_steps_total\{leg="bounded"\} (\d+)', page, re.MULTILINE)
    return int(found.group(1)) if found else 0


def watch(port, running):
    """Two pages, of which the later has more steps."""
    end, first = time.monotonic() + PATIENCE, 0
    while time.monotonic() < end:
        if running.poll() is not None:
            sys.exit(f"it ended, with status {running.returncode}: {running.stderr.read()}")
        page = page_of(port)
        if first and steps_in(page) > first:
            return page
        first = first or steps_in(page)
        time.sleep(0.2)
    sys.exit(f"no page with growing steps in {PATIENCE} s")


def main():
    program, metrics_page = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as own_lock, socket.socket() as holder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARC_")}
        environment["XDG_RUNTIME_DIR"] = own_lock
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        command = [program, "decode", "--config", "demo-3m", "--device", "host:512MiB", "--legs", "bounded", "--tokens",
                   "4000", "--metrics", str(port)]
        refused = subprocess.run(command, env=environment, capture_output=True, text=True)
        if "without prometheus-cpp" in refused.stderr:
            print("skipped: built without prometheus-cpp")
            sys.exit(77)
        if refused.returncode != 2 or f"--metrics {port}: cannot be served" not in refused.stderr:
            sys.exit(f"a port that is taken: exit status {refused.returncode}: {refused.stderr}")
        holder.close()
        running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            page = watch(port, running)
        finally:
            running.terminate()
            running.wait()
    wanted = types_of_format_metrics(metrics_page)
    if types_of(page) != wanted:
        sys.exit(f"other series than format_metrics: {sorted(set(types_of(page).items()) ^ set(wanted.items()))}")
    unlabelled = [name for name in wanted if f'\n{name}{{leg="bounded"}} ' not in page]
    if unlabelled:
        sys.exit(f"without their leg: {unlabelled}")
    print(len(wanted), "series")


main()
