# SPDX-License-Identifier: Apache-2.0
"""mandoc has nothing to say about the manual pages."""
import shutil
import subprocess

import tree


def main():
    given = tree.arguments()
    program = shutil.which("mandoc")
    if program is None:
        tree.skip("mandoc is not installed")
    pages = tree.files(given.root, "man/")
    findings = []
    for page in pages:
        done = subprocess.run([program, "-T", "lint", "-W", "style", page], cwd=given.root, capture_output=True, text=True)
        # Our dates and operating system are not the BSDs'.
        findings += [line for line in done.stdout.splitlines() if "Mdocdate" not in line and "operating system" not in line]
    tree.finish(findings, len(pages), "manual pages")


main()
