# SPDX-License-Identifier: Apache-2.0
"""The JSON of a short run has the keys that docs/decode.md explains, and no others."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

import tree


def explained(section):
    """The names in backticks in the first column of a section's table."""
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


def compare(what, found, documented, findings):
    findings += [f"docs/decode.md: does not explain `{name}` of {what}" for name in sorted(found - documented)]
    findings += [f"docs/decode.md: explains `{name}`, which {what} does not have" for name in sorted(documented - found)]


def main():
    given = tree.arguments("program")
    page = (given.root / "docs/decode.md").read_text(encoding="utf-8")
    of_whole, _, of_leg = page.partition("## JSON")[2].partition("## Exit status")[0].partition("A leg has:")
    findings = []
    with tempfile.TemporaryDirectory() as directory:
        written = pathlib.Path(directory) / "result.json"
        command = [given.program, "decode", "--config", "demo-3m", "--tokens", "2", "--legs", "bounded",
                   "--device", "host:256MiB", "--json", written]
        # Its own place for the device's lock: another run meanwhile is no business of this one.
        done = subprocess.run(command, env={**os.environ, "XDG_RUNTIME_DIR": directory}, capture_output=True, text=True)
        if done.returncode != 0:
            tree.finish([f"the run ended with status {done.returncode}: {done.stderr.strip()}"], 0, "keys")
        result = json.loads(written.read_text(encoding="utf-8"))
    compare("the result", set(result), explained(of_whole), findings)
    if not result["legs"]:
        findings.append("the result has no leg")
    for leg in result["legs"]:
        compare("a leg", set(leg), explained(of_leg), findings)
    tree.finish(findings, len(explained(of_whole)) + len(explained(of_leg)), "keys")


main()
