# SPDX-License-Identifier: Apache-2.0
"""The code is laid out as clang-format 14 lays it out."""
import shutil
import subprocess

import tree


def main():
    given = tree.arguments()
    program = shutil.which("clang-format-14")
    if program is None:
        tree.skip("clang-format-14 is not installed")
    paths = tree.files(given.root, suffixes=tree.CODE)
    findings = []
    if paths:
        done = subprocess.run([program, "--dry-run", "-Werror", *paths], cwd=given.root, capture_output=True, text=True)
        if done.returncode != 0:
            findings = [line for line in done.stderr.splitlines() if "error:" in line]
            findings = findings or [done.stderr]
    tree.finish(findings, len(paths), "files of code")


main()
