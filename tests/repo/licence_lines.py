# SPDX-License-Identifier: Apache-2.0
"""Every source file, script and build file says its licence in its first three lines."""
import tree

SUFFIXES = {*tree.CODE, ".cmake", ".py", ".rs", ".toml", ".sh", ".awk"}
NAMES = {"CMakeLists.txt", ".clang-format", ".clang-tidy"}


def needs_line(root, path):
    if path.suffix in SUFFIXES or path.name in NAMES or path.suffix == ".1":
        return True
    with open(root / path, "rb") as opened:
        return opened.read(2) == b"#!"


def main():
    given = tree.arguments()
    looked_at, findings = 0, []
    for path in tree.files(given.root):
        if not needs_line(given.root, path):
            continue
        looked_at += 1
        head = (given.root / path).read_text(encoding="utf-8").splitlines()[:3]
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in head):
            findings.append(f"{path}:1: no line `SPDX-License-Identifier: Apache-2.0`")
    if not (given.root / "LICENSE").is_file():
        findings.append("LICENSE: missing")
    tree.finish(findings, looked_at, "files with a licence line")


main()
