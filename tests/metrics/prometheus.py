# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes two ranks, of which one thrashes: it has the series of both, the alert for thrash fires for
that one, and no other alert does.

    prometheus.py METRICS_PAGE RULES

METRICS_PAGE is examples/metrics_page.cpp built, RULES are examples/prometheus/alerts.yml, whose minutes are made seconds.
"""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 60  # seconds


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def asked(port, path, **query):
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.load(answer)["data"]


def shortened(rules):
    text, count = re.subn(r"\b\d+m\b", lambda found: found.group(0)[:-1] + "s", rules)
    if count < 4:
        sys.exit("the rules have no minutes to shorten")
    return text


def write_config(directory, rules, ranks):
    (directory / "alerts.yml").write_text(shortened(rules), encoding="utf-8")
    targets = ", ".join(f'"127.0.0.1:{port}"' for port in ranks)
    (directory / "prometheus.yml").write_text(
        "global: {scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms}\n"
        "rule_files: [alerts.yml]\n"
        f"scrape_configs: [{{job_name: engine, static_configs: [{{targets: [{targets}]}}]}}]\n", encoding="utf-8")


def watch(server, ranks):
    """Until the alert for thrash fires, and for a while after; what else was ever pending or firing is an error."""
    end, fired_at = time.monotonic() + PATIENCE, None
    while time.monotonic() < end:
        time.sleep(0.5)
        try:
            alerts = asked(server, "alerts")["alerts"]
        except (urllib.error.URLError, ConnectionError):
            continue  # it is starting
        for alert in alerts:
            labels = alert["labels"]
            if (labels["alertname"], labels.get("rank")) != ("ArcallocThrash", "0"):
                sys.exit(f"an alert that should be silent is {alert['state']}: {labels}")
            if alert["state"] == "firing":
                fired_at = fired_at or time.monotonic()
        # The alert for driver calls looks back 10 s: it has had the time to be wrong.
        if fired_at and time.monotonic() > fired_at + 12:
            break
    if not fired_at:
        sys.exit(f"the alert for thrash did not fire in {PATIENCE} s")
    for name in ("arcalloc_requests_total", "arcalloc_reserved_bytes", "arcalloc_capacity_bytes"):
        seen = {(one["metric"]["rank"], one["metric"]["instance"]) for one in asked(server, "query", query=name)["result"]}
        wanted = {(str(rank), f"127.0.0.1:{port}") for rank, port in enumerate(ranks)}
        if seen != wanted:
            sys.exit(f"{name}: has the series {sorted(seen)}, not {sorted(wanted)}")
    rate = asked(server, "query", query="rate(arcalloc_driver_allocs_total[10s]) / rate(arcalloc_steps_total[10s])")
    print({one["metric"]["rank"]: round(float(one["value"][1]), 4) for one in rate["result"]}, "driver allocations a step")


def main():
    program, rules = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
    if not shutil.which("prometheus"):
        print("skipped: prometheus is not installed")
        sys.exit(77)
    running = []
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        server, *ranks = free_ports(3)
        write_config(directory, rules, ranks)
        try:
            for rank, how in enumerate(("thrash", "steady")):
                running.append(subprocess.Popen([program, str(ranks[rank]), str(rank), how, str(2 * PATIENCE)]))
            with open(directory / "log", "w", encoding="utf-8") as log:
                running.append(subprocess.Popen(
                    ["prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/data",
                     f"--web.listen-address=127.0.0.1:{server}"], stderr=log, stdout=log))
            watch(server, ranks)
        except SystemExit:
            log = directory / "log"
            print(log.read_text(encoding="utf-8")[-2000:] if log.is_file() else "")
            raise
        finally:
            for one in running:
                one.terminate()
            for one in running:
                one.wait()


main()
