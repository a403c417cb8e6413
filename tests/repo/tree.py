# SPDX-License-Identifier: Apache-2.0
"""What the repository checks share: the list of files, and how a check ends.

A check is a script `NAME.py --root DIR [...]`. It prints one line per finding, `file:line: what`,
and exits 1; or `skipped: why` and exits 77; or says what it looked at and exits 0. A check that
finds nothing to look at has failed.
"""
import argparse
import pathlib
import subprocess
import sys

CODE = (".hpp", ".h", ".cpp", ".c")
SKIPPED = 77


def arguments(*extra):
    """Parses --root and the named extra options; returns them with root as a path."""
    parser = argparse.ArgumentParser()
    for name in ("root", *extra):
        parser.add_argument("--" + name, required=True)
    parsed = parser.parse_args()
    parsed.root = pathlib.Path(parsed.root).resolve()
    return parsed


def files(root, under="", suffixes=None):
    """Paths relative to root of all files that git does not ignore, sorted."""
    inside = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"], capture_output=True, text=True)
    if inside.returncode == 0 and pathlib.Path(inside.stdout.strip()).resolve() == root:
        listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
                                capture_output=True, text=True, check=True).stdout.splitlines()
        paths = [pathlib.Path(line) for line in listed if (root / line).is_file()]
    else:
        paths = [path.relative_to(root) for path in root.rglob("*") if path.is_file()]
        paths = [path for path in paths if path.parts[0] not in ("build", ".git", ".cache")]
    return sorted(path for path in paths
                  if str(path).startswith(under) and (suffixes is None or path.suffix in suffixes))


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def finish(findings, looked_at, what):
    """Ends a check: findings as they are, else the number of things looked at, which must not be 0."""
    if not findings and looked_at == 0:
        findings = ["found no " + what + " to look at"]
    for finding in findings:
        print(finding)
    if findings:
        sys.exit(1)
    print(f"{looked_at} {what}: as they should be")
