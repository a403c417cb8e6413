# SPDX-License-Identifier: Apache-2.0
"""One version: whatever else names it says what CMakeLists.txt says."""
import re

import tree

PROJECT = r"^project\(arcalloc VERSION ([\d.]+)"
# Each file, and where in it the version is.
NAMED = {
    "rust/Cargo.toml": r'^version = "(.*)"',
    "rust/Cargo.lock": r'^name = "arcalloc"\nversion = "(.*)"',
    "python/pyproject.toml": r'^version = "(.*)"',
    "python/arcalloc/__init__.py": r'^__version__ = "(.*)"',
}


def version_in(root, path, pattern):
    if not (root / path).is_file():
        return None
    found = re.search(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else None


def main():
    given = tree.arguments()
    project = version_in(given.root, "CMakeLists.txt", PROJECT)
    if project is None:
        tree.finish(["CMakeLists.txt: names no version"], 0, "versions")
    findings = []
    for path, pattern in NAMED.items():
        named = version_in(given.root, path, pattern)
        if named != project:
            findings.append(f"{path}: says {named or 'no version'}, CMakeLists.txt says {project}")
    tree.finish(findings, len(NAMED), "versions")


main()
