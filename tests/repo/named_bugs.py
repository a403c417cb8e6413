# SPDX-License-Identifier: Apache-2.0
"""The bugs of tests/mutation/named_bugs.txt can be planted: each one's text before is in its file, and once."""
import sys

import tree


def main():
    given = tree.arguments()
    sys.path.insert(0, str(given.root / "tests/mutation"))
    import named_bugs

    findings, looked_at = [], 0
    for bug in named_bugs.read(given.root / "tests/mutation/named_bugs.txt"):
        looked_at += 1
        try:
            bug.apply(given.root)
        except named_bugs.Malformed as why:
            findings.append(f"tests/mutation/{why}")
    tree.finish(findings, looked_at, "named bugs")


main()
