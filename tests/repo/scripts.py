# SPDX-License-Identifier: Apache-2.0
"""shellcheck has nothing to say about the shell scripts, and each stops at the first error."""
import shutil
import subprocess

import tree


def main():
    given = tree.arguments()
    scripts, findings = [], []
    for path in tree.files(given.root):
        with open(given.root / path, "rb") as opened:
            first = opened.readline()
        if first.startswith(b"#!") and b"sh" in first:
            scripts.append(path)
            if "set -euo pipefail" not in (given.root / path).read_text(encoding="utf-8"):
                findings.append(f"{path}:1: no `set -euo pipefail`")
    program = shutil.which("shellcheck")
    if program is None and not findings and scripts:
        tree.skip("shellcheck is not installed")
    if program and scripts:
        done = subprocess.run([program, "-x", "-f", "gcc", *scripts], cwd=given.root, capture_output=True, text=True)
        findings += done.stdout.splitlines() + done.stderr.splitlines()
    tree.finish(findings, len(scripts), "shell scripts")


main()
