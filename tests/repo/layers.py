# SPDX-License-Identifier: Apache-2.0
"""A file of src/ includes only what src/README.md lists above it.

The list is the rows of its table, or its list items, top to bottom and left to right: each name in
backticks that is a file of src/, or a stem that stands for NAME.hpp and NAME.cpp. A backend sees the
backend contract and itself. Everything outside src/ sees include/arcalloc/ alone.
"""
import re

import code_text
import tree

BACKEND_SEES = {"arcalloc/backend.hpp", "arcalloc/status.hpp"}
OUTSIDE = ("adapters/", "decode/", "trace/", "cli/", "bench/", "examples/")


def listed_layers(root, findings):
    """The files of src/ in the order of the list, as {path below src/: place}."""
    places = {}
    for number, line in enumerate((root / "src/README.md").read_text(encoding="utf-8").splitlines(), 1):
        if not re.match(r"\s*([|\-*]|\d+\.?)\s", line):
            continue
        for name in re.findall(r"`([\w./{},]+)`", line):
            found = [name] if (root / "src" / name).is_file() else [
                name + suffix for suffix in tree.CODE if (root / "src" / (name + suffix)).is_file()]
            if not found and re.search(r"\.(hpp|cpp|h|c)$", name):
                findings.append(f"src/README.md:{number}: lists `{name}`, which does not exist")
            for path in found:
                # A file and its header, or two files of one row, need no order of their own beyond the row's.
                places.setdefault(path, len(places))
    return places


def resolve(root, path, target, quoted):
    """The included file below src/, or None when it is not a file of src/."""
    if not quoted:
        return None
    for base in (path.parent, tree.pathlib.Path("src")):
        candidate = (root / base / target).resolve()
        if candidate.is_file() and (root / "src") in candidate.parents:
            return str(candidate.relative_to(root / "src"))
    return None


def check_source(root, path, places, findings):
    below = str(path.relative_to("src"))
    text = (root / path).read_text(encoding="utf-8")
    in_backend = below.startswith("backend/")
    if not in_backend and below not in places:
        findings.append(f"{path}:1: not listed in src/README.md")
        return
    for number, target, quoted in code_text.includes(text):
        if in_backend:
            check_backend_include(root, path, number, target, quoted, findings)
            continue
        included = resolve(root, path, target, quoted)
        if quoted and included is None and target != "arcalloc_build_identity.h":
            findings.append(f"{path}:{number}: \"{target}\" is not a file of src/")
        elif included is not None and included.startswith("backend/"):
            findings.append(f"{path}:{number}: {target}: the core sees a backend only through its contract")
        elif included in places and places[included] >= places[below]:
            findings.append(f"{path}:{number}: includes {target}, which src/README.md lists below it")


def check_backend_include(root, path, number, target, quoted, findings):
    own = "arcalloc/" + path.parts[2] + "_backend.hpp"
    allowed = target in BACKEND_SEES or target == own or not target.startswith("arcalloc/")
    if quoted:
        included = resolve(root, path, target, quoted)
        allowed = included is not None and included.startswith("/".join(path.parts[1:3]) + "/")
    if not allowed:
        findings.append(f"{path}:{number}: includes {target}: a backend sees only the backend contract and itself")


def check_outsider(root, path, findings):
    for number, target, quoted in code_text.includes((root / path).read_text(encoding="utf-8")):
        inside = resolve(root, path, target, quoted)
        if inside is not None or target.startswith("src/") or (quoted and "/src/" in target):
            findings.append(f"{path}:{number}: includes {target} of src/; only <arcalloc/...> is for it")
        elif target.startswith("arcalloc/") and not (root / "include" / target).is_file():
            findings.append(f"{path}:{number}: includes {target}, which is not a public header")


def check_public(root, path, findings):
    for number, target, quoted in code_text.includes((root / path).read_text(encoding="utf-8")):
        if quoted or (target.startswith("arcalloc/") and not (root / "include" / target).is_file()):
            findings.append(f"{path}:{number}: includes {target}: public headers include public headers, in <>")


def main():
    given = tree.arguments()
    if not (given.root / "src/README.md").is_file():
        tree.finish(["src/README.md: missing, and with it the list of layers"], 0, "files of src/")
    findings = []
    places = listed_layers(given.root, findings)
    sources = tree.files(given.root, "src/", tree.CODE)
    for path in sources:
        check_source(given.root, path, places, findings)
    for path in tree.files(given.root, suffixes=tree.CODE):
        if str(path).startswith(OUTSIDE):
            check_outsider(given.root, path, findings)
        elif str(path).startswith("include/"):
            check_public(given.root, path, findings)
    tree.finish(findings, min(len(sources), len(places)), "files of src/")


main()
